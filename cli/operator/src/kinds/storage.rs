//! How the records of a kind are stored, and what is derived from them. Counts, removal and the doctor follow from it.

use std::fmt;

use shared::ids::{ColumnId, FunnelId, LeadId};
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::key::{Counter, Keys};
use shared::store::unscoped::quarantine::as_read;
use table::item::{self, Item};
use table::{Condition, Key, StoreError};

use crate::content;

/// A running number: the item of its counter and its attribute there.
pub type Number = (Counter, &'static str);

/// Running numbers that a record has taken.
pub type Numbers = Vec<(Number, u64)>;

/// The markers that excuse a wrong copy, by the record and its source.
pub type Markers = fn(Keys<'_>, &Item, Option<&Item>) -> Result<Vec<Key>, StoreError>;

/// A column of a funnel.
pub type FunnelColumn = (FunnelId, ColumnId);

/// The storage of a kind.
#[derive(Clone, Copy)]
pub struct Storage {
    /// The name of one record.
    pub name: &'static str,
    /// The name of several records.
    pub plural: &'static str,
    /// The partitions of the records.
    pub partitions: fn(Keys<'_>) -> Vec<String>,
    /// The key of the record with this label.
    pub key: fn(Keys<'_>, &str) -> Option<Key>,
    /// The counter that assigns the ids; `None` if only imports give ids.
    pub sequence: Option<Number>,
    /// The items and shares of totals that are derived from a record. Fails if the record cannot be read.
    pub derived: fn(Keys<'_>, &Item) -> Result<Derived, StoreError>,
    /// Further running numbers that a record has taken.
    pub further_numbers: fn(&Item) -> Result<Numbers, StoreError>,
    /// The condition that a record is still as it was read.
    pub unchanged: fn(&Item) -> Result<Condition, StoreError>,
    /// The lead that must exist when derived items of a record are put (C-24).
    pub required_lead: fn(&Item) -> Result<Option<LeadId>, StoreError>,
    /// Whether a stored item is the derived one.
    pub agrees: fn(&Item, &Item) -> bool,
    /// Whether a derived item is a function of its record, so that a repair can put it.
    pub can_restore: fn(&Item) -> bool,
    /// The digest of the compared part of a stored or derived item; `None` if it cannot be read. Equal digests mean
    /// that the items agree. Different digests do not mean that they differ.
    pub content_digest: fn(&Item) -> Option<u32>,
    /// The fault of a record without the data from which an item should be derived.
    pub flaw: fn(&Item) -> Result<Option<&'static str>, StoreError>,
    /// The column that a record is in.
    pub column: fn(&Item) -> Result<Option<FunnelColumn>, StoreError>,
    /// The rule for the copy of another record in each record.
    pub copy: Option<CopyRule>,
    /// How `funil remove` removes a record (C-104); `None` if it does not.
    pub removal: Option<Removal>,
}

/// How a record is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// With its derived items. No request can link to it.
    Unlinked,
    /// With its derived items. It is put back if a request has linked to it.
    Linked,
    /// As [`Self::Linked`], together with its entries in the directory.
    OfUser,
    /// As [`Self::Unlinked`], together with its events in the directory.
    OfAutomation,
}

/// The copies that records of a kind have of a source, which is another record.
#[derive(Clone, Copy)]
pub struct CopyRule {
    /// The name of the source's kind in reports.
    pub source_name: &'static str,
    /// The key of a record's source; `None` if it copies nothing.
    pub source: fn(Keys<'_>, &Item) -> Result<Option<Key>, StoreError>,
    /// The record with the copy that it should have of the source, as its next version; `None` if it has that copy.
    pub renewed: fn(&Item, Option<&Item>) -> Result<Option<Item>, StoreError>,
    /// The markers of changes and deletions that excuse a wrong copy of a record, if one of them is there.
    pub markers: Markers,
    /// The condition that a source is still as it was read.
    pub unchanged: fn(&Item) -> Result<Condition, StoreError>,
    /// Whether a source does not know that records copy it.
    pub is_unlinked: fn(&Item) -> Result<bool, StoreError>,
    /// The lead whose own copies are stale once this record has another copy.
    pub stale_lead: fn(&Item) -> Result<Option<LeadId>, StoreError>,
    /// Why a source may not be the record that a record means.
    pub stranger: fn(&Item, &Item) -> Result<Option<String>, StoreError>,
    /// Whether a source must exist.
    pub needs_source: bool,
}

impl Storage {
    /// Records without derived items, a version or ids from a counter.
    pub const fn of(
        [name, plural]: [&'static str; 2],
        partitions: fn(Keys<'_>) -> Vec<String>,
        key: fn(Keys<'_>, &str) -> Option<Key>,
        derived: fn(Keys<'_>, &Item) -> Result<Derived, StoreError>,
    ) -> Self {
        Self {
            name,
            plural,
            partitions,
            key,
            sequence: None,
            derived,
            further_numbers: |_| Ok(Vec::new()),
            unchanged: |record| Ok(as_read(record)),
            required_lead: |_| Ok(None),
            agrees: item::contains,
            can_restore: |_| true,
            content_digest: |item| Some(content::content_digest(content::body(item))),
            flaw: |_| Ok(None),
            column: |_| Ok(None),
            copy: None,
            removal: None,
        }
    }

    /// The name of a record in reports.
    pub fn label(&self, key: &Key) -> String {
        label(self.name, key)
    }

    /// The running numbers that a record has taken: first its id, if a counter assigns the ids.
    pub fn numbers(&self, record: &Item) -> Result<Numbers, StoreError> {
        let Some(sequence) = self.sequence else {
            return Ok(Vec::new());
        };
        let mut numbers = vec![(sequence, item::number(self.name, record, "id")?)];
        numbers.extend((self.further_numbers)(record)?);
        Ok(numbers)
    }

    /// Whether a record is stored under another record's id, to which its derived items belong.
    pub fn is_misplaced(&self, key: &Key, record: &Item) -> Result<bool, StoreError> {
        let numbers = self.numbers(record)?;
        let (Some((_, id)), Ok(id_of_key)) = (numbers.first(), key.sk.parse::<u64>()) else {
            return Ok(false);
        };
        Ok(*id > 0 && id_of_key != *id)
    }
}

impl CopyRule {
    /// A rule without markers, for a versioned source that must exist.
    pub const fn of(
        source_name: &'static str,
        source: fn(Keys<'_>, &Item) -> Result<Option<Key>, StoreError>,
        renewed: fn(&Item, Option<&Item>) -> Result<Option<Item>, StoreError>,
    ) -> Self {
        Self {
            source_name,
            source,
            renewed,
            markers: |_, _, _| Ok(Vec::new()),
            unchanged: version,
            is_unlinked: |_| Ok(false),
            stale_lead: |_| Ok(None),
            stranger: |_, _| Ok(None),
            needs_source: true,
        }
    }

    /// The name of a source in reports.
    pub fn label(&self, source: &Key) -> String {
        label(self.source_name, source)
    }
}

/// The condition that a versioned record is still as it was read.
pub fn version(record: &Item) -> Result<Condition, StoreError> {
    Ok(Condition::Version(item::number("record", record, "v")?))
}

/// The derived items of a record that was read: none.
pub fn nothing<T>(record: Result<T, StoreError>) -> Result<Derived, StoreError> {
    record.map(|_| Derived::default())
}

fn label(name: &str, key: &Key) -> String {
    format!("{name} {}", key.sk.trim_start_matches('0'))
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
