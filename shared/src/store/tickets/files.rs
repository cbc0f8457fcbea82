//! A file's record, and what is derived from it: its copies in the list of its ticket and in that of the ticket's lead.

use super::has_lead;
use crate::id::LeadId;
use crate::store::Reader;
use crate::store::derived::Derived;
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n, s};
use crate::store::key::Keys;
use crate::store::transaction::{Condition, Transaction};
use crate::store::unknown::Raw;
use crate::ticket::TicketFile;

const KIND: &str = "file";
/// Record and copies hold the file as text.
const TEXT: &str = "file";
const LEAD: &str = "lead";

/// A file as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// The file.
    pub file: TicketFile,
    /// The lead of its ticket.
    pub lead: Option<LeadId>,
    /// Rises with every write of the record.
    pub version: u64,
    pub(in crate::store) raw: Raw,
}

impl Reader {
    /// Puts a record in the place of what is stored, or where nothing is, and changes what is derived, on condition that
    /// it still is so and that the ticket has the lead that the record says. C-24: what links a lead checks in its own
    /// transaction that it exists.
    pub(in crate::store) fn put_file(
        &self,
        stored: Option<&FileRecord>,
        record: &FileRecord,
        ticket_lead: Option<LeadId>,
    ) -> Transaction {
        let (keys, file) = (self.keys(), &record.file);
        let condition = stored.map_or(Condition::Absent, |stored| Condition::Version(stored.version));
        let mut transaction = Transaction::default();
        transaction.put(keys.file(&file.name()), encode_file(record), condition);
        let old = stored.map(|stored| derived_of_file(keys, stored));
        Derived::change(
            &mut transaction,
            &old.unwrap_or_default(),
            derived_of_file(keys, record),
        );
        transaction.check(keys.ticket(file.ticket), has_lead(file.ticket, ticket_lead));
        if let Some(lead) = record.lead {
            transaction.check(keys.lead(lead), Condition::Present);
        }
        transaction
    }
}

/// The record of a file as an item.
pub fn encode_file(record: &FileRecord) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode_known(raw).ok()?));
    record.raw.carry(encode_known(record), recode)
}

fn encode_known(record: &FileRecord) -> Item {
    let mut item = Item::from([
        (TEXT.to_owned(), s(text(&record.file))),
        ("v".to_owned(), n(record.version)),
    ]);
    if let Some(lead) = record.lead {
        item.insert(LEAD.to_owned(), n(lead));
    }
    item
}

/// The record that an item holds.
pub fn decode_file(item: &Item) -> Result<FileRecord, StoreError> {
    let raw = Raw::of(item);
    Ok(FileRecord {
        raw,
        ..decode_known(item)?
    })
}

fn decode_known(item: &Item) -> Result<FileRecord, StoreError> {
    let lead = item.contains_key(LEAD).then(|| {
        let lead = LeadId::new(item::number(KIND, item, LEAD)?);
        lead.ok_or_else(|| item::corrupt(KIND, "its lead is no id"))
    });
    Ok(FileRecord {
        file: read_file(item)?,
        lead: lead.transpose()?,
        version: item::number(KIND, item, "v")?,
        raw: Raw::default(),
    })
}

fn text(file: &TicketFile) -> String {
    serde_json::Value::Object(file.sparse()).to_string()
}

/// The file that a record or a copy holds.
pub fn read_file(item: &Item) -> Result<TicketFile, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))
}

/// Everything that is derived from a file: a pure function of its record.
pub fn derived_of_file(keys: Keys<'_>, record: &FileRecord) -> Derived {
    let (ticket, name) = (record.file.ticket, record.file.name());
    let copy = item::part(&encode_file(record), TEXT);
    let mut derived = Derived::default();
    derived
        .items
        .insert(keys.ticket_file(ticket, &name), copy.clone());
    if let Some(lead) = record.lead {
        derived.items.insert(keys.lead_file(lead, ticket, &name), copy);
    }
    derived
}
