//! The calls of the table, and the same for tests and operators without waiting in a task.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use table::meter::{TableCall, begin};
use table::{
    CommitError, Condition, Engine, Item, Key, KeyRange, Order, Page, Scanned, Selection, StoreError,
    Transaction, Update, Work,
};

use crate::connection::{Span, lock};
use crate::writes::{self, WriteError};
use crate::{Database, reads};

const TRANSACT: &str = "TransactWriteItems";
const SCAN: &str = "Scan";
/// Pause between tries to write while another process writes, and the maximum number of tries. A task's timer rounds up to
/// 2 ms, so it waits for at most 5 s.
const PAUSE: Duration = Duration::from_millis(1);
const MAX_TRIES: u32 = 2500;
/// Pause after each transaction of a command while `serve` runs, so that requests get their turn.
const COURTESY: Duration = Duration::from_millis(2);

type Written<T> = Result<(T, f64), WriteError>;

impl Database {
    /// Whether this is a command's, which writes in bulk.
    fn is_of_command(&self) -> bool {
        self.0.lock.as_ref().is_some_and(|lock| !lock.is_of_serve())
    }

    /// Executes a read, counted as one call.
    async fn read<T>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<(T, f64)>,
    ) -> Result<T, StoreError> {
        let begun = begin();
        // So that a series of reads does not starve other tasks, and calls made together count as one trip.
        tokio::task::yield_now().await;
        let found = self.0.readers.read(&self.0.path, read);
        begun.ended(TableCall {
            operation,
            read_units: found.as_ref().map_or(0.0, |(_, units)| *units),
            write_units: 0.0,
        });
        found
            .map(|(found, _)| found)
            .map_err(|cause| failed(operation, cause))
    }

    /// Makes one attempt at a write. It is busy if another process writes.
    fn attempt<T>(&self, write: impl FnOnce(&Connection) -> Written<T>) -> Written<T> {
        let writer = lock(&self.0.writer);
        let span = Span::writing(&writer)?;
        let written = write(&writer)?;
        span.commit()?;
        self.0.checkpoints.start_if_due(&self.0.path, &self.0.writer);
        if self.is_of_command() && self.is_served() {
            thread::sleep(COURTESY);
        }
        Ok(written)
    }

    /// Like [`Self::attempt`], repeated on this thread while another process writes.
    fn write_now<T>(&self, write: impl Fn(&Connection) -> Written<T>) -> Written<T> {
        let mut tries = 1;
        loop {
            match self.attempt(&write) {
                Err(error) if error.is_busy() && tries < MAX_TRIES => thread::sleep(PAUSE),
                written => return written,
            }
            tries += 1;
        }
    }

    /// Repeats attempts at a write while another process writes, and counts them as one call.
    async fn write<T, F: Future<Output = Written<T>>>(
        &self,
        operation: &'static str,
        attempt: impl Fn() -> F,
    ) -> Result<T, WriteError> {
        let begun = begin();
        tokio::task::yield_now().await;
        let mut tries = 1;
        let written = loop {
            match attempt().await {
                Err(error) if error.is_busy() && tries < MAX_TRIES => tokio::time::sleep(PAUSE).await,
                written => break written,
            }
            tries += 1;
        };
        begun.ended(TableCall {
            operation,
            read_units: 0.0,
            write_units: written.as_ref().map_or(0.0, |(_, units)| *units),
        });
        written.map(|(written, _)| written)
    }

    async fn commit(&self, transaction: Transaction) -> Result<(), WriteError> {
        let transaction = Arc::new(transaction);
        let attempt = || async {
            let (database, transaction) = (self.clone(), Arc::clone(&transaction));
            let attempt =
                move || database.attempt(|writer| Ok(((), writes::transact(writer, &transaction)?)));
            if self.is_of_command() {
                // So that the task prepares the next transaction meanwhile.
                tokio::task::spawn_blocking(attempt)
                    .await
                    .unwrap_or(Err(WriteError::Panic))
            } else {
                attempt()
            }
        };
        self.write(TRANSACT, attempt).await
    }
}

impl Engine for Database {
    fn get_many<'a>(&'a self, keys: &'a [Key]) -> Work<'a, Result<Vec<Item>, StoreError>> {
        let operation = if keys.len() == 1 {
            "GetItem"
        } else {
            "BatchGetItem"
        };
        Box::pin(self.read(operation, move |reader| reads::get(reader, keys)))
    }

