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
mod plan;
mod references;
pub(crate) mod report;
mod source;
mod stop;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::kinds::{
    Automations, Calendars, Calls, Companies, Events, Files, Funnels, Hooks, ImportKind, Kind, Leads,
    LossReasons, Meetings, Mode, Opportunities, Profiles, Reports, Tags, Tickets, Users,
};
use crate::{Operator, OperatorError};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use indicatif::ProgressBar;
use shared::ids::CallId;
use shared::store::StoreError;

use crate::progress;
use chunks::{ChunkPlan, ChunkWriter, Ends, chunk_of};
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
    let chunks = ChunkPlan::of_lines(operator, total).await?;
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
        chunks,
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
    /// Calls with an event that has a bad line.
    orphaned: Vec<CallId>,
    /// The good lines of a pass that decides and does not write; `None` in other passes.
    judged: Option<Vec<u64>>,
    chunks: ChunkPlan,
}

impl Import<'_> {
    /// Imports every kind after those to which it refers.
    async fn all(&mut self) -> Result<(), ImportError> {
        self.directory().await?;
        self.pass::<Users>().await?;
        self.known.users = self.operator.user_ids().await?;
        self.pass::<Profiles>().await?;
        self.pass::<Tags>().await?;
        self.pass::<LossReasons>().await?;
        self.pass::<Companies>().await?;
        self.pass::<Leads>().await?;
        if self.plan.range(&[Kind::Leads]).is_some() && self.operator.counts_leads() {
            self.operator.count_lead_ranks().await?;
        }
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

    /// Writes the records of a kind, each from its last good line (C-81).
    async fn pass<K: ImportKind>(&mut self) -> Result<(), ImportError> {
        let spares = self.plan.take_spares(K::KIND).unwrap_or_default();
        self.tally.watch(spares.last.keys().copied());
        self.read::<K>(&|plan, line| plan.kind(line) == Some(K::KIND))
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

    /// Reads some lines of a kind, and writes their records or only decides about them, chunk by chunk. A long import
    /// writes several chunks of a kind concurrently and records their outcomes in order.
    async fn read<K: ImportKind>(
        &mut self,
        takes: &(dyn Fn(&ImportPlan, u64) -> bool + Sync),
    ) -> Result<(), ImportError> {
        let Some(range) = self.plan.range(&[K::KIND]) else {
            return Ok(());
        };
        self.bar.set_message(K::KIND.name());
        let judging = self.judged.is_some();
        let writer = ChunkWriter {
            operator: self.operator,
            known: &self.known,
            plan: &self.plan,
            // A spare is decided as if the API had changed nothing, because the last line was already refused for such
            // a change.
            mode: Mode {
                overwrite: self.overwrite || judging,
                judging,
                max_writes: self.chunks.max_writes,
                ..Mode::default()
            },
        };
        let mut ends = Ends {
            operator: self.operator,
            bar: self.bar,
            tally: &mut self.tally,
            orphaned: &mut self.orphaned,
            judged: &mut self.judged,
        };
        let (most, width) = self.chunks.of::<K>();
        let mut lines = self.source.lines(range.first)?;
        let mut under_way = FuturesOrdered::new();
        loop {
            let wanted = |line| takes(writer.plan, line);
            let chunk = chunk_of::<K>(&mut lines, (range.last, most), wanted, &mut ends)?;
            let done = chunk.is_empty() || self.stop.is_asked();
            if !done {
                under_way.push_back(writer.write::<K>(chunk));
            }
            while under_way.len() >= width || done {
                let Some(written) = under_way.next().await else {
                    return Ok(());
                };
                ends.note::<K>(written?).await?;
            }
        }
    }
}
