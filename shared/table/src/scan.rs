//! Scans of the whole table, for operators' commands only. Functions never scan.

use crate::item::{Item, s};
use crate::key::Key;

/// The items that a scan returns: those of partitions with one prefix, and those of another prefix whose
/// attribute has a value.
#[derive(Debug, Clone)]
pub struct Selection<'s> {
    /// The first prefix of partition keys.
    pub prefix: String,
    /// The second prefix of partition keys.
    pub other_prefix: &'s str,
    /// Attribute and value required of items with the second prefix.
    pub attribute: (&'s str, &'s str),
}

impl Selection<'_> {
    /// Whether an item with this partition key and these attributes is selected.
    #[must_use]
    pub fn contains(&self, pk: &str, item: &Item) -> bool {
        let (name, value) = self.attribute;
        let is_other = || pk.starts_with(self.other_prefix) && item.get(name) == Some(&s(value));
        pk.starts_with(&self.prefix) || is_other()
    }
}

/// A page of a scan.
#[derive(Debug)]
pub struct Scanned {
    /// The selected items of the page, possibly none.
    pub items: Vec<Item>,
    /// The key to continue after; `None` at the end.
    pub next: Option<Key>,
}
