//! Imports of records (C-81): one JSON object per line, in any order, in bounded memory.
//!
//! The lines are read several times: first to judge each by itself, then for each kind those from its first line to its
//! last, so that a reference is checked against the table, which by then has what this import writes. A record whose line
//! is bad cannot be referred to.
//!
//! When an import ends, the copies that leads have of companies and opportunities of leads are up to date.

mod departments;
mod directory;
mod plan;
mod references;
pub(crate) mod report;
mod source;
mod stop;

use std::borrow::Borrow as _;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::kinds::references::References;
use crate::kinds::{
    self, Automations, Calendars, Calls, Companies, Events, Files, Funnels, Hooks, ImportKind, Leads,
    LossReasons, Meetings, Mode, Opportunities, Profiles, RecordKind, Reports, Tags, Tickets, Users,
};
use crate::{Operator, OperatorError, Outcome};
use indicatif::ProgressBar;
use shared::ids::CallId;
use shared::store::StoreError;

use crate::progress;
use plan::ImportPlan;
use references::KnownRecords;
use report::ImportTally;

pub use report::{ImportReport, Refused};
pub use source::Source;
pub use stop::CancellationToken;

/// Bytes of the lines that are written at a time.
const CHUNK_BYTES: usize = 4_000_000;
/// Calls that are completed at a time.
const CALLS: usize = 200;

/// Why an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Its lines cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The table failed, or there is no such instance. The written records stay; rerun the import to resume.
    #[error(transparent)]
    Operator(#[from] OperatorError),
}

impl From<StoreError> for ImportError {
    fn from(error: StoreError) -> Self {
        Self::Operator(error.into())
    }
}

/// Imports lines into an instance. Records that were changed through the API since they were imported are replaced
/// only with `overwrite`.
///
/// # Errors
/// [`ImportError`] where the lines cannot be read or the table fails; bad lines are in the report.
pub async fn import(
    operator: &Operator,
    source: &Source,
    overwrite: bool,
    bar: &ProgressBar,
) -> Result<ImportReport, ImportError> {
    import_until(operator, source, overwrite, bar, &CancellationToken::default()).await
}

/// Imports lines until it is asked to stop; the report covers the lines until then. The written records stay; rerun the
/// import to resume.
///
/// # Errors
/// As [`import`].
pub async fn import_until(
    operator: &Operator,
    source: &Source,
    overwrite: bool,
    bar: &ProgressBar,
    stop: &CancellationToken,
) -> Result<ImportReport, ImportError> {
    let mut tally = ImportTally::default();
    progress::reading(bar, "checking", source.bytes()?);
    let plan = ImportPlan::read(source, &mut tally, bar, stop)?;
    if stop.is_asked() {
        return Ok(tally.report_stopped(None));
    }
    let total = plan.len();
    progress::working(bar, total);
    let directory = operator.directory().await?;
    let mut import = Import {
        operator,
        source,
        overwrite,
        bar,
        stop,
        plan,
        tally,
        known: KnownRecords {
            directory,
            ..KnownRecords::default()
        },
        orphaned: Vec::new(),
        judged: None,
    };
    import.all().await?;
    let left = progress::lines(bar).map_or(total, |(done, total)| total.saturating_sub(done));
    Ok(if stop.is_asked() && left > 0 {
        import.tally.report_stopped(Some(left))
    } else {
        import.tally.report()
    })
}

/// An import in progress.
struct Import<'a> {
    operator: &'a Operator,
    source: &'a Source,
    overwrite: bool,
    bar: &'a ProgressBar,
    stop: &'a CancellationToken,
    plan: ImportPlan,
    tally: ImportTally,
    known: KnownRecords,
    /// Calls whose event's line turned out to be bad.
    orphaned: Vec<CallId>,
    /// While lines are judged and not written, the good ones.
    judged: Option<Vec<u64>>,
}

/// Lines of one kind, with their numbers.
type Chunk<K> = Vec<(u64, <K as RecordKind>::Line)>;

