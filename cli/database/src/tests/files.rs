//! Files: other processes, expiry, overwriting of deleted bytes, backups, and files of other programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

use super::*;

fn serve(directory: &Path) -> Database {
    Database::serve_directory(directory, Sync::Normal, NOW).unwrap()
}

fn command(directory: &Path) -> Database {
    Database::open_directory(directory, NOW).unwrap()
}

#[tokio::test]
async fn processes_write_the_same_file_and_lose_nothing() {
    let folder = tempdir().unwrap();
    let (one, other) = (serve(folder.path()), command(folder.path()));
    let adder = |database: Database| {
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .unwrap();
            for _ in 0..100 {
                let mut addition = Transaction::default();
                addition.update(key("sum"), "n", 1, Item::new(), Condition::Always);
                runtime.block_on(database.transact(addition)).unwrap();
            }
        }
    };
    let adders = [&one, &other, &one, &other].map(|database| thread::spawn(adder(database.clone())));
    for adder in adders {
        adder.join().unwrap();
    }
    assert_eq!(one.get(&key("sum")).unwrap().unwrap()["n"], n(400));
    assert_eq!(other.items().unwrap(), one.items().unwrap());
}

#[test]
fn a_second_serve_is_refused_and_a_command_is_not() {
    let folder = tempdir().unwrap();
    assert!(matches!(
        Database::open_directory(folder.path(), NOW),
        Err(DatabaseError::Missing(_))
    ));
    let directory = folder.path().join("new");
    let first = Database::create_directory(&directory, NOW).unwrap();
    assert_eq!((first.is_served(), first.max_writes()), (false, 5000));
    let served = serve(&directory);
    assert_eq!((first.is_served(), first.max_writes()), (true, 100));
    let second = Database::serve_directory(&directory, Sync::Normal, NOW);
    assert!(matches!(second, Err(DatabaseError::Taken { .. })));
    drop(served);
    assert!(!first.is_served());
    serve(&directory);
}

/// Personal data is in all of them.
#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempdir().unwrap();
    let directory = folder.path().join("new");
    let database = serve(&directory);
    database.put(&key("a"), Item::new()).unwrap();
    database.backup(&directory.join("copy")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| mode(&entry.unwrap().path()));
    // With log, its index, lock and copy.
    assert_eq!(
        (mode(&directory), files.collect::<Vec<_>>()),
        (0o700, vec![0o600; 5])
    );
}

