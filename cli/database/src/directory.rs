//! The directory of a database: its file, and the lock file that shows a running `funil serve` (C-85).
//!
//! `serve` keeps the lock file locked. A lock excludes processes of the same kernel only, so the file also contains the
//! kernel's boot id, and a time that `serve` renews.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use crate::DatabaseError;
use crate::connection::lock;

const FILE: &str = "funil.lock";
/// Seconds between two renewals.
const RENEWAL: i64 = 10;
/// Seconds after the last renewal until a `serve` of another kernel counts as stopped.
const SILENCE: i64 = 30;
/// Tries of `serve` at the lock, and pause between them. Commands lock the file for moments.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// The lock file of a directory.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// The content written last; `None` in a command.
    own: Option<Mutex<Serve>>,
}

/// The content of a lock file: lines with these values.
#[derive(Debug, Clone, PartialEq)]
struct Serve {
    boot: String,
    host: String,
    process: String,
    /// Unix seconds of the last renewal.
    renewed: i64,
    /// Since when overwritten bytes are in the files (`scrub.rs`); 0 if there are none.
    unscrubbed: i64,
}

impl Serve {
    fn of_this_process(now: i64) -> Self {
        let read = |file| fs::read_to_string(file).ok().map(|text| text.trim().to_owned());
        let host = read("/proc/sys/kernel/hostname").or_else(|| std::env::var("HOSTNAME").ok());
        let host = host.unwrap_or_else(|| "this machine".to_owned());
        Self {
            // Other systems have no containers with the same kernel.
            boot: read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| host.clone()),
            host,
            process: std::process::id().to_string(),
            renewed: now,
            unscrubbed: 0,
        }
    }

    /// `None` also while the file is being written.
    fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let [boot, host, process, renewed, unscrubbed] = text.lines().collect::<Vec<_>>().try_into().ok()?;
        Some(Self {
            boot: boot.to_owned(),
            host: host.to_owned(),
            process: process.to_owned(),
            renewed: renewed.parse().ok()?,
            unscrubbed: unscrubbed.parse().ok()?,
        })
    }

    fn write(&self, mut file: &File) -> io::Result<()> {
        let Self {
            boot,
            host,
            process,
            renewed,
            unscrubbed,
        } = self;
        let text = format!("{boot}\n{host}\n{process}\n{renewed}\n{unscrubbed}\n");
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)
    }
}

impl Lock {
    /// Locks a directory for `serve` at Unix second `now`.
    pub fn serve(directory: &Path, now: i64) -> Result<Self, DatabaseError> {
        let mut lock = Self::command(directory, now)?;
        let mut tries = 1;
        loop {
            match lock.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(DatabaseError::Taken {
                        path: directory.to_owned(),
                        process: Serve::read(&lock.path).map(|serve| serve.process),
                    });
                }
                Err(TryLockError::Error(cause)) => return Err(DatabaseError::directory(directory, cause)),
            }
            tries += 1;
        }
        let own = Serve::of_this_process(now);
        own.write(&lock.file)
            .map_err(|cause| DatabaseError::directory(directory, cause))?;
        lock.own = Some(Mutex::new(own));
        Ok(lock)
    }

    /// Opens the lock file for a command, unless `serve` runs on another kernel.
    pub fn command(directory: &Path, now: i64) -> Result<Self, DatabaseError> {
        let path = directory.join(FILE);
        let file = private(&path).map_err(|cause| DatabaseError::directory(&path, cause))?;
        let own = Serve::of_this_process(now);
        match Serve::read(&path) {
            Some(serve) if serve.boot != own.boot && (now - serve.renewed).abs() < SILENCE => {
                Err(DatabaseError::Elsewhere {
                    path: directory.to_owned(),
                    host: serve.host,
                })
            }
            _ => Ok(Self {
                path,
                file,
                own: None,
            }),
        }
    }

    /// Whether this is the lock of `serve`.
    pub fn is_of_serve(&self) -> bool {
        self.own.is_some()
    }

    /// Whether `serve` runs, in this process or another.
    pub fn is_served(&self) -> bool {
        self.is_of_serve()
            || match self.file.try_lock_shared() {
                Ok(()) => self.file.unlock().is_err(),
                Err(cause) => matches!(cause, TryLockError::WouldBlock),
            }
    }

    /// Renews the time if it is due or another value changes.
    pub fn renew(&self, now: i64, unscrubbed: i64) -> io::Result<()> {
        let Some(own) = &self.own else { return Ok(()) };
        let mut own = lock(own);
        if !(0..RENEWAL).contains(&(now - own.renewed)) || unscrubbed != own.unscrubbed {
            (own.renewed, own.unscrubbed) = (now, unscrubbed);
            own.write(&self.file)?;
        }
        Ok(())
    }

    /// Since when overwritten bytes are in the files, if `serve` runs.
    pub fn unscrubbed(&self) -> Option<i64> {
        let serve = self.is_served().then(|| Serve::read(&self.path)).flatten()?;
        (serve.unscrubbed != 0).then_some(serve.unscrubbed)
    }
}

