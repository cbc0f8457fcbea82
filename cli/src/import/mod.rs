//! Bringing records in (C-81): one JSON object a line, in any order, in bounded memory.
//!
//! The lines are read several times: first to judge each by itself, then for each kind those from its first line to its
//! last, so that a reference is checked against the table, which by then holds what this import writes. A reference to a
//! record whose line is bad is a reference to nothing.
//!
//! What leads copy of companies and opportunities of leads is up to date when an import ends.

mod automation;
mod calendar;
mod definition;
mod departments;
mod directory;
mod funnel;
mod lead;
mod limits;
pub(crate) mod line;
mod meeting;
mod number;
mod opportunity;
mod plan;
mod reason;
pub(crate) mod record;
mod records;
pub(crate) mod report;
mod source;
mod stop;
mod ticket;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use indicatif::ProgressBar;
use shared::directory::Directory;
use shared::funnel::Funnel;
use shared::id::{CallId, DepartmentId, FunnelId, GroupId, UserId};
use shared::store::StoreError;
use shared::store::operator::{Operator, OperatorError, Outcome};

use crate::progress;
use plan::Plan;
use record::{Kind, Record};
use report::Tally;

pub use report::{Refused, Report};
pub use source::Source;
pub use stop::Stop;

/// Records that are written at a time, and the bytes of their lines.
const CHUNK: usize = 200;
const CHUNK_BYTES: usize = 4_000_000;
/// Calendars that are written at a time. They may pass names on to each other, so they stay together; no answer that has
/// to list them all (C-50) could hold more.
const CALENDARS: usize = 10_000;

/// Why an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its lines cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The table failed, or there is no such instance. What was written by then stays, and the same import goes on.
    #[error(transparent)]
    Operator(#[from] OperatorError),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Operator(error.into())
    }
}

/// Imports lines into an instance. Records changed through the interface since they were imported are replaced only
/// where `overwrite` says so.
///
/// # Errors
/// [`Error`] where the lines cannot be read or the table fails; bad lines are in the report.
pub async fn import(
    operator: &Operator,
    source: &Source,
    overwrite: bool,
    bar: &ProgressBar,
) -> Result<Report, Error> {
    import_until(operator, source, overwrite, bar, &Stop::default()).await
}

/// Imports lines until it is asked to stop; the report tells of those that it came to. What was written by then stays, and
/// the same import goes on.
///
/// # Errors
/// As [`import`].
pub async fn import_until(
    operator: &Operator,
    source: &Source,
    overwrite: bool,
    bar: &ProgressBar,
    stop: &Stop,
) -> Result<Report, Error> {
    let mut tally = Tally::default();
    progress::bytes(bar, "checking", source.bytes()?);
    let plan = Plan::read(source, &mut tally, bar, stop)?;
    if stop.is_asked() {
        return Ok(tally.report_stopped(None));
    }
    let total = plan.len();
    progress::counted(bar, "lines", total);
    let directory = operator.directory().await?;
    let mut import = Import {
        operator,
        source,
        overwrite,
        bar,
        stop,
        plan,
        tally,
        directory,
        users: BTreeSet::new(),
        funnels: BTreeMap::new(),
        orphaned: Vec::new(),
        judged: None,
    };
    import.all().await?;
    let left = total.saturating_sub(bar.position());
    Ok(if stop.is_asked() && left > 0 {
        import.tally.report_stopped(Some(left))
    } else {
        import.tally.report()
    })
}

/// An import under way.
struct Import<'a> {
    operator: &'a Operator,
    source: &'a Source,
    overwrite: bool,
    bar: &'a ProgressBar,
    stop: &'a Stop,
    plan: Plan,
    tally: Tally,
    /// The directory as this import left it.
    directory: Directory,
    /// The users as this import left them.
    users: BTreeSet<UserId>,
    /// The funnels as this import left them.
    funnels: BTreeMap<FunnelId, Funnel>,
    /// Calls whose event's line turned out to be bad.
    orphaned: Vec<CallId>,
    /// While lines are judged and not written, the good ones.
    judged: Option<Vec<u64>>,
}

/// Lines of one kind that are judged and written together.
type Chunk = Vec<(u64, Record)>;