/// A writer of another process that does not end is reported as busy.
#[tokio::test(start_paused = true)]
async fn a_write_that_never_gets_its_turn_is_busy() {
    let folder = tempdir().unwrap();
    let database = serve(folder.path());
    let other = Connection::open(folder.path().join("funil.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = || put(key("a"), Item::new(), Condition::Always);
    let busy = tokio::time::timeout(Duration::from_secs(5), database.transact(write())).await;
    assert!(
        matches!(busy, Ok(Err(CommitError::Store(StoreError::Busy(_))))),
        "{busy:?}"
    );
    other.execute_batch("ROLLBACK").unwrap();
    database.transact(write()).await.unwrap();
}

#[test]
fn the_sweep_deletes_what_has_expired() {
    let database = Database::temporary().unwrap();
    let mut all = Transaction::default();
    for number in 0..500 {
        let expiry = NOW - 1 + number % 2;
        all.put(
            key(&format!("{number:03}")),
            item([("ttl", n(expiry))]),
            Condition::Always,
        );
    }
    all.put(key("text"), item([("ttl", s("1"))]), Condition::Always);
    all.put(key("none"), Item::new(), Condition::Always);
    database.commit_now(&all).unwrap();
    assert_eq!(database.sweep(NOW).unwrap(), 250);
    assert_eq!(database.items().unwrap().len(), 252);
    assert_eq!(database.sweep(NOW).unwrap(), 0);
    // A rewritten item has its new expiry.
    database.put(&key("001"), item([("ttl", n(NOW + 9))])).unwrap();
    database.put(&key("003"), Item::new()).unwrap();
    assert_eq!(database.sweep(NOW + 1).unwrap(), 248);
}

/// Numbers that look random, for sizes and orders.
fn scrambled(number: usize) -> usize {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
}

const MARKER: &str = "Maria Erased";

/// An item of many sizes, some of which need pages of their own.
fn marked(number: usize) -> Item {
    let size = scrambled(number) % [40, 400, 1500, 9000, 30_000][number % 5];
    item([
        ("name", s(format!("{MARKER} {number}"))),
        ("text", s("é".repeat(size))),
    ])
}

/// The files of a directory that contain the marker, and how often.
fn found(folder: &TempDir) -> Vec<(String, usize)> {
    let files = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let counts = files.map(|path| {
        let bytes = fs::read(&path).unwrap();
        let count = bytes
            .windows(MARKER.len())
            .filter(|window| *window == MARKER.as_bytes())
            .count();
        (path.file_name().unwrap().to_string_lossy().into_owned(), count)
    });
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Keys, attributes and expiry of items of many sizes that were written in any order, replaced and deleted.
#[test]
fn no_deleted_byte_is_in_the_files_after_a_scrub() {
    let folder = tempdir().unwrap();
    let database = serve(folder.path());
    let marked_key = |number: usize| {
        let order = scrambled(number) % 1000;
        Key::new(
            format!("{MARKER} {}", number % 7),
            format!("{order:04} {MARKER} {number}"),
        )
    };
    for number in 0..3000 {
        database.put(&marked_key(number), marked(number)).unwrap();
        database
            .put(&key(&format!("{:05}", scrambled(number) % 2000)), marked(number))
            .unwrap();
        if number % 2 == 1 {
            database.put(&marked_key(number - 1), marked(number + 7)).unwrap();
            database.delete(&marked_key(number)).unwrap();
        }
    }
    // Until here the markers are the current items'.
    assert!(!found(&folder).is_empty());
    for number in 0..3000 {
        database
            .put(
                &key(&format!("{:05}", scrambled(number) % 2000)),
                item([("text", s("kept"))]),
            )
            .unwrap();
        database.delete(&marked_key(number)).unwrap();
    }
    let kept = database.items().unwrap();
    assert!(database.scrub(NOW, true).unwrap());
    assert_eq!(found(&folder), []);
    assert_eq!(database.items().unwrap(), kept);
    let check = Connection::open(folder.path().join("funil.db")).unwrap();
    let check: String = check
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}

/// The log is not truncated while a reader needs it.
#[test]
fn a_reader_delays_the_end_of_a_scrub() {
    let folder = tempdir().unwrap();
    let (database, other) = (serve(folder.path()), command(folder.path()));
    database.put(&key("a"), item([("name", s(MARKER))])).unwrap();
    let reader = Connection::open(folder.path().join("funil.db")).unwrap();
    let count = "BEGIN; SELECT count(*) FROM items";
    reader.execute_batch(count).unwrap();
    other.delete(&key("a")).unwrap();
    assert!(!database.scrub(NOW, true).unwrap());
    database.renew(NOW).unwrap();
    assert_eq!(other.unscrubbed_since(), Some(NOW));
    assert_ne!(found(&folder), []);
    reader.execute_batch("COMMIT").unwrap();
    assert!(database.scrub(NOW + 1, false).unwrap());
    database.renew(NOW + 1).unwrap();
    assert_eq!((other.unscrubbed_since(), found(&folder)), (None, vec![]));
}

/// Each change of any process is followed by one pass, some minutes later.
#[test]
fn a_scrub_follows_a_change() {
    let folder = tempdir().unwrap();
    let (database, other) = (serve(folder.path()), command(folder.path()));
    for (at, writer) in [(0, &database), (1000, &other)] {
        writer.put(&key("a"), item([("name", s(MARKER))])).unwrap();
        writer.delete(&key("a")).unwrap();
        for second in [0, 239] {
            assert!(!database.scrub(NOW + at + second, false).unwrap());
            assert_ne!(found(&folder), []);
        }
        assert!(database.scrub(NOW + at + 240, false).unwrap());
        assert_eq!(found(&folder), []);
        // Nothing has changed since.
        assert!(database.scrub(NOW + at + 241, false).unwrap());
        assert_eq!(database.0.scrubber.since(), 0);
    }
    // The clock was set back.
    database.put(&key("a"), item([("name", s(MARKER))])).unwrap();
    database.delete(&key("a")).unwrap();
    for (second, is_over) in [(9000, false), (2000, false), (2239, false), (2240, true)] {
        assert_eq!(database.scrub(NOW + second, false).unwrap(), is_over, "{second}");
    }
    assert_eq!(found(&folder), []);
}

#[test]
fn a_backup_is_the_last_commit() {
    let folder = tempdir().unwrap();
    let database = serve(folder.path());
    for number in 0..2000 {
        database.put(&key(&number.to_string()), marked(number)).unwrap();
    }
    let directory = tempdir().unwrap();
    let copy = directory.path().join("funil.db");
    database.backup(&copy).unwrap();
    let items = database.items().unwrap();
    database.put(&key("later"), Item::new()).unwrap();
    assert_eq!(serve(directory.path()).items().unwrap(), items);
    let error = database.backup(&copy).unwrap_err().to_string();
    assert!(error.contains("exists"), "{error}");
}

/// Writers go on during a copy, and the copy contains all of a transaction or nothing.
#[test]
fn a_backup_of_a_changing_database_is_consistent() {
    let folder = tempdir().unwrap();
    let database = serve(folder.path());
    for number in 0..2000 {
        database.put(&key(&number.to_string()), marked(number)).unwrap();
    }
    let writer = command(folder.path());
    let is_copied = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_copied);
    let writing = thread::spawn(move || {
        let mut rounds = 0;
        while !stop.load(Ordering::Relaxed) {
            rounds += 1;
            let mut both = put(key("first"), item([("n", n(rounds))]), Condition::Always);
            both.put(Key::new("z", "last"), item([("n", n(rounds))]), Condition::Always);
            writer.commit_now(&both).unwrap();
        }
        rounds
    });
    let directory = tempdir().unwrap();
    database.backup(&directory.path().join("funil.db")).unwrap();
    is_copied.store(true, Ordering::Relaxed);
    assert!(writing.join().unwrap() > 0);
    let copy = serve(directory.path());
    let number = |key| copy.get(&key).unwrap().map(|item| item["n"].clone());
    assert_eq!(number(key("first")), number(Key::new("z", "last")));
}

#[test]
fn files_of_other_programs_are_refused_and_stay() {
    for (statement, reason) in [
        (
            "CREATE TABLE items (pk, sk)",
            "is not a database of this build; export its instances with the build",
        ),
        (
            "PRAGMA application_id = 0x46756e6c; PRAGMA user_version = 2; CREATE TABLE x (y)",
            "has form 2",
        ),
    ] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("funil.db");
        let other = Connection::open(&path).unwrap();
        other.execute_batch(statement).unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        let error = Database::serve_directory(folder.path(), Sync::Normal, NOW)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("funil.db"), "no database at all".repeat(999)).unwrap();
    let error = Database::open_directory(folder.path(), NOW).unwrap_err();
    assert!(matches!(error, DatabaseError::Foreign(_)), "{error}");
}

/// A copy of a damaged database would replace older, good ones.
#[tokio::test]
async fn a_damaged_database_has_no_backup() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::create_directory(directory.path(), NOW).unwrap();
    for number in 0..2000 {
        database
            .put(&key(&number.to_string()), item([("a", n(number))]))
            .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let backup = |database: &Database, name: &str| database.backup(&folder.path().join(name));
    backup(&database, "whole").unwrap();
    drop(database);
    let file = directory.path().join("funil.db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[3 * 8192..4 * 8192].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let database = Database::open_directory(directory.path(), NOW).unwrap();
    let refused = backup(&database, "damaged").unwrap_err().to_string();
    assert!(refused.contains("damaged cannot be made"), "{refused}");
    let left = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["whole"]);
}

#[test]
fn an_empty_file_is_no_database() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("funil.db"), "").unwrap();
    let refused = Database::open_directory(directory.path(), NOW).unwrap_err();
    assert!(matches!(refused, DatabaseError::Missing(_)), "{refused}");
}
