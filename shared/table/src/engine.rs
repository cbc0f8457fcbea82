//! The seam between the table and its engines: DynamoDB by the SDK, and the embedded one of `funil serve`.
//!
//! An engine executes single calls. Each is strongly consistent, and each transaction happens entirely or not at all.
//! An engine counts its calls in the [meter](crate::meter) and repeats what it may repeat; the table decides nothing of
//! that.

use std::fmt;
use std::pin::Pin;

use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;
use crate::pages::{KeyRange, Order, Page};
#[cfg(feature = "admin")]
use crate::scan::{Scanned, Selection};
use crate::transaction::{CommitError, Transaction};

/// The future of an engine's call.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A store of items with partition and sort keys.
pub trait Engine: fmt::Debug + Send + Sync + 'static {
    /// Reads the items with these keys, each key once, in any order; absent ones are missing from the result.
    fn get_many<'a>(&'a self, keys: &'a [Key]) -> Work<'a, Result<Vec<Item>, StoreError>>;

    /// Reads up to `range.limit` items of a range, which is not empty, or up to 1 MB.
    fn query(&self, range: KeyRange, order: Order) -> Work<'_, Result<Page, StoreError>>;

    /// Executes a transaction. Repeats conflicts and throttling, and never an attempt of unknown outcome.
    fn transact(&self, transaction: Transaction) -> Work<'_, Result<(), CommitError>>;

    /// Writes one item. Returns the numbers that the update names, after it, or `None` if its condition fails.
    fn update<'a>(
        &'a self,
        key: &'a Key,
        update: Update<'a>,
    ) -> Work<'a, Result<Option<Vec<u64>>, StoreError>>;

    /// Reads the next page of the whole table, in any order that stays the same.
    #[cfg(feature = "admin")]
    fn scan<'a>(
        &'a self,
        wanted: &'a Selection<'a>,
        after: Option<&'a Key>,
    ) -> Work<'a, Result<Scanned, StoreError>>;

    /// Creates the table unless it exists. Returns whether it was created.
    #[cfg(feature = "admin")]
    fn ensure(&self) -> Work<'_, Result<bool, StoreError>>;

    /// Maximum number of writes in one transaction.
    fn max_writes(&self) -> usize;
}

/// A write of one item outside a transaction.
#[derive(Debug, Clone)]
pub enum Update<'a> {
    /// Replaces the item.
    Put(Item),
    /// Adds `by` to each number.
    Add {
        /// The numbers.
        names: &'a [&'a str],
        /// The summand.
        by: u64,
    },
    /// Adds `by` to a number below `limit`, and sets the expiry.
    AddBelow {
        /// The number.
        name: &'a str,
        /// The summand.
        by: u64,
        /// The number must be less before the addition. An absent one is.
        limit: u64,
        /// The expiry in Unix seconds.
        until: i64,
    },
    /// Sets a number that is less or absent.
    Raise {
        /// The number.
        name: &'a str,
        /// The new value.
        to: u64,
    },
}
