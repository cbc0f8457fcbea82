//! The progress of a run in a file, from which a later run goes on.
//!
//! The file contains what the finished part found: the differences, the notes of derived items, the counts of classes
//! and the position. A run may go on with old notes and counts, because a difference from them is only a suspicion: it
//! is reported after reads that confirm it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shared::store::unscoped::key::Counter;
use table::Key;

use super::kinds::KINDS;
use super::tally::saved::SavedCount;
use super::{Difference, Doctor, OperatorError, Result};
use crate::import::CancellationToken;

/// Seconds between two writes of the file.
const SAVE_INTERVAL: i64 = 30;

/// The file of a run's progress, and whether the run is to stop.
#[derive(Debug)]
pub struct ResumeFile {
    /// The file. It is deleted when the run is complete.
    pub path: PathBuf,
    /// The table's name.
    pub table: String,
    /// Stops the run after the current page.
    pub stop: CancellationToken,
}

/// The next work of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub enum Position {
    /// Everything.
    #[default]
    Start,
    /// The records of the kind with this index that have greater sort keys.
    Records(usize, Option<String>),
    /// The items that a scan finds after this key.
    Scan(Option<(String, String)>),
    /// The totals of the kind with this index, and of the later kinds.
    Totals(usize),
    /// What comes after the totals.
    Rest,
}

/// The first line of the file. The notes follow it.
#[derive(Debug, Serialize, Deserialize)]
struct SavedRun {
    /// The run: build, instance, table and mode. Another run does not use the file.
    run: String,
    position: Position,
    checked: BTreeMap<String, u64>,
    differences: Vec<Difference>,
    unlisted: u64,
    remaining: u64,
    largest: BTreeMap<String, u64>,
    former_totals: BTreeSet<String>,
    counted: Vec<SavedCount>,
    partitions: BTreeMap<String, BTreeSet<String>>,
    columns: super::columns::Columns,
    extent: [u64; 3],
}

impl Doctor<'_> {
    /// Notes that everything before a position is done. Writes the file every 30 seconds. If the run is to stop, writes
    /// the file and returns [`OperatorError::Stopped`].
    pub(super) fn advance_to(&mut self, position: Position) -> Result<()> {
        self.position = position;
        let Some(resume_file) = self.resume_file else {
            return Ok(());
        };
        let now = self.operator.now().unix_seconds();
        let is_stopping = resume_file.stop.is_asked();
        if is_stopping || now - self.last_saved >= SAVE_INTERVAL {
            self.last_saved = now;
            self.write(resume_file).map_err(OperatorError::Progress)?;
        }
        if is_stopping {
            Err(OperatorError::Stopped)
        } else {
            Ok(())
        }
    }

    fn run_name(&self, resume_file: &ResumeFile) -> String {
        let (version, instance, table) = (
            env!("CARGO_PKG_VERSION"),
            self.operator.instance(),
            &resume_file.table,
        );
        let mode = if self.repair { ", with --repair" } else { "" };
        format!("instance {instance} of table {table}, version {version}{mode}")
    }

    /// Replaces the file atomically, so that an interrupted write leaves the former one.
    fn write(&self, resume_file: &ResumeFile) -> io::Result<()> {
        let (path, diagnosis) = (resume_file.path.as_path(), &self.diagnosis);
        let largest = self
            .largest_numbers
            .iter()
            .map(|((_, name), last)| ((*name).to_owned(), *last));
        let partitions = self.total_partitions.iter();
        let saved = SavedRun {
            run: self.run_name(resume_file),
            position: self.position.clone(),
            checked: diagnosis
                .checked
                .iter()
                .map(|(name, count)| (name.to_string(), *count))
                .collect(),
            differences: diagnosis.differences.clone(),
            unlisted: diagnosis.unlisted,
            remaining: diagnosis.remaining,
            largest: largest.collect(),
            former_totals: self
                .kinds_with_former_totals
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            counted: self.first_counts.iter().map(SavedCount::of).collect(),
            partitions: partitions
                .map(|(name, all)| ((*name).to_owned(), all.clone()))
                .collect(),
            columns: self.columns.clone(),
            extent: self.extent.progress(),
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Readable by its owner alone, because keys contain phone numbers.
        let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        let mut out = BufWriter::new(file);
        serde_json::to_writer(&mut out, &saved)?;
        out.write_all(b"\n")?;
        self.known.write(&mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// Takes over the progress of an earlier run, if its file exists.
    pub(super) fn resume(&mut self) -> Result<()> {
        let Some(resume_file) = self.resume_file else {
            return Ok(());
        };
        match File::open(&resume_file.path) {
            Ok(file) => self.read(file, resume_file).map_err(OperatorError::Progress),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(cause) => Err(OperatorError::Progress(cause)),
        }
    }

    fn read(&mut self, file: File, resume_file: &ResumeFile) -> io::Result<()> {
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line)?;
        let unusable =
            |reason: String| io::Error::other(format!("{reason}; delete it, or name another file"));
        let saved: SavedRun =
            serde_json::from_slice(&line).map_err(|cause| unusable(format!("it is damaged: {cause}")))?;
        if saved.run != self.run_name(resume_file) {
            return Err(unusable(format!("it belongs to another run ({})", saved.run)));
        }
        let mut notes = Vec::new();
        file.read_to_end(&mut notes)?;
        self.known.read(&notes);
        self.restore(saved)
    }

    /// Takes over the progress of a saved run, except for the notes.
    fn restore(&mut self, saved: SavedRun) -> io::Result<()> {
        self.position = saved.position;
        let diagnosis = &mut self.diagnosis;
        diagnosis.checked = saved
            .checked
            .into_iter()
            .map(|(name, count)| (name.into(), count))
            .collect();
        diagnosis.differences = saved.differences;
        (diagnosis.unlisted, diagnosis.remaining) = (saved.unlisted, saved.remaining);
        for kind in KINDS {
            let about = kind.about();
            if let Some((counter, last)) = about.counter.zip(saved.largest.get(about.name)) {
                self.largest_numbers.insert((counter, about.name), *last);
            }
            if saved.former_totals.contains(about.name) {
                self.kinds_with_former_totals.insert(about.name);
            }
            if let Some(all) = saved.partitions.get(about.name) {
                self.total_partitions.insert(about.name, all.clone());
            }
        }
        // Events have numbers of their own in the counter of calls, and are no kind.
        let event = saved
            .largest
            .get("event")
            .map(|last| ((Counter::Call, "event"), *last));
        self.largest_numbers.extend(event);
        let counted = saved.counted.into_iter().map(SavedCount::restored);
        self.first_counts = counted
            .collect::<std::result::Result<_, _>>()
            .map_err(io::Error::other)?;
        self.columns = saved.columns;
        self.extent.resume(saved.extent);
        Ok(())
    }

    /// Deletes the file of a complete run.
    pub(super) fn delete_resume_file(&self) -> Result<()> {
        match self
            .resume_file
            .map(|resume_file| fs::remove_file(&resume_file.path))
        {
            Some(Err(cause)) if cause.kind() != io::ErrorKind::NotFound => {
                Err(OperatorError::Progress(cause))
            }
            _ => Ok(()),
        }
    }
}

/// A key as its two parts.
pub fn parts(key: &Key) -> (String, String) {
    (key.pk.clone(), key.sk.clone())
}
