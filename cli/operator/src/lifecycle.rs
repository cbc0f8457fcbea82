//! Suspension and deletion of an instance (C-104).
//!
//! Both change the directory, which every request reads. So they apply from the next request on and cost requests no
//! extra read. A deletion deletes the directory first, and without the directory no credential opens the instance. The
//! entry in the list of instances is deleted last, so that an interrupted deletion can be found and resumed.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use super::directory::DIRECTORY;
use super::{InstanceEntry, Operator, OperatorError};
use shared::instance::InstanceName;
use shared::store::unscoped::key;
use shared::time::Timestamp;
use table::item::{self, Item};
use table::{Condition, Key, MAX_WRITES, Policy, StoreError, Transaction, key_of};

/// Seconds after which every request that began before a deletion has ended.
const SETTLED: u32 = 30;
/// Concurrent transactions of a deletion.
const CONCURRENCY: usize = 8;
/// The optional attributes of an instance's entry.
const OPTIONAL_ATTRIBUTES: [&str; 2] = ["suspended", "deleting"];

/// The result of deleting an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// The instance.
    pub instance: InstanceName,
    /// The number of deleted items.
    pub erased: u64,
}

impl Operator {
    /// Suspends the instance, or resumes it. Returns the time of the suspension, and whether it changed.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::BeingDeleted`], or [`OperatorError::Store`] if the table fails.
    pub async fn set_suspended(&self, suspended: bool) -> Result<(Option<Timestamp>, bool), OperatorError> {
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let mut stored = self.stored_directory().await?;
            let mut entry = self.entry().await?;
            let before = stored.directory.suspended;
            // A suspended instance keeps the time of its suspension.
            let after = suspended.then(|| before.unwrap_or_else(|| self.now()));
            if (before, entry.suspended) == (after, after) {
                return Ok((after, false));
            }
            (stored.directory.suspended, entry.suspended) = (after, after);
            let mut transaction = self.entry_change(&entry)?;
            self.put_next(&mut transaction, stored);
            if self.table().try_commit(transaction).await? {
                return Ok((after, true));
            }
            retry.again().await?;
        }
    }

    /// Deletes every item of the instance. The directory and the credentials come first, so that every request is
    /// refused from the next one on. The entry in the list comes last. Resumes an interrupted deletion. Unless no other
    /// process uses the table (`alone`), it waits for requests that began before, and deletes the items that they
    /// wrote. Calls `watch` with each number of deleted items. Scans the whole table.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] if the table fails; another call continues.
    pub async fn delete_instance(
        &self,
        alone: bool,
        watch: &(dyn Fn(u64) + Sync),
    ) -> Result<Erased, OperatorError> {
        let (since, mut erased) = self.close().await?;
        erased += self.erase_credentials(watch).await?;
        erased += self.erase_items(watch).await?;
        if !alone {
            let left = since.plus_seconds(SETTLED).unix_millis() - self.now().unix_millis();
            tokio::time::sleep(Duration::from_millis(left.try_into().unwrap_or(0))).await;
            // Repeated until a pass finds nothing.
            loop {
                let found = self.erase_items(watch).await?;
                if found == 0 {
                    break;
                }
                erased += found;
            }
        }
        let entry = key::instance(self.instance());
        self.erase(vec![entry], watch).await?;
        Ok(Erased {
            instance: self.instance().clone(),
            erased: erased + 1,
        })
    }

    /// Marks the instance as being deleted and deletes its directory. Returns the time of the first such call, and the
    /// number of items that this call deleted.
    async fn close(&self) -> Result<(Timestamp, u64), OperatorError> {
        let mut entry = self.entry().await?;
        if let Some(since) = entry.deleting {
            return Ok((since, 0));
        }
        let since = self.now();
        entry.deleting = Some(since);
        let mut transaction = self.entry_change(&entry)?;
        transaction.delete(self.keys().directory(), Condition::Always);
        if self.table().try_commit(transaction).await? {
            return Ok((since, 1));
        }
        Err(OperatorError::NoInstance(self.instance().clone()))
    }

    /// A write that replaces the instance's entry in the list, if there is one.
    fn entry_change(&self, entry: &InstanceEntry) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        let item = item::encode("instance", entry)?;
        let key = key::instance(self.instance());
        transaction.set(key, item, &OPTIONAL_ATTRIBUTES, Condition::Present);
        Ok(transaction)
    }

    /// Deletes the credentials, which are void without the directory.
    async fn erase_credentials(&self, watch: &(dyn Fn(u64) + Sync)) -> Result<u64, OperatorError> {
        let hashes = self.listed_hashes().await?;
        self.erase(hashes.iter().map(key::credential).collect(), watch)
            .await
    }

    /// Deletes every item of the instance except its entry in the list. One pass over the table.
    async fn erase_items(&self, watch: &(dyn Fn(u64) + Sync)) -> Result<u64, OperatorError> {
        let wanted = key::everything(self.instance());
        let (mut erased, mut after) = (0, None);
        loop {
            let page = self.table().scan(&wanted, after.as_ref()).await?;
            let keys = page.items.iter().map(key_of);
            erased += self.erase(keys.collect::<Result<_, _>>()?, watch).await?;
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(erased),
            }
        }
    }

    /// Deletes the items of these keys, and returns their number.
    async fn erase(&self, keys: Vec<Key>, watch: &(dyn Fn(u64) + Sync)) -> Result<u64, OperatorError> {
        let transactions = keys.chunks(MAX_WRITES).map(|keys| {
            let mut transaction = Transaction::default();
            for key in keys {
                transaction.delete(key.clone(), Condition::Always);
            }
            transaction
        });
        let commits = transactions.map(async |transaction| {
            let items = transaction.len() as u64;
            self.table().try_commit(transaction).await?;
            watch(items);
            Ok::<_, StoreError>(items)
        });
        let done = stream::iter(commits).buffer_unordered(CONCURRENCY);
        Ok(done.try_fold(0, async |sum, items| Ok(sum + items)).await?)
    }

    /// The error for an instance without a directory: it is being deleted or does not exist.
    pub(super) async fn missing_directory(&self) -> OperatorError {
        let instance = self.instance().clone();
        match self.entry().await {
            Ok(_) => OperatorError::BeingDeleted(instance),
            Err(error) => error,
        }
    }
}

/// Whether an instance's entry is marked for deletion.
pub(super) fn is_being_deleted(entry: &Item) -> bool {
    entry.contains_key("deleting")
}
