//! The embedded engine: a DynamoDB-compatible database on this machine, kept in a file or in memory.
//!
//! The service in the same process calls the [`Database`] directly. An [`Engine`] serves it to other programs.

mod operations;
mod port;
mod signature;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io, thread};

pub use port::Engine;
pub use signature::AccessKey;

/// Error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The file cannot be opened.
    #[error("the engine's file cannot be opened: {0}")]
    Open(String),
    /// The address is in use or not on this machine.
    #[error("cannot listen on {0}: {1}")]
    Bind(SocketAddr, io::Error),
    /// The system does not create a thread.
    #[error("the engine cannot run: {0}")]
    Run(#[from] io::Error),
}

/// Reads that several connections to a file perform concurrently. `TransactGetItems` reads at one moment, which only the writing
/// connection guarantees.
const READS: [&str; 4] = ["BatchGetItem", "GetItem", "Query", "Scan"];
/// Operations after which the tables that connections have cached may be others.
const TABLE_CHANGES: [&str; 4] = ["CreateTable", "DeleteTable", "UpdateTable", "UpdateTimeToLive"];
/// Maximum connections for reads.
const MAX_READERS: usize = 8;

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Database {
    writer: dynoxide::Database,
    readers: Option<Arc<Readers>>,
}

/// Idle connections for reads, with the number of changes of tables before they were opened. They write nothing: only one connection of
/// SQLite before 3.51.3 may write and checkpoint.
struct Readers {
    path: String,
    idle: Mutex<(u64, Vec<dynoxide::Database>)>,
}

impl Database {
    /// Opens a database in a file. Acknowledged writes survive `kill -9`. A power failure loses at most the last
    /// writes and leaves the file intact: the log is synced before each checkpoint (`synchronous=NORMAL` with WAL).
    ///
    /// Reads use further connections, one for each core, so that they wait neither for one another nor for a write.
    ///
    /// # Errors
    /// [`EngineError::Open`] if the file is not the engine's.
    pub fn in_file(path: &Path) -> Result<Self, EngineError> {
        let path = path
            .to_str()
            .ok_or_else(|| EngineError::Open("its path is not UTF-8".to_owned()))?;
        let open = || {
            let writer = dynoxide::Database::new(path)?;
            // The engine's only way to `synchronous=NORMAL`; otherwise every commit waits for the disk.
            writer.disable_bulk_loading()?;
            let readers = Readers {
                path: path.to_owned(),
                idle: Mutex::new((0, Readers::connect(path)?)),
            };
            Ok(Self {
                writer,
                readers: Some(Arc::new(readers)),
            })
        };
        open().map_err(|cause: dynoxide::DynoxideError| EngineError::Open(cause.to_string()))
    }

    /// Opens a database in memory, dropped with its last clone.
    ///
    /// # Errors
    /// [`EngineError::Open`] if there is not enough memory.
    pub fn in_memory() -> Result<Self, EngineError> {
        let writer = dynoxide::Database::memory().map_err(|cause| EngineError::Open(cause.to_string()))?;
        Ok(Self {
            writer,
            readers: None,
        })
    }

    /// Deletes expired items, as DynamoDB does within days.
    pub fn sweep(&self) {
        if let Err(cause) = self.writer.sweep_ttl() {
            tracing::warn!(%cause, "expired items could not be deleted");
        }
    }
}

impl Readers {
    fn connect(path: &str) -> Result<Vec<dynoxide::Database>, dynoxide::DynoxideError> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        (0..cores.min(MAX_READERS))
            .map(|_| dynoxide::Database::new(path))
            .collect()
    }

    fn idle(&self) -> MutexGuard<'_, (u64, Vec<dynoxide::Database>)> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs a read; `None` if all connections are in use.
    fn read(&self, operation: &str, body: &[u8]) -> Option<(u16, String)> {
        let (tables, reader) = {
            let mut idle = self.idle();
            (idle.0, idle.1.pop()?)
        };
        let answer = operations::answer(&reader, operation, body);
        let mut idle = self.idle();
        if idle.0 == tables {
            idle.1.push(reader);
        }
        Some(answer)
    }

    /// Replaces the connections, which cache the properties of tables.
    fn reconnect(&self) {
        let connected = Self::connect(&self.path);
        let mut idle = self.idle();
        // Without connections the writing one reads.
        *idle = (idle.0 + 1, connected.unwrap_or_default());
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database(…)")
    }
}

impl shared::store::embedded::EmbeddedEngine for Database {
    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let Some(readers) = &self.readers else {
            return operations::answer(&self.writer, operation, body);
        };
        let read = READS.contains(&operation).then(|| readers.read(operation, body));
        if let Some(answer) = read.flatten() {
            return answer;
        }
        let answer = operations::answer(&self.writer, operation, body);
        if TABLE_CHANGES.contains(&operation) {
            readers.reconnect();
        }
        answer
    }
}
