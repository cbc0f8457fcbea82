//! The table: reads of one request behind its [gate](crate::gate), and writes.
//!
//! All reads are strongly consistent: every acknowledged write is visible to later reads (C-12).

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::try_join_all;

use crate::engine::{Engine, Update};
use crate::error::StoreError;
use crate::gate::{Gate, MAX_AHEAD};
use crate::item::Item;
use crate::key::{Key, key_of};
use crate::pages::{KeyRange, Order, PAGE, Page, Pages};
use crate::retry::{Jitter, Policy, Retry};
use crate::transaction::{CommitError, Transaction};

/// Maximum keys of one call, as on DynamoDB.
const BATCH: usize = 100;

/// The table, for reads.
#[derive(Debug, Clone)]
pub struct ReadTable {
    engine: Arc<dyn Engine>,
    jitter: Jitter,
    /// Delays reads until the request's check has passed.
    gate: Option<Gate>,
}

/// The table, to read and write.
#[derive(Debug, Clone)]
pub struct Table {
    reads: ReadTable,
}

impl ReadTable {
    /// The same table with its reads delayed by a gate.
    #[must_use]
    pub fn gated(&self, gate: Gate) -> Self {
        Self {
            gate: Some(gate),
            ..self.clone()
        }
    }

    /// Counts the attempts at `work`. The error after the last attempt contains this name.
    #[must_use]
    pub fn retry(&self, policy: Policy, work: &'static str) -> Retry<'_> {
        Retry::new(&self.jitter, policy, work)
    }

    /// Reads items by key, like [`Self::get_items`].
    pub async fn get_many(
        &self,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<HashMap<Key, Item>, StoreError> {
        let items = self.get_items(keys).await?.into_iter();
        items.map(|item| Ok((key_of(&item)?, item))).collect()
    }

    /// Reads items, in any order; absent ones are missing from the result. One round trip. Reads more than 100 keys in
    /// parallel calls.
    pub async fn get_items(&self, keys: impl IntoIterator<Item = Key>) -> Result<Vec<Item>, StoreError> {
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        self.pass(keys.len()).await?;
        let batches = try_join_all(keys.chunks(BATCH).map(|batch| self.engine.get_many(batch))).await?;
        Ok(batches.into_iter().flatten().collect())
    }

    /// Reads one item by key.
    pub async fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        self.pass(1).await?;
        let found = self.engine.get_many(std::slice::from_ref(key)).await?;
        Ok(found.into_iter().next())
    }

    /// Reads a key range in one call. Makes no call for an empty range.
    pub async fn query(&self, span: KeyRange) -> Result<Page, StoreError> {
        let limit = span.limit.clamp(1, PAGE);
        self.pass(limit).await?;
        self.query_up_to(limit, span, Order::Ascending).await
    }

    /// Like [`Self::query`], from the end of the range: the items are in descending order of their sort keys.
    pub async fn query_last(&self, span: KeyRange) -> Result<Page, StoreError> {
        let limit = span.limit.clamp(1, PAGE);
        self.pass(limit).await?;
        self.query_up_to(limit, span, Order::Descending).await
    }

    /// Like [`Self::query`], for counters and markers, of which the gate admits more.
    pub async fn query_counters(&self, span: KeyRange) -> Result<Page, StoreError> {
        if let Some(gate) = &self.gate {
            gate.admit_up_to(span.limit).await?;
        }
        self.query_up_to(span.limit, span, Order::Ascending).await
    }

    /// Whether items can be read before the request's check.
    #[must_use]
    pub fn may_read_ahead(&self) -> bool {
        self.gate.as_ref().is_none_or(Gate::admits_ahead)
    }

    /// Waits until the request's check has passed.
    pub async fn after_check(&self) -> Result<(), StoreError> {
        self.pass(usize::MAX).await
    }

    /// Waits until the gate admits this number of items.
    async fn pass(&self, items: usize) -> Result<(), StoreError> {
        match &self.gate {
            Some(gate) if items > 0 => gate.admit(items).await,
            _ => Ok(()),
        }
    }

    /// Reads up to `limit` items of a range in one call, regardless of the gate and of the range's own limit.
    async fn query_up_to(&self, limit: usize, span: KeyRange, order: Order) -> Result<Page, StoreError> {
        // DynamoDB rejects empty ranges.
        if span.is_empty() {
            return Ok(Page::default());
        }
        self.engine.query(KeyRange { limit, ..span }, order).await
    }

    /// Reads up to 1 MB of a key range in one call, ignoring its limit.
    pub async fn query_megabyte(&self, span: KeyRange) -> Result<Page, StoreError> {
        self.pass(PAGE).await?;
        self.query_up_to(usize::MAX, span, Order::Ascending).await
    }

    /// Reads a whole key range in calls of 1 MB, ignoring its limit. Items beyond [`MAX_AHEAD`] are read
    /// after the request's check.
    pub async fn query_all(&self, span: KeyRange) -> Result<Vec<Item>, StoreError> {
        self.query_all_ahead(span, MAX_AHEAD).await
    }

    /// Like [`Self::query_all`], with another number of items read before the check.
    pub async fn query_all_ahead(&self, span: KeyRange, mut ahead: usize) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        let mut pages = Pages::of(span);
        while pages.rest().is_some() {
            let limit = match &self.gate {
                Some(gate) => gate.admit_up_to(ahead).await?,
                None => usize::MAX,
            };
            // After the first page, further pages wait for the check.
            ahead = 0;
            let page = pages
                .next_with(|span| self.query_up_to(limit, span, Order::Ascending))
                .await?;
            items.extend(page.into_iter().flat_map(|page| page.items));
        }
        Ok(items)
    }
}

