//! Chunks of an import's lines: their sizes, their writes and the outcomes of their lines.

use std::borrow::Borrow as _;
use std::collections::BTreeMap;
use std::io;

use indicatif::ProgressBar;
use shared::ids::CallId;
use table::{MAX_WRITES, StoreError};

use super::ImportError;
use super::losses::losses;
use super::plan::ImportPlan;
use super::references::KnownRecords;
use super::report::ImportTally;
use super::source::Lines;
use crate::kinds::{self, ANOTHER_RECORD, Kind, Mode, RecordKind, StoredKind};
use crate::{Operator, Outcome, progress};

/// Maximum bytes of lines in a chunk, except for its last line.
const CHUNK_BYTES: usize = 4_000_000;
/// Minimum lines of a long import.
const LONG_IMPORT: u64 = 1000;

/// Lines of one kind, with their numbers.
pub type Chunk<K> = Vec<(u64, <K as RecordKind>::Line)>;
/// Lines with their outcomes.
type Finished<K> = Vec<(u64, <K as RecordKind>::Line, Outcome)>;
/// Lines with their outcomes, and warnings by line.
pub type FinishedChunk<K> = (Finished<K>, Vec<(u64, String)>);

/// The sizes of an import's chunks and transactions.
pub struct ChunkPlan {
    /// Maximum writes in a transaction.
    pub max_writes: usize,
    /// Maximum lines of a chunk, unless its kind needs more.
    lines: usize,
    /// Concurrent chunks of a kind that permits them.
    concurrency: usize,
}

impl ChunkPlan {
    /// The plan of an import with this number of lines. A long one uses the largest transactions of the engine, and
    /// prepares further chunks while one is written.
    pub fn of_lines(operator: &Operator, lines: u64) -> Self {
        let max_writes = operator.table().max_writes();
        if lines < LONG_IMPORT {
            Self {
                max_writes: MAX_WRITES.min(max_writes),
                lines: 200,
                concurrency: 1,
            }
        } else if max_writes > MAX_WRITES {
            Self {
                max_writes,
                lines: 350,
                concurrency: 8,
            }
        } else {
            Self {
                max_writes,
                lines: 200,
                concurrency: 4,
            }
        }
    }

    /// Maximum lines in a chunk of a kind.
    pub fn max_lines<K: StoredKind>(&self) -> usize {
        K::MIN_CHUNK.max(self.lines)
    }

    /// Maximum concurrent chunks of a kind.
    pub fn concurrency<K: StoredKind>(&self) -> usize {
        if K::CONCURRENT { self.concurrency } else { 1 }
    }
}

/// Reads the next lines of a kind that are `wanted` by their numbers, up to line `last` and at most `max_lines`.
/// Returns no lines at the end.
pub fn read_chunk<K: StoredKind>(
    lines: &mut Lines<'_>,
    last: u64,
    max_lines: usize,
    wanted: impl Fn(u64) -> bool,
    sink: &mut OutcomeSink<'_>,
) -> Result<Chunk<K>, ImportError> {
    let (mut chunk, mut bytes) = (Chunk::<K>::new(), 0);
    while chunk.len() < max_lines && bytes < CHUNK_BYTES {
        let Some((number, line)) = lines.next()?.filter(|(number, _)| *number <= last) else {
            break;
        };
        // The first pass refused lines without text.
        let Ok(text) = line else { continue };
        if !wanted(number) {
            continue;
        }
        match kinds::parse::<K>(text) {
            Some(Ok(line)) => {
                bytes += text.len();
                chunk.push((number, line));
            }
            // Possible only if the file changed since the plan was made.
            Some(Err(reason)) => sink.tally.refuse(number, reason),
            None => {}
        }
    }
    Ok(chunk)
}

/// Writes chunks of a kind.
pub struct ChunkWriter<'i> {
    pub operator: &'i Operator,
    pub known: &'i KnownRecords,
    pub plan: &'i ImportPlan,
    /// Whether the losses of replaced records are warnings.
    pub lists_losses: bool,
    pub mode: Mode,
}

