//! Imports of records (C-81): one JSON object per line, in any order, in bounded memory.
//!
//! The lines are read several times. The first pass checks each line by itself. Then each kind has a pass from its
//! first line to its last. A kind comes after those to which it refers, so references are checked against the table. A
//! record with a bad line is not written, so other lines cannot refer to it.
//!
//! At the end of an import, leads' copies of companies and opportunities' copies of leads are up to date.

mod chunks;
mod departments;
mod directory;
mod losses;
mod plan;
mod references;
pub(crate) mod report;
mod source;
mod stop;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::kinds::{Kind, Mode, StoredKind, with_stored};
use crate::{Operator, OperatorError};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use indicatif::ProgressBar;
use shared::ids::CallId;
use shared::store::StoreError;

use crate::progress;
use chunks::{ChunkPlan, ChunkWriter, OutcomeSink, read_chunk};
use plan::ImportPlan;
use references::KnownRecords;
use report::ImportTally;

pub use report::{ImportReport, Refused};
pub use source::Source;
pub use stop::CancellationToken;

/// Calls that are completed in one batch.
const CALLS: usize = 200;

/// Error that ends an import.
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
/// [`ImportError`] if the lines cannot be read or the table fails; bad lines are in the report.
pub async fn import(
    operator: &Operator,
    source: &Source,
    overwrite: bool,
    bar: &ProgressBar,
) -> Result<ImportReport, ImportError> {
    import_until(operator, source, overwrite, bar, &CancellationToken::default()).await
}

/// Imports lines until `stop` is set; the report covers the lines until then. The written records stay; rerun the
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
    let directory = operator.lenient().directory().await?;
    let chunks = ChunkPlan::of_lines(operator, total);
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
        calls_without_event: Vec::new(),
        checked_lines: None,
        chunks,
        others: BTreeMap::new(),
    };
    import.import_all().await?;
    let left = progress::lines(bar).map_or(total, |(done, total)| total.saturating_sub(done));
    Ok(if stop.is_asked() && left > 0 {
        import.tally.report_stopped(Some(left))
    } else {
        let mut report = import.tally.report();
        report.warnings.extend(operator.inactive_calendars().await?);
        report
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
    /// Calls with an event that has a bad line.
    calls_without_event: Vec<CallId>,
    /// The good lines of a pass that checks and does not write; `None` in other passes.
    checked_lines: Option<Vec<u64>>,
    chunks: ChunkPlan,
    /// Lines of the present kind that were refused because another record has their id, by kind and id.
    others: BTreeMap<(Kind, u64), u64>,
}

impl Import<'_> {
    /// Imports every kind after those to which it refers.
    async fn import_all(&mut self) -> Result<(), ImportError> {
        self.import_directory().await?;
        for kind in Kind::ALL {
            self.begin(*kind).await?;
            with_stored!(kind, K => self.import_kind::<K>().await?, ());
        }
        for calls in self.calls_without_event.chunks(CALLS) {
            self.operator.complete_calls(calls).await?;
        }
        // An interrupted import may have left notices although its lines are unchanged now.
        Ok(self.operator.refresh_copies().await?)
    }

    /// Reads what lines of a kind and of the later ones may refer to, and reserves the ids of events.
    async fn begin(&mut self, kind: Kind) -> Result<(), ImportError> {
        match kind {
            Kind::Profiles => self.known.users = self.operator.user_ids().await?,
            Kind::Opportunities => {
                let funnels = self.operator.reader().funnels().await?;
                self.known.funnels = funnels.into_iter().map(|funnel| (funnel.id, funnel)).collect();
            }
            Kind::Calls => {
                if let Some(last) = self.plan.last_event() {
                    self.operator.reserve_events(last).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the records of a kind, each from its last good line (C-81). First the last lines are written. Then the
    /// superseded lines are checked, and of each record whose last line was refused the last good one is written.
    async fn import_kind<K: StoredKind>(&mut self) -> Result<(), ImportError> {
        self.known.others.append(&mut self.others);
        let superseded = self.plan.take_superseded(K::KIND).unwrap_or_default();
        self.tally.watch(superseded.last.keys().copied());
        self.import_lines::<K>(&|plan, line| plan.kind(line) == Some(K::KIND))
            .await?;
        if superseded.lines.is_empty() || self.stop.is_asked() {
            return Ok(());
        }
        let refused = superseded
            .last
            .iter()
            .filter(|(line, _)| self.tally.is_refused(**line));
        let unwritten: BTreeSet<_> = refused.map(|(_, id)| *id).collect();
        self.checked_lines = Some(Vec::new());
        self.import_lines::<K>(&|_, line| superseded.lines.contains_key(&line))
            .await?;
        let mut substitutes = BTreeMap::new();
        for line in self.checked_lines.take().unwrap_or_default() {
            let id = superseded.lines.get(&line).filter(|id| unwritten.contains(id));
            // The lines are in order, so a later line of the same record replaces an earlier one.
            let is_first = id.is_some_and(|id| substitutes.insert(*id, line).is_none());
            // The line is not needed, or replaces an earlier one that counts as unchanged.
            if !is_first {
                self.tally.count_unchanged();
            }
        }
        let substitutes: BTreeSet<_> = substitutes.into_values().collect();
        if !substitutes.is_empty() {
            self.import_lines::<K>(&|_, line| substitutes.contains(&line))
                .await?;
        }
        Ok(())
    }

    /// Reads the wanted lines of a kind, and writes their records or only checks them, chunk by chunk. A long import
    /// writes several chunks of a kind concurrently and records their outcomes in order. A stopped import reads no
    /// further chunk, and waits for those that are being written.
    async fn import_lines<K: StoredKind>(
        &mut self,
        is_wanted: &(dyn Fn(&ImportPlan, u64) -> bool + Sync),
    ) -> Result<(), ImportError> {
        let Some(range) = self.plan.range(&[K::KIND]) else {
            return Ok(());
        };
        self.bar.set_message(K::KIND.name());
        let is_check_only = self.checked_lines.is_some();
        let writer = ChunkWriter {
            operator: self.operator,
            known: &self.known,
            plan: &self.plan,
            lists_losses: self.operator.is_rehearsing() && !is_check_only,
            // A superseded line is checked as if the API had changed nothing, because the last line was already refused
            // for such a change.
            mode: Mode {
                overwrite: self.overwrite || is_check_only,
                is_check_only,
                max_writes: self.chunks.max_writes,
                ..Mode::default()
            },
        };
        let mut sink = OutcomeSink {
            operator: self.operator,
            bar: self.bar,
            tally: &mut self.tally,
            calls_without_event: &mut self.calls_without_event,
            checked_lines: &mut self.checked_lines,
            others: &mut self.others,
        };
        let max_lines = self.chunks.max_lines::<K>();
        let concurrency = self.chunks.concurrency::<K>();
        let mut lines = self.source.lines(range.first)?;
        let mut in_progress = FuturesOrdered::new();
        loop {
            let wanted = |line| is_wanted(writer.plan, line);
            let chunk = read_chunk::<K>(&mut lines, range.last, max_lines, wanted, &mut sink)?;
            let is_last = chunk.is_empty() || self.stop.is_asked();
            if !is_last {
                in_progress.push_back(writer.write::<K>(chunk));
            }
            while in_progress.len() >= concurrency || is_last {
                let Some(finished) = in_progress.next().await else {
                    return Ok(());
                };
                sink.record::<K>(finished?).await?;
            }
        }
    }
}
