//! The details of departments and groups, in separate items besides the directory's head: reading and changing them.

use std::collections::{BTreeMap, BTreeSet};

use super::directory::MAX_BYTES;
use super::{Operator, OperatorError};
use shared::directory::{Directory, DirectoryDetails};
use shared::store::unscoped::directory::{StoredDirectory, decode_details, encode_details};
use table::item::{self, Item};
use table::unknown::Raw;
use table::{Condition, Key, KeyRange, StoreError, Transaction, key_of};

/// Details as they are stored.
#[derive(Debug, Default)]
pub(super) struct StoredDetails {
    /// Those that can be read.
    pub details: DirectoryDetails,
    /// Their items.
    items: BTreeMap<Key, Item>,
    /// The items that cannot be read, with the causes.
    pub unreadable: BTreeMap<Key, StoreError>,
}

impl Operator {
    /// The details of a directory. A query for each MB of departments and of groups.
    pub(super) async fn stored_details(&self) -> Result<StoredDetails, StoreError> {
        let mut found = StoredDetails::default();
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
        self.put_details(&mut transaction, before, &details)?;
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
}
