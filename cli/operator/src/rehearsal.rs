//! A dry run: a copy of the table that takes all writes (C-104), so that an import can be checked by running it.
//!
//! The copy is empty at first. Before each call the copy gets the items that the call names and that were not copied
//! before, and for a query the whole partition. Then the call is executed on the copy alone. So it returns the same as
//! on the table, except for concurrent writes of others to the table.

use std::collections::HashSet;
use std::sync::Arc;

use shared::store::{Store, StoreError};
use table::{
    CommitError, Engine, Item, Key, KeyRange, Order, Page, Pages, ReadTable, Scanned, Selection, Transaction,
    Update, Work, key_of,
};
use tokio::sync::Mutex;

/// A store that executes all calls on `copy`, an empty engine, after copying the items that they need from `store`.
pub fn rehearse(store: &Store, copy: Arc<dyn Engine>) -> Store {
    let overlay = Overlay {
        table: store.table().reads().clone(),
        copy,
        loaded: Mutex::default(),
    };
    Store::on(Arc::new(overlay), store.environment().clone())
}

/// The keys and partitions of the table that were copied, including those without items.
#[derive(Debug, Default)]
struct Loaded {
    keys: HashSet<Key>,
    partitions: HashSet<String>,
}

/// An engine that executes calls on the copy.
#[derive(Debug)]
struct Overlay {
    table: ReadTable,
    copy: Arc<dyn Engine>,
    loaded: Mutex<Loaded>,
}

impl Engine for Overlay {
    fn get_many<'a>(&'a self, keys: &'a [Key]) -> Work<'a, Result<Vec<Item>, StoreError>> {
        Box::pin(async move {
            self.load(keys.to_vec()).await?;
            self.copy.get_many(keys).await
        })
    }

    fn query(&self, range: KeyRange, order: Order) -> Work<'_, Result<Page, StoreError>> {
        Box::pin(async move {
            self.load_partition(&range.partition).await?;
            self.copy.query(range, order).await
        })
    }

    fn transact(&self, transaction: Transaction) -> Work<'_, Result<(), CommitError>> {
        Box::pin(async move {
            let keys = transaction.writes().map(|(key, ..)| key.clone());
            self.load(keys.collect()).await?;
            self.copy.transact(transaction).await
        })
    }

    fn update<'a>(
        &'a self,
        key: &'a Key,
        update: Update<'a>,
    ) -> Work<'a, Result<Option<Vec<u64>>, StoreError>> {
        Box::pin(async move {
            self.load(vec![key.clone()]).await?;
            self.copy.update(key, update).await
        })
    }

    fn scan<'a>(
        &'a self,
        wanted: &'a Selection<'a>,
        after: Option<&'a Key>,
    ) -> Work<'a, Result<Scanned, StoreError>> {
        self.copy.scan(wanted, after)
    }

    fn ensure(&self) -> Work<'_, Result<bool, StoreError>> {
        self.copy.ensure()
    }

    fn max_writes(&self) -> usize {
        self.copy.max_writes()
    }
}

impl Overlay {
    /// Copies items that were not copied before. Loads are serialised, because a concurrent load could overwrite a
    /// write.
    async fn load(&self, mut keys: Vec<Key>) -> Result<(), StoreError> {
        let mut loaded = self.loaded.lock().await;
        keys.retain(|key| !loaded.keys.contains(key) && !loaded.partitions.contains(&key.pk));
        for (key, item) in self.table.get_many(keys.iter().cloned()).await? {
            self.copy.update(&key, Update::Put(item)).await?;
        }
        loaded.keys.extend(keys);
        Ok(())
    }

    /// Copies the items of a partition that were not copied before.
    async fn load_partition(&self, partition: &str) -> Result<(), StoreError> {
        let mut loaded = self.loaded.lock().await;
        if loaded.partitions.contains(partition) {
            return Ok(());
        }
        let mut pages = Pages::of(KeyRange::whole(partition.to_owned()));
        while let Some(items) = pages.next(&self.table).await? {
            for item in items {
                let key = key_of(&item)?;
                if !loaded.keys.contains(&key) {
                    self.copy.update(&key, Update::Put(item)).await?;
                }
            }
        }
        loaded.partitions.insert(partition.to_owned());
        Ok(())
    }
}
