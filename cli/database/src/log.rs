//! Checkpoints: moving the log into the file.
//!
//! A checkpoint waits for the disk. By itself SQLite makes it in the commit that fills the log, and all other writers
//! wait too. Here a thread makes it while writers go on.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use rusqlite::hooks::Wal;
use rusqlite::{Connection, OpenFlags};

use crate::connection::{READERS_CACHE, connect, wait_briefly};

/// Pages by which the log grows between two checkpoints: 32 MB.
const GROWTH: i32 = 4096;
/// Pages of the log (128 MB) from which the end of a checkpoint stops writers, so that the log starts anew.
const MAX_LOG: i32 = 16 << 10;

thread_local! {
    /// Pages of the log after the last commit of this thread.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// Lets the commits of a connection make no checkpoints.
pub fn defer(writer: &mut Connection) -> rusqlite::Result<()> {
    writer.wal_hook(Some(|_: &mut Wal, pages| {
        PAGES.set(pages);
        Ok(())
    }))
}

/// The checkpoints of a database.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// Pages of the log at the beginning of the last checkpoint, or after its first commit since it started anew.
    last: AtomicI32,
    is_running: Arc<AtomicBool>,
}

impl Checkpoints {
    /// Starts a checkpoint if the log has grown enough, after a commit of this thread.
    pub fn start_if_due(&self, path: &Path) {
        let pages = PAGES.get();
        let last = self.last.fetch_min(pages, Ordering::Relaxed);
        if pages - last < GROWTH || self.is_running.swap(true, Ordering::Relaxed) {
            return;
        }
        self.last.store(pages, Ordering::Relaxed);
        let (path, is_running) = (path.to_owned(), Arc::clone(&self.is_running));
        let checkpoint = move || {
            // A failure is repeated after further commits.
            let _ = checkpoint(&path, pages >= MAX_LOG);
            is_running.store(false, Ordering::Relaxed);
        };
        let thread = thread::Builder::new().name("checkpoint".to_owned());
        if thread.spawn(checkpoint).is_err() {
            self.is_running.store(false, Ordering::Relaxed);
        }
    }
}

/// Moves the log, then what was written meanwhile. The log starts anew if that is all.
fn checkpoint(path: &Path, stops_writers: bool) -> rusqlite::Result<()> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, READERS_CACHE)?;
    connection.busy_handler(Some(wait_briefly))?;
    let last = if stops_writers { "RESTART" } else { "PASSIVE" };
    for mode in ["PASSIVE", "PASSIVE", last] {
        let is_all = |row: &rusqlite::Row<'_>| Ok(row.get::<_, i32>(1)? == row.get::<_, i32>(2)?);
        let statement = format!("PRAGMA wal_checkpoint({mode})");
        if connection.query_row(&statement, [], is_all)? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use table::{Item, Key};

    use super::*;
    use crate::Database;

    #[test]
    fn a_checkpoint_starts_after_each_growth_of_the_log() {
        let checkpoints = Checkpoints::default();
        for (pages, last) in [
            (GROWTH - 1, 0),
            (GROWTH, GROWTH),
            (2 * GROWTH - 1, GROWTH),
            (2 * GROWTH, 2 * GROWTH),
            // The log has started anew.
            (10, 10),
            (GROWTH + 9, 10),
            (GROWTH + 10, GROWTH + 10),
        ] {
            while checkpoints.is_running.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            PAGES.set(pages);
            // Its thread finds no file, which does not matter here.
            checkpoints.start_if_due(Path::new("/none"));
            assert_eq!(checkpoints.last.load(Ordering::Relaxed), last, "{pages}");
        }
    }

    #[test]
    fn the_log_starts_anew_after_a_checkpoint() {
        let database = Database::temporary().unwrap();
        for stops_writers in [false, true] {
            for number in 0..200 {
                let key = Key::new(stops_writers.to_string(), number.to_string());
                database.put(&key, Item::new()).unwrap();
            }
            assert!(PAGES.get() >= 200);
            checkpoint(&database.0.path, stops_writers).unwrap();
            database
                .put(&Key::new(stops_writers.to_string(), "more"), Item::new())
                .unwrap();
            assert!(PAGES.get() < 10, "{}", PAGES.get());
        }
    }
}