impl Import<'_> {
    /// Every kind after those that it refers to.
    async fn all(&mut self) -> Result<(), ImportError> {
        self.directory().await?;
        self.pass::<Users>().await?;
        self.known.users = self.operator.user_ids().await?;
        self.pass::<Profiles>().await?;
        self.pass::<Tags>().await?;
        self.pass::<LossReasons>().await?;
        self.pass::<Companies>().await?;
        self.pass::<Leads>().await?;
        self.pass::<Funnels>().await?;
        let funnels = self.operator.0.reader().funnels().await?;
        self.known.funnels = funnels.into_iter().map(|funnel| (funnel.id, funnel)).collect();
        self.pass::<Opportunities>().await?;
        self.pass::<Calendars>().await?;
        self.pass::<Meetings>().await?;
        self.pass::<Tickets>().await?;
        self.pass::<Files>().await?;
        if let Some(last) = self.plan.last_event() {
            self.operator.reserve_events(last).await?;
        }
        self.pass::<Calls>().await?;
        self.pass::<Events>().await?;
        self.pass::<Reports>().await?;
        self.pass::<Hooks>().await?;
        self.pass::<Automations>().await?;
        for calls in self.orphaned.chunks(CALLS) {
            self.operator.complete_calls(calls).await?;
        }
        // An interrupted import may have left notices although its lines are unchanged now.
        Ok(self.operator.refresh_copies().await?)
    }

    /// Writes the records of a kind: of each the last good line (C-81).
    async fn pass<K: ImportKind>(&mut self) -> Result<(), ImportError> {
        let spares = self.plan.take_spares(K::KIND).unwrap_or_default();
        self.tally.watch(spares.last.keys().copied());
        self.read::<K>(&|import, line| import.plan.kind(line) == Some(K::KIND))
            .await?;
        if spares.lines.is_empty() || self.stop.is_asked() {
            return Ok(());
        }
        let bad = spares
            .last
            .iter()
            .filter(|(line, _)| self.tally.is_refused(**line));
        let wanted: BTreeSet<_> = bad.map(|(_, id)| *id).collect();
        self.judged = Some(Vec::new());
        self.read::<K>(&|_, line| spares.lines.contains_key(&line))
            .await?;
        let mut instead = BTreeMap::new();
        for line in self.judged.take().unwrap_or_default() {
            let id = spares.lines.get(&line).filter(|id| wanted.contains(id));
            if id.is_none_or(|id| instead.insert(*id, line).is_some()) {
                self.tally.unchanged();
            }
        }
        let instead: BTreeSet<_> = instead.into_values().collect();
        if !instead.is_empty() {
            self.read::<K>(&|_, line| instead.contains(&line)).await?;
        }
        Ok(())
    }

    /// Reads some lines of a kind and writes their records, or judges them, a chunk at a time.
    async fn read<K: ImportKind>(
        &mut self,
        takes: &(dyn Fn(&Self, u64) -> bool + Sync),
    ) -> Result<(), ImportError> {
        let Some(range) = self.plan.range(&[K::KIND]) else {
            return Ok(());
        };
        self.bar.set_message(K::KIND.name());
        let source = self.source;
        let mut lines = source.lines(range.first)?;
        let (mut chunk, mut bytes) = (Chunk::<K>::new(), 0);
        while let Some((number, line)) = lines.next()?.filter(|(number, _)| *number <= range.last) {
            let Ok(text) = line else { continue };
            if !takes(self, number) {
                continue;
            }
            match kinds::parse::<K>(text) {
                Some(Ok(line)) => {
                    bytes += text.len();
                    chunk.push((number, line));
                }
                // Only where the file was changed while it was read.
                Some(Err(reason)) => self.tally.refuse(number, reason),
                None => {}
            }
            if chunk.len() >= K::CHUNK || bytes >= CHUNK_BYTES {
                self.write::<K>(std::mem::take(&mut chunk)).await?;
                bytes = 0;
            }
            if self.stop.is_asked() {
                return Ok(());
            }
        }
        self.write::<K>(chunk).await
    }

    async fn write<K: ImportKind>(&mut self, chunk: Chunk<K>) -> Result<(), ImportError> {
        if chunk.is_empty() || self.stop.is_asked() {
            return Ok(());
        }
        let total = chunk.len() as u64;
        let (numbers, lines) = self.checked::<K>(chunk).await?;
        let lines: Vec<_> = lines.iter().collect();
        let judging = self.judged.is_some();
        let outcomes = if judging && !K::JUDGED_BY_TABLE {
            vec![Outcome::Unchanged; lines.len()]
        } else {
            // A spare is judged as if nothing had been changed through the API: the last line was refused for that.
            let mode = Mode {
                overwrite: self.overwrite || judging,
                judging,
                ..Mode::default()
            };
            K::write(self.operator, &lines, mode).await?
        };
        if !judging {
            K::written(self.operator).await?;
        }
        for (line, outcome) in lines.into_iter().zip(&outcomes) {
            if matches!(outcome, Outcome::Refused(_)) {
                self.orphan::<K>(line);
            }
        }
        self.note(numbers, outcomes);
        progress::worked(self.bar, total);
        Ok(())
    }

    /// The lines of a chunk whose references exist, and their numbers; the others are refused.
    async fn checked<K: ImportKind>(
        &mut self,
        chunk: Chunk<K>,
    ) -> Result<(Vec<u64>, Vec<K::Line>), ImportError> {
        let references = chunk.iter().map(|(_, line)| {
            let mut references = References::default();
            K::references(line.borrow(), &mut references);
            references
        });
        let references: Vec<_> = references.collect();
        let judged = self.known.judge(self.operator, &references).await?;
        let (mut numbers, mut lines) = (Vec::new(), Vec::new());
        for ((number, mut line), judged) in chunk.into_iter().zip(judged) {
            match judged {
                Ok(()) => {
                    K::with_events(&mut line, |call| self.plan.brings_event_of(call));
                    numbers.push(number);
                    lines.push(line);
                }
                Err(reason) => {
                    self.orphan::<K>(&line);
                    self.tally.refuse(number, reason);
                }
            }
        }
        Ok((numbers, lines))
    }

    /// Notes that the call of an event whose line is refused may lack its event.
    fn orphan<K: ImportKind>(&mut self, line: &K::Line) {
        if self.judged.is_none() {
            self.orphaned.extend(kinds::call_of::<K>(line));
        }
    }

    /// Notes the outcomes of lines that were written, or judged, together.
    fn note(&mut self, lines: impl IntoIterator<Item = u64>, outcomes: Vec<Outcome>) {
        for (line, outcome) in lines.into_iter().zip(outcomes) {
            match (&mut self.judged, outcome) {
                (Some(good), Outcome::Written | Outcome::Unchanged) => good.push(line),
                (_, outcome) => self.tally.note(line, outcome),
            }
        }
    }
}
