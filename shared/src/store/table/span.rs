//! What a query asks for, and what it returns.

use crate::store::item::{self, Item};

/// The most items that one `Query` is asked for.
pub const PAGE: usize = 1000;
/// The bytes of one read unit.
const UNIT: usize = 4096;

/// A part of a partition in the order of its sort keys.
#[derive(Debug, Clone)]
pub struct Span {
    pub partition: String,
    /// Sort keys behind this one.
    pub after: Option<String>,
    /// Sort keys up to this one.
    pub through: Option<String>,
    /// At most so many items; never more than [`PAGE`].
    pub limit: usize,
}

impl Span {
    /// The sort keys of a partition that go on behind `begins` in ASCII.
    pub fn beginning(partition: String, begins: String) -> Self {
        Self {
            through: Some(format!("{begins}~")),
            after: Some(begins),
            ..Self::head(partition, PAGE)
        }
    }

    /// The beginning of a partition.
    pub fn head(partition: String, limit: usize) -> Self {
        Self {
            partition,
            after: None,
            through: None,
            limit,
        }
    }

    /// Nothing can lie in it, as behind a page that ends with the span's last item.
    pub(super) fn is_empty(&self) -> bool {
        self.after
            .as_ref()
            .is_some_and(|after| self.through.as_ref().is_some_and(|through| after >= through))
    }
}

/// A part of a partition that was read.
#[derive(Debug, Default)]
pub struct Page {
    pub items: Vec<Item>,
    /// Whether there may be more behind the last item.
    pub more: bool,
}

impl Page {
    /// About how many read units the page consumed.
    pub fn units(&self) -> f64 {
        let bytes: usize = self.items.iter().map(item::bytes).sum();
        let units = bytes.div_ceil(UNIT).max(1);
        f64::from(u32::try_from(units).unwrap_or(u32::MAX))
    }
}
