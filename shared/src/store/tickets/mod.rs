//! A ticket's record and its derived item: the entry in the list of its lead. Its files are separate records.
//!
//! A file's record contains the lead of its ticket, because the files of a lead are one list. Invariant: a file is
//! written on condition that its ticket has that lead, or in the transaction that changes the ticket's lead. So after
//! the change no file can be written with the former lead. Files that still have it are moved with the ticket (see
//! [`reassign`]) or after it (see [`settle`]).

mod files;
mod list;
mod reassign;
mod settle;

use std::collections::BTreeSet;

use super::Reader;
use super::derived::Derived;
use super::entity::{Entity, Stored};
use super::key::{Key, Keys};
use crate::ids::{LeadId, TicketId};
use crate::ticket::Ticket;
use table::Condition;
use table::StoreError;
use table::item::{self, Item, n, s};

pub use files::{FileRecord, FileState};
pub use list::{FilesOf, TicketFiles};
pub use reassign::{PrefetchedReassignment, Reassigned};

const KIND: &str = "ticket";
/// Attribute with the ticket as JSON, in record and entry. JSON text keeps imported fields unchanged.
const TEXT: &str = "ticket";
/// The ticket's lead as an attribute, so that conditions can refer to it.
const LEAD: &str = "lead";
/// Mark of a ticket whose files may still have its former lead.
const UNSETTLED: &str = "unsettled";
/// Attribute with the number of writes of the ticket's files.
const FILES: &str = "files";
/// Maximum files in a hint.
const MAX_HINTED: usize = 16;

/// A ticket, and whether its files have its lead.
#[derive(Debug, Clone, PartialEq)]
pub struct TicketState {
    /// The ticket.
    pub ticket: Ticket,
    /// Whether files of the ticket may still have its former lead.
    pub unsettled: bool,
    /// Number of writes of its files. A write of the ticket may reset it to the number that was read, but increments
    /// the version. So version and number together show whether a file was written after both were read.
    pub files: u64,
}

/// A ticket as it is stored.
pub type TicketRecord = Stored<TicketState>;

/// A ticket as this process last saw it: a hint for the prefetch of later requests.
#[derive(Debug, Clone)]
pub struct TicketHint {
    /// The ticket's lead.
    pub lead: Option<LeadId>,
    /// Its [`writes`](TicketRecord::writes).
    writes: (u64, u64),
    /// The keys of its files' records; empty for a ticket with more than [`MAX_HINTED`].
    files: BTreeSet<Key>,
}

impl TicketHint {
    fn of(record: &TicketRecord, files: BTreeSet<Key>) -> Self {
        let are_few = files.len() <= MAX_HINTED;
        Self {
            lead: record.ticket.lead_relation,
            writes: record.writes(),
            files: files.into_iter().filter(|_| are_few).collect(),
        }
    }
}

impl TicketRecord {
    /// The version, and the number of writes of its files. Two values are equal only if neither the ticket nor one of
    /// its files was written in between.
    fn writes(&self) -> (u64, u64) {
        (self.version, self.files)
    }

    /// The record of an imported ticket: the first version, or the next version of `stored`.
    #[must_use]
    pub fn onto(stored: Option<&Self>, ticket: Ticket) -> Self {
        // Files that have the former lead are moved after the import of the ticket.
        let unsettled = stored
            .is_some_and(|stored| stored.unsettled || stored.ticket.lead_relation != ticket.lead_relation);
        let files = stored.map_or(0, |stored| stored.files);
        let state = TicketState {
            ticket,
            unsettled,
            files,
        };
        Self::imported(stored, state)
    }
}

impl Reader {
    /// A ticket's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn ticket(&self, id: TicketId) -> Result<Option<TicketRecord>, StoreError> {
        let item = self.table.get(&self.keys().ticket(id)).await?;
        item.map(Stored::decode).transpose()
    }
}

impl Entity for TicketState {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.ticket(self.ticket.id)
    }

    fn encode(&self) -> Result<Item, StoreError> {
        let mut item = Item::from([
            ("id".to_owned(), n(self.ticket.id)),
            (TEXT.to_owned(), s(text(&self.ticket))),
        ]);
        if let Some(lead) = self.ticket.lead_relation {
            item.insert(LEAD.to_owned(), n(lead));
        }
        if self.unsettled {
            item.insert(UNSETTLED.to_owned(), n(1));
        }
        if self.files > 0 {
            item.insert(FILES.to_owned(), n(self.files));
        }
        Ok(item)
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        Ok(Self {
            ticket: read(item)?,
            unsettled: item.contains_key(UNSETTLED),
            files: item::number(KIND, item, FILES)?,
        })
    }

    fn derived(record: &Stored<Self>, item: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let ticket = &record.ticket;
        let mut derived = Derived::default();
        if let Some(lead) = ticket.lead_relation {
            let entry = item::part(item, TEXT);
            let key = keys.lead_ticket(lead, ticket.create_date, ticket.id);
            derived.items.insert(key, entry);
        }
        Ok(derived)
    }
}

/// The condition that a ticket exists and has this lead, or no lead for `None`.
pub fn has_lead(ticket: TicketId, lead: Option<LeadId>) -> Condition {
    let mut has = Item::from([("id".to_owned(), n(ticket))]);
    has.extend(lead.map(|lead| (LEAD.to_owned(), n(lead))));
    let lacks = if lead.is_none() { vec![LEAD] } else { Vec::new() };
    Condition::Exactly { has, lacks }
}

fn text(ticket: &Ticket) -> String {
    serde_json::Value::Object(ticket.sparse()).to_string()
}

/// Decodes the ticket of a record or an entry.
fn read(item: &Item) -> Result<Ticket, StoreError> {
    item::need_json(KIND, item, TEXT)
}

#[cfg(test)]
mod tests;
