//! Key ranges of queries, and their results.

use crate::error::StoreError;
use crate::item::{self, Item};
use crate::key::key_of;

/// Maximum items of one `Query`.
pub const PAGE: usize = 1000;
/// Bytes of one read unit.
const UNIT: usize = 4096;

/// A range of sort keys in a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// The partition key.
    pub partition: String,
    /// Lower bound of sort keys, exclusive.
    pub after: Option<String>,
    /// Upper bound of sort keys, inclusive.
    pub through: Option<String>,
    /// Maximum number of items, at most [`PAGE`].
    pub limit: usize,
}

impl KeyRange {
    /// The sort keys of a partition with the ASCII prefix `begins`.
    #[must_use]
    pub fn beginning(partition: String, begins: String) -> Self {
        Self {
            through: Some(format!("{begins}~")),
            after: Some(begins),
            ..Self::head(partition, PAGE)
        }
    }

    /// All items of a partition, in pages of [`PAGE`].
    #[must_use]
    pub fn whole(partition: String) -> Self {
        Self::head(partition, PAGE)
    }

    /// The first items of a partition.
    #[must_use]
    pub fn head(partition: String, limit: usize) -> Self {
        Self {
            partition,
            after: None,
            through: None,
            limit,
        }
    }

    /// The sort keys after `after` and up to `through`, in each of several partitions.
    #[must_use]
    pub fn of_each(partitions: Vec<String>, after: Option<&String>, through: Option<&String>) -> Vec<Self> {
        let range = |partition| Self {
            after: after.cloned(),
            through: through.cloned(),
            ..Self::head(partition, PAGE)
        };
        partitions.into_iter().map(range).collect()
    }

    /// The key condition of a query, and its values.
    pub(crate) fn condition(self) -> (&'static str, Item) {
        // DynamoDB allows one condition on the sort key. `BETWEEN` is inclusive, so the range starts at the smallest
        // text greater than `after`.
        let (condition, bounds) = match (self.after, self.through) {
            (None, None) => ("pk = :pk", vec![]),
            (Some(after), None) => ("pk = :pk AND sk > :after", vec![(":after", after)]),
            (None, Some(through)) => ("pk = :pk AND sk <= :through", vec![(":through", through)]),
            (Some(after), Some(through)) => (
                "pk = :pk AND sk BETWEEN :after AND :through",
                vec![(":after", after + "\0"), (":through", through)],
            ),
        };
        let values = bounds.into_iter().chain([(":pk", self.partition)]);
        let values = values.map(|(name, value)| (name.to_owned(), item::s(value)));
        (condition, values.collect())
    }

    /// Whether the range is empty, as after a page that ended with its last item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.after
            .as_ref()
            .is_some_and(|after| self.through.as_ref().is_some_and(|through| after >= through))
    }
}

/// The order of a query by sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From the smallest.
    Ascending,
    /// From the greatest.
    Descending,
}

/// Result of a query.
#[derive(Debug, Default)]
pub struct Page {
    /// Items ordered by sort key; descending if read from the end.
    pub items: Vec<Item>,
    /// Whether there may be more after the last item.
    pub more: bool,
}

impl Page {
    /// Approximate read units of the page.
    #[must_use]
    pub fn units(&self) -> f64 {
        self.whole_units().into()
    }

    /// Like [`Self::units`], as a whole number.
    pub fn whole_units(&self) -> u32 {
        whole_read_units(self.items.iter().map(item::bytes).sum())
    }
}

/// Approximate read units of one item, or of the items of one query, with this number of bytes.
#[must_use]
pub fn read_units(bytes: usize) -> f64 {
    whole_read_units(bytes).into()
}

fn whole_read_units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(u32::MAX)
}

/// Reads a range page by page.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    rest: Option<KeyRange>,
}

impl Pages {
    /// Starts at the beginning of a range.
    #[must_use]
    pub fn of(range: KeyRange) -> Self {
        let rest = (!range.is_empty()).then_some(range);
        Self { rest }
    }

    /// The unread rest; `None` at the end.
    #[must_use]
    pub fn rest(&self) -> Option<&KeyRange> {
        self.rest.as_ref()
    }

    /// Sets the maximum number of items of the next pages.
    pub fn limit(&mut self, limit: usize) {
        if let Some(rest) = &mut self.rest {
            rest.limit = limit;
        }
    }

    /// Reads the next page with `read`. The page may be empty. Returns `None` after the last page.
    ///
    /// # Errors
    /// [`StoreError`] if the read fails.
    pub async fn next_with<F>(&mut self, read: impl FnOnce(KeyRange) -> F) -> Result<Option<Page>, StoreError>
    where
        F: Future<Output = Result<Page, StoreError>>,
    {
        let Some(range) = self.rest.clone() else {
            return Ok(None);
        };
        let page = read(range).await?;
        self.advance(&page)?;
        Ok(Some(page))
    }

    /// Continues after a page that was read by other means.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the last item has no key.
    pub fn advance(&mut self, page: &Page) -> Result<(), StoreError> {
        let last = page.items.last().filter(|_| page.more).map(key_of).transpose()?;
        let rest = self.rest.take().zip(last).map(|(range, last)| KeyRange {
            after: Some(last.sk),
            ..range
        });
        *self = rest.map_or_else(Self::default, Self::of);
        Ok(())
    }
}
