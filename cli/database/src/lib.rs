//! The embedded database: DynamoDB's API on SQLite.
//!
//! A crate of its own, because it is compiled with more optimisation than the rest of the command: its reading and
//! writing of JSON is a part of every request.

mod direct;
mod directory;
mod large;
mod operations;
mod readers;
mod sweep;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::{fmt, io};

use dynoxide::DynoxideError;
use table::embedded::{DirectRead, DirectlyRead, DirectlyWritten, EmbeddedEngine, WriteRequest};
use tempfile::TempDir;

use crate::readers::Readers;

/// Whether SQLite was compiled with the defaults of `.cargo/config.toml`, which cargo does not read if it is started
/// elsewhere.
const HAS_DEFAULTS: bool = option_env!("LIBSQLITE3_FLAGS").is_some();

/// A database that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The engine does not open the file. Contains its reason.
    #[error("the engine's file cannot be opened: {0}")]
    File(String),
    /// The system does not create or open a file of the directory.
    #[error("{} cannot be made: {cause}; name another directory with --data DIR", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Another process has opened the directory.
    #[error(
        "another funil{} uses {}; stop it, or name another directory with --data DIR",
        process.as_deref().map_or(String::new(), |process| format!(" (process {process})")),
        path.display()
    )]
    Taken {
        /// The directory.
        path: PathBuf,
        /// Id of the other process, if known.
        process: Option<String>,
    },
    /// The directory has no database.
    #[error("{} has no database; name the directory of a funil serve with --data DIR", .0.display())]
    Missing(PathBuf),
}

impl DatabaseError {
    fn of_engine(cause: &DynoxideError) -> Self {
        Self::File(cause.to_string())
    }
}

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Database {
    // Dropped first: the last connection to close moves the log into the file, and only the engine's does.
    readers: Arc<Readers>,
    engine: dynoxide::Database,
    /// Read-locked by ordinary calls, write-locked by a large transaction. Reads see either all or nothing of each, so
    /// they need no lock.
    writing: Arc<RwLock<()>>,
    /// Excludes other processes from the directory.
    lock: Option<Arc<File>>,
    /// Deletes the files of a temporary database.
    folder: Option<Arc<TempDir>>,
}

impl Database {
    /// Opens a database in a file. Acknowledged writes survive `kill -9`. A power failure loses at most the last writes
    /// and leaves the file intact, because the log is synced before each checkpoint (`synchronous=NORMAL` with WAL).
    ///
    /// # Errors
    /// [`DatabaseError`] if the file is not the engine's.
    pub fn in_file(path: &Path) -> Result<Self, DatabaseError> {
        let name = path
            .to_str()
            .ok_or_else(|| DatabaseError::File("its path is not UTF-8".to_owned()))?;
        let open = || {
            let database = dynoxide::Database::new(name)?;
            if !HAS_DEFAULTS {
                // The engine's only way to `synchronous=NORMAL`; otherwise every commit waits for the disk. It also
                // reduces the cache to 2 MB.
                database.disable_bulk_loading()?;
            }
            Ok(database)
        };
        let engine = open().map_err(|cause| DatabaseError::of_engine(&cause))?;
        Ok(Self {
            readers: Arc::new(Readers::of(path.to_owned())),
            engine,
            writing: Arc::default(),
            lock: None,
            folder: None,
        })
    }

    /// Opens a database in a temporary folder, which is deleted with the last clone.
    ///
    /// # Errors
    /// [`DatabaseError`] if the system does not create it.
    pub fn temporary() -> Result<Self, DatabaseError> {
        let folder = tempfile::tempdir().map_err(|cause| DatabaseError::Directory {
            path: std::env::temp_dir(),
            cause,
        })?;
        let mut database = Self::in_file(&folder.path().join("temporary.db"))?;
        // Nothing has to survive, so nothing waits for the disk.
        let engine = &database.engine;
        engine
            .enable_bulk_loading()
            .map_err(|cause| DatabaseError::of_engine(&cause))?;
        database.folder = Some(Arc::new(folder));
        Ok(database)
    }

    /// Deletes the items that expired before Unix second `now`. Reads only the partitions of the table that begin with
    /// one of the prefixes.
    pub fn sweep(&self, table: &str, prefixes: &[String], now: i64) {
        for prefix in prefixes {
            if let Err(cause) = sweep::sweep(self, table, prefix, now) {
                tracing::warn!(cause, "expired items could not be deleted");
            }
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database(…)")
    }
}

impl EmbeddedEngine for Database {
    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        operations::answer(&self.engine, &self.writing, operation, body)
    }

    fn read(&self, table: &str, read: DirectRead) -> Option<DirectlyRead> {
        self.readers.read(table, &read)
    }

    fn write(&self, table: &str, writes: Vec<WriteRequest>) -> DirectlyWritten {
        direct::write(&self.engine, &self.writing, table, writes)
    }
}
