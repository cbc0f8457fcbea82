//! A file's record and its derived items: copies in the list of its ticket and in the list of the ticket's lead.

use super::{FILES, has_lead};
use crate::ids::LeadId;
use crate::store::Reader;
use crate::store::derived::Derived;
use crate::store::entity::{Entity, Stored};
use crate::store::key::{Key, Keys};
use crate::ticket::TicketFile;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{Condition, Transaction};

const KIND: &str = "file";
/// Attribute with the file as JSON, in the record and its copies.
const TEXT: &str = "file";
const LEAD: &str = "lead";

/// A file with the lead of its ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// The file.
    pub file: TicketFile,
    /// The lead of its ticket.
    pub lead: Option<LeadId>,
}

/// A file as it is stored.
pub type FileRecord = Stored<FileState>;

impl Reader {
    /// Returns the writes that replace a file's record, or add it if there is none, with its derived items. The
    /// conditions are that the stored version is unchanged, that the ticket has the lead `ticket_lead`, and that the
    /// lead of the record exists (C-24). The ticket counts the write.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if it cannot be encoded.
    pub fn put_file(
        &self,
        stored: Option<&FileRecord>,
        record: &FileRecord,
        ticket_lead: Option<LeadId>,
    ) -> Result<Transaction, StoreError> {
        let (keys, file) = (self.keys(), &record.file);
        let mut transaction = record.put(keys, stored)?;
        let unmoved = has_lead(file.ticket, ticket_lead);
        transaction.update(keys.ticket(file.ticket), FILES, 1, Item::new(), unmoved);
        if let Some(lead) = record.lead {
            transaction.check(keys.lead(lead), Condition::Present);
        }
        Ok(transaction)
    }
}

impl Entity for FileState {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.file(&self.file.name())
    }

    fn encode(&self) -> Result<Item, StoreError> {
        let text = serde_json::Value::Object(self.file.sparse()).to_string();
        let mut item = Item::from([(TEXT.to_owned(), s(text))]);
        item.extend(self.lead.map(|lead| (LEAD.to_owned(), n(lead))));
        Ok(item)
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        let lead = item.contains_key(LEAD).then(|| {
            let lead = LeadId::new(item::number(KIND, item, LEAD)?);
            lead.ok_or_else(|| item::corrupt(KIND, "its lead is no id"))
        });
        Ok(Self {
            file: read_file(item)?,
            lead: lead.transpose()?,
        })
    }

    fn derived(record: &Stored<Self>, item: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let (ticket, name) = (record.file.ticket, record.file.name());
        let copy = item::part(item, TEXT);
        let mut derived = Derived::default();
        derived
            .items
            .insert(keys.ticket_file(ticket, &name), copy.clone());
        if let Some(lead) = record.lead {
            derived.items.insert(keys.lead_file(lead, ticket, &name), copy);
        }
        Ok(derived)
    }
}

/// Decodes the file of a record or a copy.
pub fn read_file(item: &Item) -> Result<TicketFile, StoreError> {
    item::need_json(KIND, item, TEXT)
}
