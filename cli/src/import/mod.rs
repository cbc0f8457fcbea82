//! Bringing records in (C-81): one JSON object a line, in any order, in bounded memory.
//!
//! The lines are read several times: first to judge each by itself, then once for each kind that others refer to, so
//! that a reference is checked against the table, which by then holds what this import writes. A reference to a record
//! whose line is bad is a reference to nothing.
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
mod line;
mod meeting;
mod number;
mod opportunity;
mod plan;
mod reason;
mod record;
mod records;
mod report;
mod source;
mod ticket;

use std::collections::BTreeMap;
use std::io;

use indicatif::ProgressBar;
use shared::directory::Directory;
use shared::funnel::Funnel;
use shared::id::{CallId, DepartmentId, FunnelId, GroupId, UserId};
use shared::store::StoreError;
use shared::store::operator::{Operator, OperatorError, Outcome};

use plan::Plan;
use record::{Kind, Record};
use report::Tally;

pub use report::{Refused, Report};
pub use source::Source;

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
    let mut tally = Tally::default();
    bar.set_message("checking");
    let plan = Plan::read(source, &mut tally)?;
    bar.set_length(plan.len());
    let directory = operator.directory().await?;
    let mut import = Import {
        operator,
        source,
        overwrite,
        bar,
        plan,
        tally,
        directory,
        funnels: BTreeMap::new(),
        orphaned: Vec::new(),
    };
    import.directory().await?;
    import.pass(Kind::User).await?;
    import.directory = operator.directory().await?;
    import.pass(Kind::Profile).await?;
    import.pass(Kind::Company).await?;
    import.pass(Kind::Lead).await?;
    import.pass(Kind::Funnel).await?;
    import.funnels = operator.known_funnels().await?;
    import.pass(Kind::Opportunity).await?;
    import.pass(Kind::Calendar).await?;
    import.pass(Kind::Meeting).await?;
    import.pass(Kind::Ticket).await?;
    import.pass(Kind::File).await?;
    if let Some(last) = import.plan.last_event() {
        operator.reserve_events(last).await?;
    }
    import.pass(Kind::Call).await?;
    import.pass(Kind::Event).await?;
    import.pass(Kind::Report).await?;
    import.pass(Kind::Automation).await?;
    for calls in import.orphaned.chunks(CHUNK) {
        operator.complete_calls(calls).await?;
    }
    // Notices that an interrupted import left stand although its lines are unchanged now.
    operator.refresh_copies().await?;
    Ok(import.tally.report())
}

/// An import under way.
struct Import<'a> {
    operator: &'a Operator,
    source: &'a Source,
    overwrite: bool,
    bar: &'a ProgressBar,
    plan: Plan,
    tally: Tally,
    /// The directory as this import left it.
    directory: Directory,
    /// The funnels as this import left them.
    funnels: BTreeMap<FunnelId, Funnel>,
    /// Calls whose event's line turned out to be bad.
    orphaned: Vec<CallId>,
}

/// Lines of one kind that are judged and written together.
type Chunk = Vec<(u64, Record)>;

impl Import<'_> {
    /// Reads the lines of a kind and writes their records, a chunk at a time.
    async fn pass(&mut self, kind: Kind) -> Result<(), Error> {
        let source = self.source;
        let mut lines = source.lines()?;
        let (mut chunk, mut bytes) = (Chunk::new(), 0);
        let most = if kind == Kind::Calendar { CALENDARS } else { CHUNK };
        while let Some((number, line)) = lines.next()? {
            let Ok(text) = line else { continue };
            if self.plan.kind(number) != Some(kind) {
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
        }
        self.write(kind, chunk).await
    }

    async fn write(&mut self, kind: Kind, chunk: Chunk) -> Result<(), Error> {
        if chunk.is_empty() {
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

    /// Notes what became of lines that were written together.
    fn note(&mut self, lines: impl IntoIterator<Item = u64>, outcomes: Vec<Outcome>) {
        for (line, outcome) in lines.into_iter().zip(outcomes) {
            self.tally.note(line, outcome);
        }
    }

    fn user_exists(&self, field: &str, user: UserId) -> Result<(), String> {
        let exists = self.directory.users.contains_key(&user);
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
