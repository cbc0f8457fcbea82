//! What cannot be read is set aside: it would fail with every run, and tell so every time.
//!
//! It leaves the outbox for a partition of its own as it is, with the kind of item that could not be read, which may be
//! another than itself: an automation, the call, the lead. `funil doctor` tells of it, and `--repair` puts it back, which
//! has it tried again.

use crate::store::InstanceStore;
use crate::store::error::StoreError;
use crate::store::item::{Item, s};
use crate::store::key::{Key, Keys};
use crate::store::table::key_of;
use crate::store::transaction::{CommitError, Condition, Transaction};

/// Which kind of item could not be read.
const UNREADABLE: &str = "unreadable";

impl InstanceStore {
    /// What running an item of the outbox came to: done, with nothing done, where it is set aside instead of failing.
    pub(super) async fn or_set_aside<T: Default>(
        &self,
        key: &Key,
        outcome: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Err(StoreError::Corrupt { key: unreadable, .. }) = outcome else {
            return outcome;
        };
        // The cause may quote what it could not read, and with that a person or a secret.
        let (instance, item) = (self.instance().as_str(), key.sk.as_str());
        tracing::warn!(instance, item, unreadable, "what cannot be read is set aside");
        let Some(item) = self.table.get(key).await? else {
            return Ok(T::default());
        };
        let mut transaction = Transaction::default();
        transaction.delete(key.clone(), as_read(&item));
        let mut moved = without_key(item);
        moved.insert(UNREADABLE.to_owned(), s(unreadable));
        transaction.put(self.keys().set_aside(&key.sk), moved, Condition::Always);
        match self.table.commit(transaction).await {
            // Refused: another process runs it too, and got on or set it aside.
            Ok(()) | Err(CommitError::Refused(_)) => Ok(T::default()),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}

/// Which kind of item could not be read when this one was set aside, and the writes that put it back, on condition that it
/// still is aside.
pub fn back(keys: Keys<'_>, aside: Item) -> Result<(String, Transaction), StoreError> {
    let key = key_of(&aside)?;
    let mut transaction = Transaction::default();
    transaction.delete(key.clone(), as_read(&aside));
    let mut moved = without_key(aside);
    let unreadable = moved.remove(UNREADABLE);
    let unreadable = unreadable.and_then(|kind| kind.as_s().ok().cloned());
    transaction.put(keys.put_back(&key.sk), moved, Condition::Absent);
    Ok((unreadable.unwrap_or_else(|| "item".to_owned()), transaction))
}

/// That an item is as it was read.
fn as_read(item: &Item) -> Condition {
    Condition::Exactly {
        has: item.clone(),
        lacks: Vec::new(),
    }
}

fn without_key(mut item: Item) -> Item {
    item.remove("pk");
    item.remove("sk");
    item
}
