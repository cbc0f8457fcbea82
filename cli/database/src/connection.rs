//! Connections to a database file, and its form.
//!
//! Other processes may have the file open too, so nothing here relies on being alone.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::DatabaseError;

thread_local! {
    /// Pages of the log after the last commit of this thread.
    pub static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// `application_id` of the file: "Funl" in ASCII.
const APPLICATION: i32 = 0x4675_6e6c;
/// `user_version` of the file: the form of its table and of the bodies (`codec.rs`).
const FORMAT: i32 = 1;
/// Kilobytes of pages that the writing connection and each other one keep in memory.
const CACHE: i64 = 64 << 10;
pub const READERS_CACHE: i64 = 4 << 10;
/// Pause between tries while another process holds a lock, and the maximum numbers of tries.
const PAUSE: Duration = Duration::from_micros(500);
const TRIES: i32 = 10_000;
const BRIEF_TRIES: i32 = 40;

const SCHEMA: &str = "
    CREATE TABLE items (
        pk TEXT NOT NULL, sk TEXT NOT NULL, size INTEGER NOT NULL, expiry INTEGER, body BLOB NOT NULL,
        PRIMARY KEY (pk, sk)
    ) WITHOUT ROWID;
    CREATE INDEX expiring ON items (expiry) WHERE expiry IS NOT NULL;";

/// When a commit is safe from a power failure. `kill -9` never loses a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// At each commit.
    Full,
    /// After at most 32 MB of further commits.
    Normal,
    /// Never.
    Off,
}

/// Opens the connection for writing. Creates the table in an empty file.
pub fn open(path: &Path, sync: Sync) -> Result<Connection, DatabaseError> {
    let error = |cause: rusqlite::Error| match cause.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => DatabaseError::Foreign(path.to_owned()),
        _ => DatabaseError::file(path, cause),
    };
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, CACHE).map_err(error)?;
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let is_new = number("page_count").map_err(error)? == 0;
    if is_new {
        connection.pragma_update(None, "page_size", 8192).map_err(error)?;
        create(&connection).map_err(error)?;
    } else {
        check(
            path,
            number("application_id").map_err(error)?,
            number("user_version").map_err(error)?,
        )?;
    }
    set_up(&mut connection, sync).map_err(error)?;
    // The callers of writes wait in their own ways.
    connection.busy_handler(None::<fn(i32) -> bool>).map_err(error)?;
    Ok(connection)
}

fn check(path: &Path, application: i32, format: i32) -> Result<(), DatabaseError> {
    match (application, format) {
        (APPLICATION, FORMAT) => Ok(()),
        (APPLICATION, format) => Err(DatabaseError::Format {
            path: path.to_owned(),
            format,
        }),
        _ => Err(DatabaseError::Foreign(path.to_owned())),
    }
}

/// Lets the commits of a connection make no checkpoints.
fn defer_checkpoints(writer: &mut Connection) -> rusqlite::Result<()> {
    writer.wal_hook(Some(|_: &mut Wal, pages| {
        PAGES.set(pages);
        Ok(())
    }))
}

fn set_up(connection: &mut Connection, sync: Sync) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let sync = match sync {
        Sync::Full => "FULL",
        Sync::Normal => "NORMAL",
        Sync::Off => "OFF",
    };
    connection.pragma_update(None, "synchronous", sync)?;
    defer_checkpoints(connection)?;
    Ok(())
}

/// Creates the table unless another process has just created it.
fn create(connection: &Connection) -> rusqlite::Result<()> {
    let span = Span::writing(connection)?;
    let created: i32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if created == 0 {
        let form = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; {SCHEMA}");
        connection.execute_batch(&form)?;
    }
    span.commit()
}

/// Opens a connection of which SQLite waits for locks.
pub fn connect(path: &Path, access: OpenFlags, cache: i64) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_handler(Some(wait))?;
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Deleted bytes are overwritten (C-104).
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Waits for another process, for at most some seconds.
pub fn wait(tries: i32) -> bool {
    sleep(PAUSE);
    tries < TRIES
}

/// Waits for some milliseconds, because others wait meanwhile.
pub fn wait_briefly(tries: i32) -> bool {
    sleep(PAUSE);
    tries < BRIEF_TRIES
}

/// Connections for reading. Each is used by one call at a time.
#[derive(Debug, Default)]
pub struct Readers(Mutex<Vec<Connection>>);

impl Readers {
    /// Executes a read in one snapshot.
    pub fn read<T>(
        &self,
        path: &Path,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = lock(&self.0).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, READERS_CACHE)?,
        };
        // After an error the connection is closed.
        let found = read(&connection)?;
        lock(&self.0).push(connection);
        Ok(found)
    }
}

/// A transaction. Its drop rolls it back.
pub struct Span<'c>(&'c Connection);

impl<'c> Span<'c> {
    /// Begins to read one snapshot.
    pub fn reading(connection: &'c Connection) -> rusqlite::Result<Self> {
        run(connection, "BEGIN").map(|()| Self(connection))
    }

    /// Begins to write. Other writers then wait.
    pub fn writing(connection: &'c Connection) -> rusqlite::Result<Self> {
        run(connection, "BEGIN IMMEDIATE").map(|()| Self(connection))
    }

    pub fn commit(self) -> rusqlite::Result<()> {
        run(self.0, "COMMIT")
    }
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        // Otherwise it is committed, or SQLite has rolled it back.
        if !self.0.is_autocommit() {
            let _ = run(self.0, "ROLLBACK");
        }
    }
}

fn run(connection: &Connection, statement: &'static str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

/// Locks a mutex, also after a panic of another holder, whose transaction was rolled back by its drop.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
