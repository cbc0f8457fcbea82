//! Properties of a kind of record, and of its records' copies, that the doctor needs.

use super::known;
use shared::ids::{ColumnId, FunnelId, LeadId};
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::key::{Counter, Keys};
use table::item::{self, Item};
use table::{Condition, Key, StoreError};

/// A kind from the table of [`kinds`](super::kinds).
pub type KindRef = &'static dyn CheckedKind;

/// A rule for the copies in the records of a kind.
pub type RuleRef = &'static dyn CopyRule;

/// A running number: the item of its counter and its attribute there.
pub type Number = (Counter, &'static str);

/// A column of a funnel.
pub type FunnelColumn = (FunnelId, ColumnId);

/// Names of a kind in reports, and the counter of its ids.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The name of one record in reports, and the attribute of `counter`'s item that has the last id.
    pub name: &'static str,
    /// The name of several records.
    pub plural: &'static str,
    /// `None` if no counter assigns the ids.
    pub counter: Option<Counter>,
}

impl About {
    pub const fn new(name: &'static str, plural: &'static str, counter: Option<Counter>) -> Self {
        Self {
            name,
            plural,
            counter,
        }
    }
}

/// A kind of record from which items are derived.
pub trait CheckedKind: Sync {
    fn about(&self) -> About;

    /// The partitions of the records.
    fn records(&self, keys: Keys<'_>) -> Vec<String>;

    /// The items and shares of totals that are derived from a record.
    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError>;

    /// The running numbers that a record has taken: first its id, if a counter assigns the ids.
    fn numbers(&self, record: &Item) -> Result<Vec<(Number, u64)>, StoreError> {
        let About { name, counter, .. } = self.about();
        let Some(counter) = counter else {
            return Ok(Vec::new());
        };
        Ok(vec![((counter, name), item::number(name, record, "id")?)])
    }

    /// The condition that a record is still as it was read.
    fn unchanged(&self, record: &Item) -> Result<Condition, StoreError> {
        version(self.about().name, record)
    }

    /// The lead that must exist when derived items of a record are put (C-24).
    fn required_lead(&self, _record: &Item) -> Result<Option<LeadId>, StoreError> {
        Ok(None)
    }

    /// Whether a stored item is the derived one.
    fn agrees(&self, derived: &Item, stored: &Item) -> bool {
        item::contains(derived, stored)
    }

    /// Whether a derived item is a function of its record, so that a repair can put it.
    fn can_restore(&self, _derived: &Item) -> bool {
        true
    }

    /// The digest of the compared part of a stored or derived item; `None` if it cannot be read. Equal digests mean
    /// that the items agree. Different digests do not mean that they differ.
    fn content_digest(&self, item: &Item) -> Option<u32> {
        Some(known::content_digest(known::body(item)))
    }

    /// The fault of a record without the data from which an item should be derived.
    fn flaw(&self, _record: &Item) -> Result<Option<&'static str>, StoreError> {
        Ok(None)
    }

    /// The column that a record is in.
    fn column(&self, _record: &Item) -> Result<Option<FunnelColumn>, StoreError> {
        Ok(None)
    }

    /// The rule for the copy of another record in each record.
    fn copy_rule(&self) -> Option<RuleRef> {
        None
    }
}

impl dyn CheckedKind {
    pub fn name(&self) -> &'static str {
        self.about().name
    }

    pub fn plural(&self) -> &'static str {
        self.about().plural
    }

    /// The name of a record in reports.
    pub fn label(&self, key: &Key) -> String {
        label(self.name(), key)
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

/// The copies that records of a kind have of a source, which is another record.
pub trait CopyRule: Sync {
    /// The name of the source's kind in reports.
    fn source_name(&self) -> &'static str;

    /// The key of a record's source; `None` if it copies nothing.
    fn source(&self, keys: Keys<'_>, record: &Item) -> Result<Option<Key>, StoreError>;

    /// The record with the copy that it should have of the source, as its next version; `None` if it has that copy.
    fn renewed(&self, record: &Item, source: Option<&Item>) -> Result<Option<Item>, StoreError>;

    /// The markers of changes and deletions that excuse a wrong copy, if one of them is there.
    fn markers(&self, _: Keys<'_>, _record: &Item, _source: Option<&Item>) -> Result<Vec<Key>, StoreError> {
        Ok(Vec::new())
    }

    /// The condition that a source is still as it was read.
    fn unchanged(&self, source: &Item) -> Result<Condition, StoreError> {
        version(self.source_name(), source)
    }

    /// Whether a source does not know that records copy it.
    fn is_unlinked(&self, _source: &Item) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// The lead whose own copies are stale once this record has another copy.
    fn stale_lead(&self, _record: &Item) -> Result<Option<LeadId>, StoreError> {
        Ok(None)
    }

    /// Why a source may not be the record that a record means.
    fn stranger(&self, _record: &Item, _source: &Item) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Whether a source must exist.
    fn needs_source(&self) -> bool {
        true
    }
}

impl dyn CopyRule {
    /// The name of a source in reports.
    pub fn label(&self, source: &Key) -> String {
        label(self.source_name(), source)
    }
}

fn label(name: &str, key: &Key) -> String {
    format!("{name} {}", key.sk.trim_start_matches('0'))
}

fn version(kind: &'static str, item: &Item) -> Result<Condition, StoreError> {
    Ok(Condition::Version(item::number(kind, item, "v")?))
}