    fn query(&self, range: KeyRange, order: Order) -> Work<'_, Result<Page, StoreError>> {
        Box::pin(self.read("Query", move |reader| reads::query(reader, &range, order)))
    }

    fn transact(&self, transaction: Transaction) -> Work<'_, Result<(), CommitError>> {
        Box::pin(async {
            self.commit(transaction).await.map_err(|error| match error {
                WriteError::Refused(items) => CommitError::Refused(items),
                error => CommitError::Store(error.of(TRANSACT)),
            })
        })
    }

    fn update<'a>(
        &'a self,
        key: &'a Key,
        update: Update<'a>,
    ) -> Work<'a, Result<Option<Vec<u64>>, StoreError>> {
        let operation = if matches!(update, Update::Put(_)) {
            "PutItem"
        } else {
            "UpdateItem"
        };
        Box::pin(async move {
            let attempt = || async { self.attempt(|writer| writes::update(writer, key, &update)) };
            let written = self.write(operation, attempt).await;
            written.map_err(|error| error.of(operation))
        })
    }

    fn scan<'a>(
        &'a self,
        wanted: &'a Selection<'a>,
        after: Option<&'a Key>,
    ) -> Work<'a, Result<Scanned, StoreError>> {
        Box::pin(self.read(SCAN, move |reader| reads::scan(reader, wanted, after)))
    }

    /// The table is created when the file is.
    fn ensure(&self) -> Work<'_, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    fn max_writes(&self) -> usize {
        if self.is_served() {
            table::MAX_WRITES
        } else {
            writes::MAX_WRITES
        }
    }
}

/// The same calls without tasks.
impl Database {
    /// All items, in the order of their keys.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn items(&self) -> Result<Vec<Item>, StoreError> {
        let items = self.0.readers.read(&self.0.path, reads::all);
        items.map_err(|cause| failed(SCAN, cause))
    }

    /// An item.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        let keys = std::slice::from_ref(key);
        let read = self
            .0
            .readers
            .read(&self.0.path, |reader| reads::get(reader, keys));
        let (items, _) = read.map_err(|cause| failed("GetItem", cause))?;
        Ok(items.into_iter().next())
    }

    /// Puts an item, whatever is there.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub fn put(&self, key: &Key, item: Item) -> Result<(), StoreError> {
        let put = Update::Put(item);
        let written = self.write_now(|writer| writes::update(writer, key, &put));
        written.map(drop).map_err(|error| error.of("PutItem"))
    }

    /// Deletes an item if there is one.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let mut deletion = Transaction::default();
        deletion.delete(key.clone(), Condition::Always);
        self.commit_now(&deletion)
    }

    pub(crate) fn commit_now(&self, transaction: &Transaction) -> Result<(), StoreError> {
        let written = self.write_now(|writer| Ok(((), writes::transact(writer, transaction)?)));
        written.map(drop).map_err(|error| error.of(TRANSACT))
    }

    /// Deletes the items that expired before Unix second `now`, in small transactions. Returns their number. Blocks.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be deleted.
    pub fn sweep(&self, now: i64) -> Result<usize, StoreError> {
        let mut total = 0;
        loop {
            let swept = self.write_now(|writer| Ok((writes::sweep(writer, now)?, 0.0)));
            match swept.map_err(|error| error.of("the sweep"))? {
                (0, _) => return Ok(total),
                (deleted, _) => total += deleted,
            }
        }
    }

    /// Overwrites the bytes of deleted and replaced items in all files (C-104), some minutes after the first change, or at
    /// once. Open readers prevent the end, and then it is to be called again after a second. Returns whether nothing is left
    /// of what was deleted before the call. Blocks for about a second per GB.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read or written.
    pub fn scrub(&self, now: i64, at_once: bool) -> Result<bool, StoreError> {
        let open = &self.0;
        let scrubbed = open.scrubber.scrub(&open.path, now, at_once);
        scrubbed.map_err(|cause| failed("the overwriting of deleted bytes", cause))
    }
}

impl WriteError {
    /// Whether nothing was done because another process writes.
    fn is_busy(&self) -> bool {
        matches!(self, Self::Engine(cause) if is_busy(cause))
    }

    fn of(self, operation: &'static str) -> StoreError {
        match self {
            Self::Invalid(reason) => StoreError::Refused {
                operation,
                cause: reason.to_owned(),
            },
            Self::Engine(cause) => failed(operation, cause),
            Self::Refused(_) => StoreError::Contention(operation),
            Self::Panic => StoreError::Unavailable {
                operation,
                cause: "the writing thread panicked".to_owned(),
            },
        }
    }
}

fn is_busy(cause: &rusqlite::Error) -> bool {
    let code = cause.sqlite_error_code();
    code == Some(ErrorCode::DatabaseBusy) || code == Some(ErrorCode::DatabaseLocked)
}

fn failed(operation: &'static str, cause: rusqlite::Error) -> StoreError {
    match cause {
        cause if is_busy(&cause) => StoreError::Busy(operation),
        rusqlite::Error::FromSqlConversionFailure(..) => StoreError::Corrupt {
            key: "stored item",
            cause: cause.to_string(),
        },
        cause => StoreError::Unavailable {
            operation,
            cause: cause.to_string(),
        },
    }
}
