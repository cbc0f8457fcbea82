//! Overwriting of deleted bytes (C-104).
//!
//! `secure_delete` overwrites deleted rows and pages. Two kinds of copies remain: earlier versions of pages in the log,
//! which a truncating checkpoint deletes, and copies in the unused middle of pages. When SQLite distributes the rows of a
//! full page over several, it leaves their bytes in the former place, and their deletion later does not reach these. So
//! a pass over the file overwrites these gaps, and then the log is truncated.

use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::{Connection, OpenFlags};

use crate::connection::{Span, connect, lock, wait, wait_briefly};

/// Seconds from a change until the pass that follows it.
const DELAY: i64 = 240;
/// Pages read in one snapshot, and written in one transaction.
const READ: u32 = 256;
const WRITTEN: usize = 64;
/// From this number of pages on (268 GB), an overflow page could begin like a page of rows.
const MAX_PAGES: u32 = 1 << 25;
/// Kilobytes of pages that the connection keeps in memory.
const CACHE: i64 = 1 << 10;

/// The state of the passes.
#[derive(Debug, Default)]
pub struct Scrubber {
    passes: Mutex<Passes>,
    /// Unix second of the first change since the last complete pass; 0 if there is none.
    since: AtomicI64,
}

#[derive(Debug, Default)]
struct Passes {
    connection: Option<Connection>,
    /// Whether the last pass was complete and nothing changed meanwhile.
    is_clean: bool,
    /// A pass with a checkpoint that readers prevented: the version of the file and the time of its beginning.
    incomplete: Option<(i64, i64)>,
}

impl Scrubber {
    /// Since when overwritten bytes are in the files; 0 if there are none.
    pub fn since(&self) -> i64 {
        self.since.load(Ordering::Relaxed)
    }

    /// Makes a pass [`DELAY`] after a change, or at once. Repeats only the checkpoint if readers prevented that. Returns
    /// whether nothing is left of what was deleted before the pass.
    pub fn scrub(&self, path: &Path, now: i64, at_once: bool) -> rusqlite::Result<bool> {
        let Passes {
            connection,
            is_clean,
            incomplete,
        } = &mut *lock(&self.passes);
        if *is_clean && has_empty_log(path) {
            return Ok(true);
        }
        *is_clean = false;
        // A clock that was set back would delay the pass until it is there again.
        if self.since() == 0 || self.since() > now {
            self.since.store(now, Ordering::Relaxed);
        }
        let connection = match connection {
            Some(connection) => connection,
            None => connection.insert(connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, CACHE)?),
        };
        let (version, begun) = match *incomplete {
            Some(pass) if !at_once => pass,
            _ if at_once || now - self.since() >= DELAY => {
                let pass = (version_of(connection)?, now);
                clear_gaps(connection)?;
                pass
            }
            _ => return Ok(false),
        };
        *incomplete = Some((version, begun));
        *is_clean = version_of(connection)? == version;
        if !truncate(connection)? {
            *is_clean = false;
            return Ok(false);
        }
        *incomplete = None;
        self.since
            .store(if *is_clean { 0 } else { begun }, Ordering::Relaxed);
        Ok(true)
    }
}

/// Whether nothing was written since the log was truncated. Other checkpoints do not shorten it.
fn has_empty_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() == 0)
}

/// A number that changes with each commit of another connection.
fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0))
}

/// Moves the log into the file and deletes its content. Returns whether it did; open readers prevent that.
fn truncate(connection: &mut Connection) -> rusqlite::Result<bool> {
    connection.busy_handler(Some(wait_briefly))?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        Ok(row.get::<_, i32>(0)? == 0)
    })
}

/// Overwrites the gaps of all pages.
fn clear_gaps(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(wait))?;
    let count: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let count = count.min(MAX_PAGES);
    for first in (1..=count).step_by(READ as usize) {
        let span = Span::reading(connection)?;
        let mut found = Vec::new();
        for number in first..(first + READ).min(count + 1) {
            found.extend(page(connection, number)?.map(|_| number));
        }
        drop(span);
        for numbers in found.chunks(WRITTEN) {
            let span = Span::writing(connection)?;
            for number in numbers {
                // Another writer may have changed it.
                if let Some((mut page, gap)) = page(connection, *number)? {
                    page[gap].fill(0);
                    let mut update =
                        connection.prepare_cached("UPDATE sqlite_dbpage SET data = ?1 WHERE pgno = ?2")?;
                    update.execute((page, number))?;
                }
            }
            span.commit()?;
        }
    }
    Ok(())
}

/// A page and its gap, if that contains anything.
fn page(connection: &Connection, number: u32) -> rusqlite::Result<Option<(Vec<u8>, Range<usize>)>> {
    let mut read = connection.prepare_cached("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let mut rows = read.query([number])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let bytes = row.get_ref(0)?.as_blob()?;
    let gap = gap(bytes, if number == 1 { 100 } else { 0 });
    let gap = gap.filter(|gap| bytes[gap.clone()].iter().any(|byte| *byte != 0));
    Ok(gap.map(|gap| (bytes.to_vec(), gap)))
}

/// The unused middle of a page of rows, between the addresses of its rows and the rows. `header` is the address of its
/// header (<https://sqlite.org/fileformat2.html>).
fn gap(page: &[u8], header: usize) -> Option<Range<usize>> {
    let number = |at: usize| {
        Some(usize::from(u16::from_be_bytes(
            page.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    let addresses = header
        + match page.get(header)? {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => return None,
        };
    let gap = addresses + 2 * number(header + 3)?..number(header + 5)?;
    (gap.start < gap.end && gap.end <= page.len()).then_some(gap)
}
