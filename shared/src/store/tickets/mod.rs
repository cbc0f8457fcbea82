//! A ticket's record, and what is derived from it: its entry in the list of its lead. Its files are records of their own.
//!
//! A file's record holds the lead of its ticket, because the files of a lead are one list. What must stay true: a file is
//! written on condition that its ticket has that lead. So once a ticket has another lead, no file can come to have the
//! former one, and those that have it are moved behind the ticket (see [`settle`]).

mod files;
mod list;
mod pages;
mod settle;

use super::Reader;
use super::derived::Derived;
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::Keys;
use super::transaction::{Condition, Transaction};
use super::unknown::Raw;
use crate::id::{LeadId, TicketId};
use crate::ticket::Ticket;

pub use files::{FileRecord, decode_file, derived_of_file, encode_file};
pub use list::TicketFiles;
pub use pages::{ListRequest, ListStart};

const KIND: &str = "ticket";
/// Record and entry hold the ticket as text, so that what is carried as it came stays so.
const TEXT: &str = "ticket";
/// The ticket's lead, beside the text, so that a condition can speak of it.
const LEAD: &str = "lead";
/// That files may still have the lead that the ticket had before.
const UNSETTLED: &str = "unsettled";

/// A ticket as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct TicketRecord {
    /// The ticket.
    pub ticket: Ticket,
    /// Rises with every write of the record.
    pub version: u64,
    /// Files of it may still have the lead that it had before.
    pub unsettled: bool,
    pub(super) raw: Raw,
}

impl TicketRecord {
    /// A new ticket's record, or the one that comes in the place of what is stored.
    #[must_use]
    pub fn onto(stored: Option<&Self>, ticket: Ticket) -> Self {
        let moves = |stored: &Self| stored.unsettled || stored.ticket.lead_relation != ticket.lead_relation;
        Self {
            version: stored.map_or(1, |stored| stored.version + 1),
            unsettled: stored.is_some_and(moves),
            raw: stored.map(|stored| stored.raw.clone()).unwrap_or_default(),
            ticket,
        }
    }
}

impl Reader {
    /// A ticket's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn ticket(&self, id: TicketId) -> Result<Option<TicketRecord>, StoreError> {
        let item = self.table.get(&self.keys().ticket(id)).await?;
        item.as_ref().map(decode).transpose()
    }

    /// Puts a record in the place of what is stored, or where nothing is, and changes what is derived, on condition that
    /// it still is so.
    pub(super) fn put_ticket(&self, stored: Option<&TicketRecord>, record: &TicketRecord) -> Transaction {
        let keys = self.keys();
        let condition = stored.map_or(Condition::Absent, |stored| Condition::Version(stored.version));
        let mut transaction = Transaction::default();
        transaction.put(keys.ticket(record.ticket.id), encode(record), condition);
        let old = stored.map(|stored| derived(keys, stored));
        Derived::change(&mut transaction, &old.unwrap_or_default(), derived(keys, record));
        transaction
    }
}

/// The record of a ticket as an item.
pub fn encode(record: &TicketRecord) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode_known(raw).ok()?));
    record.raw.carry(encode_known(record), recode)
}

fn encode_known(record: &TicketRecord) -> Item {
    let mut item = Item::from([
        ("id".to_owned(), n(record.ticket.id)),
        (TEXT.to_owned(), s(text(&record.ticket))),
        ("v".to_owned(), n(record.version)),
    ]);
    if let Some(lead) = record.ticket.lead_relation {
        item.insert(LEAD.to_owned(), n(lead));
    }
    if record.unsettled {
        item.insert(UNSETTLED.to_owned(), n(1));
    }
    item
}

/// The record that an item holds.
pub fn decode(item: &Item) -> Result<TicketRecord, StoreError> {
    let raw = Raw::of(item);
    Ok(TicketRecord {
        raw,
        ..decode_known(item)?
    })
}

fn decode_known(item: &Item) -> Result<TicketRecord, StoreError> {
    Ok(TicketRecord {
        ticket: read(item)?,
        version: item::number(KIND, item, "v")?,
        unsettled: item.contains_key(UNSETTLED),
        raw: Raw::default(),
    })
}

/// That a ticket is there and has this lead, or none.
pub fn has_lead(ticket: TicketId, lead: Option<LeadId>) -> Condition {
    let mut has = Item::from([("id".to_owned(), n(ticket))]);
    has.extend(lead.map(|lead| (LEAD.to_owned(), n(lead))));
    let lacks = if lead.is_none() { vec![LEAD] } else { Vec::new() };
    Condition::Exactly { has, lacks }
}

fn text(ticket: &Ticket) -> String {
    serde_json::Value::Object(ticket.sparse()).to_string()
}

/// The ticket that a record or an entry holds.
fn read(item: &Item) -> Result<Ticket, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))
}

/// Everything that is derived from a ticket: a pure function of its record.
pub fn derived(keys: Keys<'_>, record: &TicketRecord) -> Derived {
    let ticket = &record.ticket;
    let mut derived = Derived::default();
    if let Some(lead) = ticket.lead_relation {
        let entry = item::part(&encode(record), TEXT);
        let key = keys.lead_ticket(lead, ticket.create_date, ticket.id);
        derived.items.insert(key, entry);
    }
    derived
}

#[cfg(test)]
mod tests;
