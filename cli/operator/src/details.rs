//! The details of departments and groups, in separate items besides the directory's head: reading, changing and
//! migrating them.

use std::collections::{BTreeMap, BTreeSet};

use super::directory::{DIRECTORY, MAX_BYTES};
use super::{Operator, OperatorError};
use shared::directory::{Directory, DirectoryDetails};
use shared::store::unscoped::directory::{
    StoredDirectory, compacted, decode_details, decode_raw, encode_details,
};
use table::item::{self, Item};
use table::unknown::Raw;
use table::{Condition, Key, KeyRange, Policy, StoreError, Transaction, key_of};

/// Details as they are stored.
#[derive(Debug, Default)]
pub(super) struct StoredDetails {
    /// Those that can be read.
    pub details: DirectoryDetails,
    /// Their items; none in a former format.
    items: BTreeMap<Key, Item>,
    /// The items that cannot be read, with the causes.
    pub unreadable: BTreeMap<Key, StoreError>,
}

impl Operator {
    /// The details of a directory. In a former format no call, else a query for each MB of departments and of groups.
    pub(super) async fn stored_details(&self, stored: &StoredDirectory) -> Result<StoredDetails, StoreError> {
        let mut found = StoredDetails::default();
        if let Some(details) = &stored.details {
            found.details = details.clone();
            return Ok(found);
        }
        for partition in [self.keys().departments(), self.keys().groups()] {
            for item in self.reads().query_all(KeyRange::whole(partition)).await? {
                let key = key_of(&item)?;
                match decode_details(self.keys(), &item) {
                    Ok(details) => found.details.extend(details),
                    Err(cause @ StoreError::Corrupt { .. }) => {
                        drop(found.unreadable.insert(key.clone(), cause));
                    }
                    Err(cause) => return Err(cause),
                }
                found.items.insert(key, item);
            }
        }
        Ok(found)
    }

    /// The writes of a change to `next`, in one transaction.
    pub(super) fn directory_changes(
        &self,
        mut stored: StoredDirectory,
        before: &StoredDetails,
        next: Directory,
    ) -> Result<Transaction, OperatorError> {
        let mut transaction = Transaction::default();
        let (head, details) = next.split();
        stored.directory = head;
        if stored.details.is_some() {
            stored.details = Some(details);
        } else {
            self.put_details(&mut transaction, before, &details)?;
        }
        self.put_checked(&mut transaction, stored)?;
        Ok(transaction)
    }

    /// Adds the writes of the items of details that differ from the stored ones, at most 64. Unknown attributes stay.
    pub(super) fn put_details(
        &self,
        transaction: &mut Transaction,
        before: &StoredDetails,
        details: &DirectoryDetails,
    ) -> Result<(), OperatorError> {
        let old = encode_details(self.keys(), &before.details);
        let mut new = encode_details(self.keys(), details);
        let keys: BTreeSet<_> = old.keys().chain(new.keys()).cloned().collect();
        for key in keys {
            let (old_item, new_item) = (old.get(&key), new.remove(&key));
            if old_item == new_item.as_ref() {
                continue;
            }
            let Some(item) = new_item else {
                transaction.delete(key, Condition::Always);
                continue;
            };
            if item::bytes(&item) > MAX_BYTES {
                return Err(OperatorError::TooLarge("directory"));
            }
            let raw = before.items.get(&key).map(Raw::of).unwrap_or_default();
            let item = raw.carry(item, |_| old_item.cloned());
            transaction.put(key, item, Condition::Always);
        }
        Ok(())
    }

    /// Migrates the directory to the compact form in one transaction. Returns the number of changed items, 0 for a
    /// compact directory.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] if the table fails.
    pub async fn compact_directory(&self) -> Result<u64, OperatorError> {
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let Some(item) = self.reads().get(&self.keys().directory()).await? else {
                return Err(self.missing_directory().await);
            };
            let stored = decode_raw(&item)?;
            if stored.details.is_none() {
                return Ok(0);
            }
            let (next, items) = compacted(self.keys(), &stored, &item)?;
            let (mut transaction, changed) = (Transaction::default(), items.len() as u64 + 1);
            for (key, item) in items {
                transaction.put(key, item, Condition::Always);
            }
            self.put_next(&mut transaction, next);
            if self.table().try_commit(transaction).await? {
                return Ok(changed);
            }
            retry.again().await?;
        }
    }
}
