//! The embedded engine: the table in a file of SQLite, for `funil serve` and for commands with `--data`.
//!
//! One connection writes and several read, each in snapshots. Other processes may do the same at the same time: SQLite
//! locks between processes, and a writer that finds the file locked tries again.

mod backup;
mod codec;
mod connection;
mod directory;
mod engine;
mod log;
mod number;
mod reads;
mod rules;
mod scrub;
#[cfg(test)]
mod tests;
mod writes;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fmt, io};

use rusqlite::Connection;
use tempfile::TempDir;

pub use connection::Sync;
pub use directory::is_served;

use crate::connection::Readers;
use crate::directory::Lock;
use crate::log::Checkpoints;
use crate::scrub::Scrubber;

const FILE: &str = "funil.db";

/// A database that cannot be opened or copied.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite does not open or copy the file.
    #[error("{} cannot be opened: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        cause: rusqlite::Error,
    },
    /// The file is not of this engine.
    #[error(
        "{} is not a database of this build; export its instances with the build that wrote it, and import them with this one into another directory",
        .0.display()
    )]
    Foreign(PathBuf),
    /// The file has another form.
    #[error(
        "{} has form {format}, which this build does not read; export its instances with the build that wrote it, and import them with this one into another directory",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its form.
        format: i32,
    },
    /// The system does not create or open the directory or a file in it.
    #[error(
        "{} cannot be opened or made: {cause}; check its owner and permissions, or name another directory with --data DIR",
        path.display()
    )]
    Directory {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Another `funil serve` uses the directory.
    #[error(
        "another funil serve{} uses {}; stop it, or name another directory with --data DIR",
        process.as_deref().map_or(String::new(), |process| format!(" (process {process})")),
        path.display()
    )]
    Taken {
        /// The directory.
        path: PathBuf,
        /// Id of the other process, if known.
        process: Option<String>,
    },
    /// A `funil serve` of another kernel, such as that of a container, uses the directory.
    #[error(
        "a funil serve on another kernel (host {host}) uses {}; run it where serve runs: docker compose exec funil funil …; if that serve was killed, try again in 30 seconds",
        path.display()
    )]
    Elsewhere {
        /// The directory.
        path: PathBuf,
        /// The other host's name.
        host: String,
    },
    /// The directory has no database.
    #[error("{} has no database; name the directory of a funil serve with --data DIR", .0.display())]
    Missing(PathBuf),
    /// The system does not create the file of a backup.
    #[error("the backup {} cannot be made: {cause}; name another file", path.display())]
    Backup {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

impl DatabaseError {
    fn directory(path: &Path, cause: io::Error) -> Self {
        let path = path.to_owned();
        Self::Directory { path, cause }
    }

    fn file(path: &Path, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        Self::File { path, cause }
    }
}

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Database(Arc<Open>);

/// The fields are dropped in this order: the last connection to be closed moves the log into the file, which only the
/// writing one can do.
struct Open {
    readers: Readers,
    scrubber: Scrubber,
    checkpoints: Checkpoints,
    writer: Arc<Mutex<Connection>>,
    path: PathBuf,
    /// `None` for a temporary database.
    lock: Option<Lock>,
    /// Deletes the files of a temporary database.
    _folder: Option<TempDir>,
}

impl Database {
    /// Opens the database of a directory for `funil serve` at Unix second `now`, and excludes others. Creates the
    /// directory and the file, readable only by their owner because they contain personal data.
    ///
    /// # Errors
    /// [`DatabaseError`] if another `serve` uses it, the file has another form, or the system refuses.
    pub fn serve_directory(directory: &Path, sync: Sync, now: i64) -> Result<Self, DatabaseError> {
        directory::create(directory)?;
        Self::in_directory(directory, sync, Lock::serve(directory, now)?)
    }

    /// Opens the database of a directory for a command, which may run concurrently with `funil serve` and other commands.
    ///
    /// # Errors
    /// [`DatabaseError`] if there is none, the file has another form, or `serve` runs on another kernel.
    pub fn open_directory(directory: &Path, now: i64) -> Result<Self, DatabaseError> {
        let file = directory.join(FILE);
        match file.metadata() {
            Ok(metadata) if metadata.len() > 0 => {}
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                return Err(DatabaseError::directory(&file, cause));
            }
            _ => return Err(DatabaseError::Missing(directory.to_owned())),
        }
        Self::create_directory(directory, now)
    }

    /// Like [`Self::open_directory`]. Creates the directory and the file if there are none.
    ///
    /// # Errors
    /// [`DatabaseError`] as there, or if the system refuses.
    pub fn create_directory(directory: &Path, now: i64) -> Result<Self, DatabaseError> {
        directory::create(directory)?;
        Self::in_directory(directory, Sync::Normal, Lock::command(directory, now)?)
    }

    /// Opens a database in a temporary directory, which is deleted with the last clone.
    ///
    /// # Errors
    /// [`DatabaseError`] if the system does not create it.
    pub fn temporary() -> Result<Self, DatabaseError> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|cause| DatabaseError::directory(&std::env::temp_dir(), cause))?;
        Self::open(folder.path().join(FILE), Sync::Off, None, Some(folder))
    }

    fn in_directory(directory: &Path, sync: Sync, lock: Lock) -> Result<Self, DatabaseError> {
        let path = directory.join(FILE);
        Self::open(path, sync, Some(lock), None)
    }

    fn open(
        path: PathBuf,
        sync: Sync,
        lock: Option<Lock>,
        folder: Option<TempDir>,
    ) -> Result<Self, DatabaseError> {
        directory::private(&path).map_err(|cause| DatabaseError::directory(&path, cause))?;
        Ok(Self(Arc::new(Open {
            readers: Readers::default(),
            scrubber: Scrubber::default(),
            writer: Arc::new(Mutex::new(connection::open(&path, sync)?)),
            checkpoints: Checkpoints::default(),
            path,
            lock,
            _folder: folder,
        })))
    }

    /// Whether a `funil serve` uses the directory, in this process or another.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.0.lock.as_ref().is_some_and(Lock::is_served)
    }

    /// Since which Unix second bytes that were deleted or replaced may still be in the files, if `funil serve` runs. It
    /// overwrites them some minutes later; open readers delay that.
    #[must_use]
    pub fn unscrubbed_since(&self) -> Option<i64> {
        self.0.lock.as_ref().and_then(Lock::unscrubbed)
    }

    /// Shows other processes that `serve` is running at Unix second `now`. To be called each second.
    ///
    /// # Errors
    /// The system's error.
    pub fn renew(&self, now: i64) -> io::Result<()> {
        let Some(lock) = &self.0.lock else { return Ok(()) };
        lock.renew(now, self.0.scrubber.since())
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database(…)")
    }
}
