//! Copies of a database while others write it.

use std::io;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, ffi};
use tempfile::Builder;

use crate::connection::{READERS_CACHE, Span, connect};
use crate::{Database, DatabaseError};

/// Pages copied at a time.
const STEP: i32 = 1024;

impl Database {
    /// Copies the last commit into a new file that only its owner reads. Writers go on meanwhile. As `funil.db` of a
    /// directory the copy is a database. It gets its name when it is whole and readable.
    ///
    /// # Errors
    /// [`DatabaseError`] if the file exists or cannot be written, or the database is damaged.
    pub fn backup(&self, file: &Path) -> Result<(), DatabaseError> {
        let refused = |cause: io::Error| DatabaseError::Backup {
            path: file.to_owned(),
            cause,
        };
        if file.exists() {
            return Err(refused(io::ErrorKind::AlreadyExists.into()));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let part = Builder::new()
            .prefix(".funil-backup")
            .tempfile_in(folder.unwrap_or(Path::new(".")));
        let part = part.map_err(refused)?.into_temp_path();
        copy(&self.0.path, &part).map_err(|cause| refused(io::Error::other(cause)))?;
        part.persist_noclobber(file)
            .map_err(|failed| refused(failed.error))
    }
}

fn copy(from: &Path, to: &Path) -> rusqlite::Result<()> {
    let source = connect(from, OpenFlags::SQLITE_OPEN_READ_ONLY, READERS_CACHE)?;
    // The snapshot of the first read lasts, so that a commit does not start the copy anew.
    let _span = Span::reading(&source)?;
    source.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mut target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let backup = Backup::new(&source, &mut target)?;
    while backup.step(STEP)? != StepResult::Done {}
    drop(backup);
    let verdict: String = target.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" {
        Ok(())
    } else {
        Err(damaged(verdict))
    }
}

/// A damage that SQLite has found.
fn damaged(verdict: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(verdict))
}
