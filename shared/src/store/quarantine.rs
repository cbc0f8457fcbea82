//! Quarantine: where background work moves what it cannot read, so that it fails once and holds up nothing else (C-87).
//!
//! The item leaves its partition for `<partition>-aside`, under the same sort key, with the kind of item that could not be
//! read. That may be another item than itself: the automation, call or lead that it needs. `funil doctor` reports it, and
//! `--repair` moves it back, so that it is tried again.
//!
//! A notice that names its lead never leaves its partition, because readers depend on it: it is renewed, or keeps the
//! version at which its lead could not be brought up to date (see [`copies`](super::copies)).

use super::Reader;
use super::key::{self, Key};
use table::StoreError;
use table::item::{Item, s};
use table::key_of;
use table::{Condition, Transaction};

/// Which kind of item could not be read.
pub const UNREADABLE: &str = "unreadable";

impl Reader {
    /// The outcome of work on an item; the default where the item is moved to quarantine instead of failing.
    pub(crate) async fn or_set_aside<T: Default>(
        &self,
        key: &Key,
        outcome: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Err(StoreError::Corrupt { key: unreadable, .. }) = outcome else {
            return outcome;
        };
        self.log_unreadable(key, unreadable, "an item is set aside");
        let Some(item) = self.table.get(key).await? else {
            return Ok(T::default());
        };
        let mut transaction = Transaction::default();
        transaction.delete(key.clone(), as_read(&item));
        let mut moved = without_key(item);
        moved.insert(UNREADABLE.to_owned(), s(unreadable));
        transaction.put(key::aside(key), moved, Condition::Always);
        // Where it is refused, another process runs it too, and got on or set it aside.
        self.table.try_commit(transaction).await?;
        Ok(T::default())
    }

    /// Logs which item was worked on and what could not be read for it. The cause may quote what it could not read, and
    /// with that a person or a secret, so it is left out.
    pub(crate) fn log_unreadable(&self, key: &Key, unreadable: &str, what: &str) {
        let (instance, item) = (self.instance().as_str(), key.to_string());
        tracing::warn!(instance, item, unreadable, "{what}");
    }
}

/// The first unreadable item among several that are worked on one after the other: the others are done all the same.
#[derive(Debug, Default)]
pub struct Unreadable(Option<StoreError>);

impl Unreadable {
    /// Notes and logs the outcome of work on the item at `key`.
    ///
    /// # Errors
    /// Every [`StoreError`] but [`StoreError::Corrupt`].
    pub fn note(
        &mut self,
        reader: &Reader,
        key: &Key,
        outcome: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match outcome {
            Err(error) => self.keep(reader, key, error),
            Ok(()) => Ok(()),
        }
    }

    fn keep(&mut self, reader: &Reader, key: &Key, error: StoreError) -> Result<(), StoreError> {
        let StoreError::Corrupt { key: unreadable, .. } = &error else {
            return Err(error);
        };
        reader.log_unreadable(key, unreadable, "an item cannot be read");
        self.0.get_or_insert(error);
        Ok(())
    }

    /// # Errors
    /// The first of those that were noted.
    pub fn result(self) -> Result<(), StoreError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Which kind of item could not be read when this one was set aside, and the writes that move it back, on condition that
/// it is still aside.
pub fn back(aside: Item) -> Result<(String, Transaction), StoreError> {
    let key = key_of(&aside)?;
    let mut transaction = Transaction::default();
    transaction.delete(key.clone(), as_read(&aside));
    let mut moved = without_key(aside);
    let unreadable = moved.remove(UNREADABLE);
    let unreadable = unreadable.and_then(|kind| kind.as_s().ok().cloned());
    transaction.put(key::put_back(&key), moved, Condition::Absent);
    Ok((unreadable.unwrap_or_else(|| "item".to_owned()), transaction))
}

/// That an item is as it was read.
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