impl Import<'_> {
    /// Every kind behind those that it refers to.
    async fn all(&mut self) -> Result<(), Error> {
        self.directory().await?;
        self.pass(Kind::User).await?;
        self.users = self.operator.user_ids().await?;
        self.pass(Kind::Profile).await?;
        self.pass(Kind::Company).await?;
        self.pass(Kind::Lead).await?;
        self.pass(Kind::Funnel).await?;
        self.funnels = self.operator.known_funnels().await?;
        self.pass(Kind::Opportunity).await?;
        self.pass(Kind::Calendar).await?;
        self.pass(Kind::Meeting).await?;
        self.pass(Kind::Ticket).await?;
        self.pass(Kind::File).await?;
        if let Some(last) = self.plan.last_event() {
            self.operator.reserve_events(last).await?;
        }
        self.pass(Kind::Call).await?;
        self.pass(Kind::Event).await?;
        self.pass(Kind::Report).await?;
        self.pass(Kind::Automation).await?;
        for calls in self.orphaned.chunks(CHUNK) {
            self.operator.complete_calls(calls).await?;
        }
        // Notices that an interrupted import left stand although its lines are unchanged now.
        Ok(self.operator.refresh_copies().await?)
    }

    /// Writes the records of a kind: of each the last good line (C-81).
    async fn pass(&mut self, kind: Kind) -> Result<(), Error> {
        let spares = self.plan.take_spares(kind).unwrap_or_default();
        self.tally.watch(spares.last.keys().copied());
        self.read(kind, &|import, line| import.plan.kind(line) == Some(kind))
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
        self.read(kind, &|_, line| spares.lines.contains_key(&line))
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
            self.read(kind, &|_, line| instead.contains(&line)).await?;
        }
        Ok(())
    }

    /// Reads some lines of a kind and writes their records, or judges them, a chunk at a time.
    async fn read(&mut self, kind: Kind, takes: &(dyn Fn(&Self, u64) -> bool + Sync)) -> Result<(), Error> {
        let Some(stretch) = self.plan.stretch(&[kind]) else {
            return Ok(());
        };
        self.bar.set_message(kind.name());
        let source = self.source;
        let mut lines = source.lines(stretch.first)?;
        let (mut chunk, mut bytes) = (Chunk::new(), 0);
        let most = if kind == Kind::Calendar { CALENDARS } else { CHUNK };
        while let Some((number, line)) = lines.next()?.filter(|(number, _)| *number <= stretch.last) {
            let Ok(text) = line else { continue };
            if !takes(self, number) {
                continue;
            }
            match line::parse(text) {
                Ok(record) => {
                    bytes += text.len();
                    chunk.push((number, record));
                }
                // Only where the file was changed while it was read.
                Err(reason) => self.tally.refuse(number, reason),
            }
            if chunk.len() >= most || bytes >= CHUNK_BYTES {
                self.write(kind, std::mem::take(&mut chunk)).await?;
                bytes = 0;
            }
            if self.stop.is_asked() {
                return Ok(());
            }
        }
        self.write(kind, chunk).await
    }

    async fn write(&mut self, kind: Kind, chunk: Chunk) -> Result<(), Error> {
        if chunk.is_empty() || self.stop.is_asked() {
            return Ok(());
        }
        let written = chunk.len() as u64;
        match kind {
            Kind::User => self.users(chunk).await?,
            Kind::Profile => self.profiles(chunk).await?,
            Kind::Company => self.companies(chunk).await?,
            Kind::Lead => self.leads(chunk).await?,
            Kind::Funnel => self.funnels(chunk).await?,
            Kind::Opportunity => self.opportunities(chunk).await?,
            Kind::Calendar => self.calendars(chunk).await?,
            Kind::Meeting => self.meetings(chunk).await?,
            Kind::Ticket => self.tickets(chunk).await?,
            Kind::File => self.files(chunk).await?,
            Kind::Call => self.calls(chunk).await?,
            Kind::Event => self.events(chunk).await?,
            Kind::Report => self.reports(chunk).await?,
            Kind::Automation => self.automations(chunk).await?,
            Kind::Setting | Kind::Department | Kind::Group => {}
        }
        self.bar.inc(written);
        Ok(())
    }

    /// Notes what became of lines that were written, or judged, together.
    fn note(&mut self, lines: impl IntoIterator<Item = u64>, outcomes: Vec<Outcome>) {
        for (line, outcome) in lines.into_iter().zip(outcomes) {
            match (&mut self.judged, outcome) {
                (Some(good), Outcome::Written | Outcome::Unchanged) => good.push(line),
                (_, outcome) => self.tally.note(line, outcome),
            }
        }
    }

    /// The operator's hand for what is written where what it refers to is read; it only judges spares, and those as if
    /// nothing had been changed through the interface: of that the last line was told.
    fn hand(&self) -> (Operator, bool) {
        match self.judged {
            Some(_) => (self.operator.judging(), true),
            None => (self.operator.clone(), self.overwrite),
        }
    }

    fn user_exists(&self, field: &str, user: UserId) -> Result<(), String> {
        let exists = self.users.contains(&user);
        exists
            .then_some(())
            .ok_or_else(|| format!("{field}: user {user} does not exist"))
    }

    fn department_exists(&self, field: &str, department: DepartmentId) -> Result<(), String> {
        let exists = self.directory.departments.contains_key(&department);
        exists
            .then_some(())
            .ok_or_else(|| format!("{field}: department {department} does not exist"))
    }

    fn group_exists(&self, field: &str, group: GroupId) -> Result<(), String> {
        let exists = self.directory.groups.contains_key(&group);
        exists
            .then_some(())
            .ok_or_else(|| format!("{field}: group {group} does not exist"))
    }
}