impl ChunkWriter<'_> {
    /// Writes the lines of a chunk, and returns each with its outcome. Lines with missing references are refused, and
    /// come first. In check-only mode, nothing is written. That mode is for lines whose record a later line writes too:
    /// only the later line is written, but the earlier one must also be valid.
    pub async fn write<K: StoredKind>(&self, chunk: Chunk<K>) -> Result<FinishedChunk<K>, ImportError> {
        let (good, mut finished) = self.split_by_references::<K>(chunk).await?;
        let good = self.merge_lines::<K>(good, &mut finished).await?;
        let mut losses = if self.lists_losses {
            losses::<K>(self.operator, &good).await?
        } else {
            Vec::new()
        };
        let lines: Vec<_> = good.iter().map(|(_, line)| line).collect();
        let outcomes = if self.mode.is_check_only && !K::CHECK_READS_TABLE {
            // This kind checks only references, and these exist. In a check, `Unchanged` means valid.
            vec![Outcome::Unchanged; lines.len()]
        } else {
            K::write(self.operator, &lines, self.mode).await?
        };
        let good = good.into_iter().zip(outcomes);
        finished.extend(good.map(|((number, line), outcome)| (number, line, outcome)));
        losses.retain(|(line, _)| {
            finished
                .iter()
                .any(|(number, _, outcome)| number == line && *outcome == Outcome::Written)
        });
        Ok((finished, losses))
    }

    /// Replaces the lines that merge by what their records become. Lines of records that lack nothing are finished.
    async fn merge_lines<K: StoredKind>(
        &self,
        chunk: Chunk<K>,
        finished: &mut Finished<K>,
    ) -> Result<Chunk<K>, ImportError> {
        if !K::MERGES {
            return Ok(chunk);
        }
        let mut merged = Chunk::<K>::new();
        for (number, line) in chunk {
            if !self.plan.merges(number) {
                merged.push((number, line));
                continue;
            }
            let key = K::key(self.operator.keys(), line.borrow());
            let stored = self.operator.reads().get_many(key).await?.into_values().next();
            match stored.map(K::DECODE).transpose() {
                Ok(None) => merged.push((number, line)),
                Ok(Some(stored)) => match K::merged(line.clone(), stored) {
                    Some(line) => merged.push((number, line)),
                    None => finished.push((number, line, Outcome::Unchanged)),
                },
                Err(cause @ StoreError::Corrupt { .. }) => {
                    finished.push((number, line, Outcome::Refused(cause.to_string())));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(merged)
    }

    /// Splits a chunk into the lines whose references exist, completed with what the plan knows about them, and the
    /// refused others.
    async fn split_by_references<K: StoredKind>(
        &self,
        chunk: Chunk<K>,
    ) -> Result<(Chunk<K>, Finished<K>), ImportError> {
        let references = chunk.iter().map(|(_, line)| K::references(line.borrow()));
        let references = references
            .collect::<Result<Vec<_>, _>>()
            .map_err(io::Error::from)?;
        let checked = self.known.check(self.operator, &references).await?;
        let (mut good, mut refused) = (Chunk::<K>::new(), Finished::<K>::new());
        for ((number, mut line), result) in chunk.into_iter().zip(checked) {
            match result {
                Ok(()) => {
                    K::with_events(&mut line, |call| self.plan.brings_event_of(call));
                    K::with_links(&mut line, |lead| self.plan.is_linked(lead));
                    good.push((number, line));
                }
                Err(reason) => refused.push((number, line, Outcome::Refused(reason))),
            }
        }
        Ok((good, refused))
    }
}

/// Destinations of the outcomes of lines.
pub struct OutcomeSink<'i> {
    pub operator: &'i Operator,
    pub bar: &'i ProgressBar,
    pub tally: &'i mut ImportTally,
    pub calls_without_event: &'i mut Vec<CallId>,
    pub checked_lines: &'i mut Option<Vec<u64>>,
    /// Lines that were refused because another record has their id, by kind and id.
    pub others: &'i mut BTreeMap<(Kind, u64), u64>,
}

impl OutcomeSink<'_> {
    /// Records the outcomes of a chunk. In a pass that only checks, collects the good lines instead of counting them.
    pub async fn record<K: StoredKind>(
        &mut self,
        (lines, losses): FinishedChunk<K>,
    ) -> Result<(), ImportError> {
        let is_check_only = self.checked_lines.is_some();
        if !is_check_only {
            K::written(self.operator).await?;
        }
        progress::worked(self.bar, lines.len() as u64);
        for (line, loss) in losses {
            self.tally.warn(line, &[loss]);
        }
        for (number, line, outcome) in lines {
            match (&mut *self.checked_lines, outcome) {
                (Some(good), Outcome::Written | Outcome::Unchanged) => good.push(number),
                (Some(_), outcome) => self.tally.note(number, outcome),
                (None, outcome) => {
                    // The call of an event whose line is refused may lack its event.
                    let call = kinds::call_of::<K>(&line);
                    let is_refused = matches!(outcome, Outcome::Refused(_));
                    self.calls_without_event.extend(call.filter(|_| is_refused));
                    if matches!(&outcome, Outcome::Refused(reason) if reason.starts_with(ANOTHER_RECORD)) {
                        self.others.insert((K::KIND, K::identity(line.borrow())), number);
                    }
                    self.tally.note(number, outcome);
                }
            }
        }
        Ok(())
    }
}