impl Table {
    /// The table of an engine.
    #[must_use]
    pub fn of(engine: Arc<dyn Engine>, jitter: Jitter) -> Self {
        let gate = None;
        Self {
            reads: ReadTable { engine, jitter, gate },
        }
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.reads.engine
    }

    /// The table, for reads.
    #[must_use]
    pub fn reads(&self) -> &ReadTable {
        &self.reads
    }

    /// Counts the attempts at `work`. The error after the last attempt contains this name.
    #[must_use]
    pub fn retry(&self, policy: Policy, work: &'static str) -> Retry<'_> {
        self.reads.retry(policy, work)
    }

    /// Executes a transaction. Cost: two write units per started KB of each item.
    pub async fn commit(&self, mut transaction: Transaction) -> Result<(), CommitError> {
        transaction.remove_idle_additions();
        if transaction.is_empty() {
            return Ok(());
        }
        self.engine().transact(transaction).await
    }

    /// Like [`Self::commit`], without the refused items. Returns `false` if a condition failed and nothing was written.
    ///
    /// # Errors
    /// [`StoreError`] if the transaction failed, or its outcome is unknown.
    pub async fn try_commit(&self, transaction: Transaction) -> Result<bool, StoreError> {
        match self.commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// Puts an item unconditionally.
    pub async fn put(&self, key: &Key, item: Item) -> Result<(), StoreError> {
        self.engine().update(key, Update::Put(item)).await.map(drop)
    }

    /// Adds `by` to numbers of an item and returns the new values, in the order of their names.
    pub async fn add(&self, key: &Key, names: &[&str], by: u64) -> Result<Vec<u64>, StoreError> {
        let added = self.engine().update(key, Update::Add { names, by }).await?;
        added.ok_or(StoreError::Contention("adding to numbers"))
    }

    /// Adds `by` to number `name` of an item if it is below `limit`, and sets the expiry to Unix second `until`.
    /// Returns the new value, which may exceed the limit. Returns `None` if the number was not below the limit.
    pub async fn add_below(
        &self,
        key: &Key,
        name: &str,
        by: u64,
        limit: u64,
        until: i64,
    ) -> Result<Option<u64>, StoreError> {
        let update = Update::AddBelow {
            name,
            by,
            limit,
            until,
        };
        let added = self.engine().update(key, update).await?;
        Ok(added.and_then(|numbers| numbers.first().copied()))
    }

    /// Raises number `name` of an item to at least `to`.
    pub async fn raise(&self, key: &Key, name: &str, to: u64) -> Result<(), StoreError> {
        self.engine()
            .update(key, Update::Raise { name, to })
            .await
            .map(drop)
    }
}

#[cfg(feature = "admin")]
mod admin {
    //! Calls of the operator's commands.

    use crate::client::Table;
    use crate::error::StoreError;
    use crate::key::Key;
    use crate::scan::{Scanned, Selection};

    impl Table {
        /// Reads the next page of the whole table in one call. The selection saves transfer, not units: every item of
        /// the table is read.
        ///
        /// # Errors
        /// [`StoreError`] if the call fails.
        pub async fn scan(&self, wanted: &Selection<'_>, after: Option<&Key>) -> Result<Scanned, StoreError> {
            self.engine().scan(wanted, after).await
        }

        /// Creates the table if it does not exist and waits until it is ready. An existing table is not changed.
        /// Returns whether it was created.
        ///
        /// # Errors
        /// [`StoreError`] if it can neither be found nor created.
        pub async fn ensure(&self) -> Result<bool, StoreError> {
            self.engine().ensure().await
        }

        /// Maximum number of writes in one transaction.
        #[must_use]
        pub fn max_writes(&self) -> usize {
            self.engine().max_writes()
        }
    }
}

impl Pages {
    /// Reads the items of the next page, possibly none, with one query. Returns `None` after the last page.
    ///
    /// # Errors
    /// [`StoreError`] if the read fails.
    pub async fn next(&mut self, table: &ReadTable) -> Result<Option<Vec<Item>>, StoreError> {
        let page = self.next_with(|range| table.query(range)).await?;
        Ok(page.map(|page| page.items))
    }

    /// Reads the keys of the next page, like [`next`](Self::next).
    ///
    /// # Errors
    /// [`StoreError`] if the read fails.
    pub async fn next_keys(&mut self, table: &ReadTable) -> Result<Option<Vec<Key>>, StoreError> {
        let items = self.next(table).await?;
        let keys = items.map(|items| items.iter().map(key_of).collect());
        keys.transpose()
    }
}
