//! Copies of a database while others write it.

use std::fs;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connection::{READERS_CACHE, Span, connect};
use crate::directory::private_new;
use crate::{Database, DatabaseError};

/// Pages copied at a time.
const STEP: i32 = 1024;

impl Database {
    /// Copies the last commit into a new file that only its owner reads. Writers go on meanwhile. As `funil.db` of a
    /// directory the copy is a database.
    ///
    /// # Errors
    /// [`DatabaseError`] if the file exists or cannot be written.
    pub fn backup(&self, file: &Path) -> Result<(), DatabaseError> {
        private_new(file).map_err(|cause| DatabaseError::Backup {
            path: file.to_owned(),
            cause,
        })?;
        copy(&self.0.path, file).map_err(|cause| {
            // An incomplete copy is no backup.
            let _ = fs::remove_file(file);
            DatabaseError::file(file, cause)
        })
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
    Ok(())
}
