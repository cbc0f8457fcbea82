//! Quarantine for items that background work cannot read, so that each fails once and blocks nothing (C-87).
//!
//! The item moves from its partition to that of [work set aside](key::aside_key), with the kind of the unreadable item,
//! which may be another one: an automation, call or lead that it needs. The same happens if the work would write an item
//! that DynamoDB rejects as too large. `funil queue` lists it and `funil doctor` reports it; `--run` and `--repair` move
//! it back to be retried. The partition also contains notifications that were given up; those lack [`UNREADABLE`].
//!
//! A stale marker that names its lead never moves, because readers depend on it. An unreadable marker is renewed. A
//! marker of copies that cannot be refreshed keeps the version at which this was found (see `jobs::copies`).

use super::key::{self, Key};
use super::{Reader, Writer};
use table::item::{self, Item, s};
use table::key_of;
use table::{Condition, OVERSIZE, StoreError, Transaction};

/// Attribute with the kind of the unreadable item, or [`OVERSIZE`].
pub const UNREADABLE: &str = "unreadable";

impl Writer {
    /// Returns the outcome of work on the item at `key`. If a retry cannot overcome the failure, moves the item to
    /// quarantine and returns the default.
    pub(crate) async fn or_quarantine<T: Default>(
        &self,
        key: &Key,
        outcome: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // The kind of the item that could not be read, which may be another item than the one at `key`.
        let Some(unreadable) = outcome.as_ref().err().and_then(StoreError::lasting) else {
            return outcome;
        };
        self.reader
            .log_unreadable(key, unreadable, "an item is set aside");
        let Some(item) = self.reader.table.get(key).await? else {
            return Ok(T::default());
        };
        let mut transaction = Transaction::default();
        transaction.delete(key.clone(), as_read(&item));
        let mut moved = without_key(item);
        moved.insert(UNREADABLE.to_owned(), s(unreadable));
        transaction.put(key::aside_key(key), moved, Condition::Always);
        // A failed condition means that another process completed or moved the item.
        self.table.try_commit(transaction).await?;
        Ok(T::default())
    }
}

impl Reader {
    /// Logs the item and the kind that could not be read. The cause is omitted, because it may quote personal data or
    /// a secret.
    pub(crate) fn log_unreadable(&self, key: &Key, unreadable: &str, what: &str) {
        let (instance, item) = (self.instance().as_str(), key.to_string());
        tracing::warn!(instance, item, unreadable, "{what}");
    }
}

/// The first unreadable item among several; the others are still processed.
#[derive(Debug, Default)]
pub struct Unreadable(Option<StoreError>);

impl Unreadable {
    /// Records and logs the outcome of work on the item at `key`.
    ///
    /// # Errors
    /// Every [`StoreError`] that a retry may overcome.
    pub fn note(
        &mut self,
        reader: &Reader,
        key: &Key,
        outcome: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match outcome {
            Err(error) => self.keep_if_lasting(reader, key, error),
            Ok(()) => Ok(()),
        }
    }

    /// Logs an error and keeps the first one; returns an error that a retry may overcome.
    fn keep_if_lasting(&mut self, reader: &Reader, key: &Key, error: StoreError) -> Result<(), StoreError> {
        let Some(unreadable) = error.lasting() else {
            return Err(error);
        };
        reader.log_unreadable(key, unreadable, "an item cannot be read or written");
        self.0.get_or_insert(error);
        Ok(())
    }

    /// Whether all items could be read and written.
    ///
    /// # Errors
    /// The first recorded error.
    pub fn result(self) -> Result<(), StoreError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// The kind that could not be read when an item moved to quarantine. `None` if it was set aside for another reason.
#[must_use]
pub fn unreadable(aside: &Item) -> Option<&str> {
    let kind = aside.get(UNREADABLE)?;
    Some(kind.as_s().map_or("item", String::as_str))
}

/// The writes that move an item back that [`Writer::or_quarantine`] moved. They require that the item is still in
/// quarantine as it was read, and that its original key is free.
pub fn back(quarantined: Item) -> Result<Transaction, StoreError> {
    let key = key_of(&quarantined)?;
    let original =
        key::original_key(&key).ok_or_else(|| item::corrupt("item set aside", "its key names no item"))?;
    let mut transaction = Transaction::default();
    transaction.delete(key, as_read(&quarantined));
    let mut moved = without_key(quarantined);
    moved.remove(UNREADABLE);
    transaction.put(original, moved, Condition::Absent);
    Ok(transaction)
}

/// Why work is in quarantine or stuck, by the recorded kind.
#[must_use]
pub fn reason(unreadable: &str) -> String {
    if unreadable == OVERSIZE {
        return "an item would be larger than 400 KB".to_owned();
    }
    format!("the {unreadable} could not be read")
}

/// The condition that an item is unchanged.
pub fn as_read(item: &Item) -> Condition {
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
