//! Checkpoints: moving the log into the file.
//!
//! A checkpoint waits for the disk. By itself SQLite makes it in the commit that fills the log, and all other writers
//! wait too. Here a thread makes it while writers go on.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, OpenFlags};

use crate::connection::{PAGES, READERS_CACHE, connect, lock, wait_briefly};

/// Pages by which the log grows between two checkpoints: 32 MB.
const GROWTH: i32 = 4096;
/// Pages of the log (128 MB) from which the end of a checkpoint stops writers, so that the log starts anew.
const MAX_LOG: i32 = 16 << 10;

/// The checkpoints of a database.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// Pages of the log at the beginning of the last checkpoint, or after its first commit since it started anew.
    last: AtomicI32,
    is_running: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Checkpoints {
    /// Starts a checkpoint if the log has grown enough, after a commit of this thread.
    pub fn start_if_due(&self, path: &Path, writer: &Arc<Mutex<Connection>>) {
        let pages = PAGES.get();
        let last = self.last.fetch_min(pages, Ordering::Relaxed);
        if pages - last < GROWTH || self.is_running.swap(true, Ordering::Relaxed) {
            return;
        }
        self.last.store(pages, Ordering::Relaxed);
        let (path, is_running) = (path.to_owned(), Arc::clone(&self.is_running));
        let writer = (pages >= MAX_LOG).then(|| Arc::clone(writer));
        let checkpoint = move || {
            // A failure is repeated after further commits.
            let _ = checkpoint(&path, writer.as_deref());
            is_running.store(false, Ordering::Relaxed);
        };
        let thread = thread::Builder::new().name("checkpoint".to_owned());
        match thread.spawn(checkpoint) {
            Ok(thread) => *lock(&self.thread) = Some(thread),
            Err(_) => self.is_running.store(false, Ordering::Relaxed),
        }
    }
}

/// Waits for a checkpoint, whose connection would otherwise be the last one, so that the log would remain.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

/// Moves the log, then what was written meanwhile. With a writer, whose transactions then wait, the log starts anew. The
/// number of frames that SQLite returns is that of a checkpoint's beginning, so it does not show whether more were written.
fn checkpoint(path: &Path, writer: Option<&Mutex<Connection>>) -> rusqlite::Result<()> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, READERS_CACHE)?;
    connection.busy_handler(Some(wait_briefly))?;
    let run = |mode| connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    run("PASSIVE")?;
    run("PASSIVE")?;
    let Some(writer) = writer else { return Ok(()) };
    let _waits = lock(writer);
    run("RESTART")
}

#[cfg(test)]
mod tests {
    use table::item::n;
    use table::{Item, Key};

    use super::*;
    use crate::Database;

    #[test]
    fn a_checkpoint_starts_after_each_growth_of_the_log() {
        let checkpoints = Checkpoints::default();
        let writer = Arc::new(Mutex::new(Connection::open_in_memory().unwrap()));
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
            checkpoints.start_if_due(Path::new("/none"), &writer);
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
            checkpoint(&database.0.path, stops_writers.then_some(&*database.0.writer)).unwrap();
            database
                .put(&Key::new(stops_writers.to_string(), "more"), Item::new())
                .unwrap();
            assert!(PAGES.get() < 10, "{}", PAGES.get());
        }
    }

    /// Also while others write and read without a pause.
    #[test]
    fn the_log_starts_anew_under_load() {
        const LIMIT: i32 = 8 * MAX_LOG;
        let database = Database::temporary().unwrap();
        let is_done = AtomicBool::new(false);
        let changes = AtomicI32::new(0);
        // An equal item would write nothing.
        let change = |sort_key: &str| {
            let number = changes.fetch_add(1, Ordering::Relaxed);
            let item = Item::from([("number".to_owned(), n(number))]);
            database.put(&Key::new("key", sort_key), item).unwrap();
        };
        thread::scope(|scope| {
            for number in ["1", "2"] {
                let (change, database, is_done) = (&change, &database, &is_done);
                scope.spawn(move || {
                    while !is_done.load(Ordering::Relaxed) {
                        change(number);
                        database.get(&Key::new("key", number)).unwrap();
                    }
                });
            }
            let starts_anew = || {
                let mut last = 0;
                while (last..LIMIT).contains(&PAGES.get()) {
                    last = PAGES.get();
                    change("3");
                }
                PAGES.get() < last
            };
            let started = [starts_anew(), starts_anew()];
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(started, [true; 2]);
        });
    }
}