/// A stopped `serve` leaves an empty file.
impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_of_serve() {
            let _ = self.file.set_len(0);
        }
    }
}

/// Whether a `funil serve` of this kernel uses a directory.
#[must_use]
pub fn is_served(directory: &Path) -> bool {
    let locked = File::open(directory.join(FILE)).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

/// Creates a directory that only its owner reads, because it contains personal data.
pub fn create(directory: &Path) -> Result<(), DatabaseError> {
    let mut directories = DirBuilder::new();
    directories.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut directories, 0o700);
    let created = directories.create(directory);
    created.map_err(|cause| DatabaseError::directory(directory, cause))
}

/// Opens or creates a file that only its owner reads.
pub fn private(path: &Path) -> io::Result<File> {
    options().create(true).truncate(false).open(path)
}

fn options() -> OpenOptions {
    let mut files = OpenOptions::new();
    files.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut files, 0o600);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000;

    /// A directory whose `serve` was renewed on another kernel.
    fn served_elsewhere(renewed: i64) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = Serve {
            boot: "another".to_owned(),
            host: "container".to_owned(),
            ..Serve::of_this_process(renewed)
        };
        let file = private(&directory.path().join("funil.lock")).unwrap();
        elsewhere.write(&file).unwrap();
        directory
    }

    #[test]
    fn a_serve_on_another_kernel_refuses_commands_for_30_seconds() {
        let directory = served_elsewhere(NOW);
        for open in [Lock::command, Lock::serve] {
            let error = open(directory.path(), NOW + 29).unwrap_err().to_string();
            assert!(
                error.contains("container") && error.contains("docker compose exec"),
                "{error}"
            );
        }
        assert!(Lock::command(directory.path(), NOW + 30).is_ok());
        assert!(Lock::serve(directory.path(), NOW + 30).is_ok());
        // Its clock was ahead.
        assert!(Lock::command(served_elsewhere(NOW + 30).path(), NOW).is_ok());
    }

    /// The time does not matter on the same kernel: `serve` was killed a moment ago.
    #[test]
    fn on_the_same_kernel_only_the_lock_decides() {
        let directory = tempfile::tempdir().unwrap();
        let killed = private(&directory.path().join("funil.lock")).unwrap();
        Serve::of_this_process(NOW).write(&killed).unwrap();
        let command = Lock::command(directory.path(), NOW).unwrap();
        assert!(!command.is_served());
        let serve = Lock::serve(directory.path(), NOW).unwrap();
        assert!(command.is_served());
        // A second one is refused, however long ago the time was renewed.
        let error = Lock::serve(directory.path(), NOW + 99).unwrap_err().to_string();
        assert!(
            error.contains(&format!("process {}", std::process::id())),
            "{error}"
        );
        assert!(Lock::command(directory.path(), NOW + 99).is_ok());
        drop(serve);
        assert!(!command.is_served());
        assert_eq!(Serve::read(&command.path), None);
    }

    #[test]
    fn serve_renews_its_time_every_10_seconds() {
        let directory = tempfile::tempdir().unwrap();
        let serve = Lock::serve(directory.path(), NOW).unwrap();
        let command = Lock::command(directory.path(), NOW).unwrap();
        for (now, unscrubbed, renewed) in [
            (9, 0, 0),
            (10, 0, 10),
            (11, 11, 11),
            (12, 11, 11),
            (21, 11, 21),
            (2, 11, 2),
        ] {
            serve.renew(NOW + now, unscrubbed).unwrap();
            let read = Serve::read(&command.path).unwrap();
            assert_eq!(read.renewed, NOW + renewed);
            assert_eq!(command.unscrubbed(), (unscrubbed != 0).then_some(unscrubbed));
        }
    }
}
