//! The directory of a database: its file, and the lock that excludes other processes.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::{Database, DatabaseError};

const FILE: &str = "funil.db";

impl Database {
    /// Opens the database of a directory, like [`Self::in_file`]. Creates the directory and the file, readable only by
    /// their owner because they contain personal data. Other processes cannot open it until the last clone is dropped.
    ///
    /// # Errors
    /// [`DatabaseError`] if another process has opened it, or the system refuses.
    pub fn in_directory(directory: &Path) -> Result<Self, DatabaseError> {
        let error = |cause| DatabaseError::Directory {
            path: directory.to_owned(),
            cause,
        };
        let (mut directories, mut files) = (DirBuilder::new(), OpenOptions::new());
        directories.recursive(true);
        files.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            std::os::unix::fs::DirBuilderExt::mode(&mut directories, 0o700);
            std::os::unix::fs::OpenOptionsExt::mode(&mut files, 0o600);
        }
        directories.create(directory).map_err(error)?;
        let lock = files.open(directory.join("funil.lock")).map_err(error)?;
        let lock = locked(lock, directory)?;
        let file = directory.join(FILE);
        files.open(&file).map_err(error)?;
        let mut database = Self::in_file(&file)?;
        database.lock = Some(Arc::new(lock));
        Ok(database)
    }

    /// Opens the database of a directory that has one, like [`Self::in_directory`].
    ///
    /// # Errors
    /// [`DatabaseError`] also if the directory has no database.
    pub fn in_existing_directory(directory: &Path) -> Result<Self, DatabaseError> {
        if !directory.join(FILE).is_file() {
            return Err(DatabaseError::Missing(directory.to_owned()));
        }
        Self::in_directory(directory)
    }
}

/// Locks the file of a directory's lock and writes the id of this process to it.
fn locked(mut lock: File, directory: &Path) -> Result<File, DatabaseError> {
    let error = |cause| DatabaseError::Directory {
        path: directory.to_owned(),
        cause,
    };
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut process = String::new();
            let is_read = lock.read_to_string(&mut process).is_ok() && !process.is_empty();
            return Err(DatabaseError::Taken {
                path: directory.to_owned(),
                process: is_read.then_some(process),
            });
        }
        Err(TryLockError::Error(cause)) => return Err(error(cause)),
    }
    lock.set_len(0).map_err(error)?;
    write!(lock, "{}", std::process::id()).map_err(error)?;
    Ok(lock)
}
