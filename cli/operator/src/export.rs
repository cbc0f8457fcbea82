//! Writes all records of an instance as lines of JSON (C-81), each kind after those to which it refers.
//!
//! Lines are sparse: they omit the values that an import restores by default. So an import of an export, exported
//! again, has the same bytes.

use std::io::{self, Write};

use indicatif::ProgressBar;
use serde_json::{Map, Value};
use shared::event::TimelineEvent;
use shared::ids::CallId;
use shared::store::StoreError;
use shared::store::unscoped::key::Counter;

use crate::kinds::{Departments, Events, Groups, Kind, RecordKind, Settings, StoredKind, with_stored};
use crate::{Operator, OperatorError, progress};

/// Number of written records of each kind, in the order of the kinds.
pub type Counts = Vec<(&'static str, u64)>;

/// Failure of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Its lines cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The records cannot be read.
    #[error(transparent)]
    Operator(#[from] OperatorError),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Operator(error.into())
    }
}

/// Writes all records of an instance to `out`, in bounded memory. Omits records of a kind with [`StoredKind::STOPS_AT`]
/// that were created after the export began. Omits everything of leads with unfinished deletions (C-24): each page is
/// filtered by the deletions known after it was read.
///
/// # Errors
/// [`ExportError`] if the records cannot be read or written; the output is then incomplete.
pub async fn export(
    operator: &Operator,
    out: &mut impl Write,
    bar: &ProgressBar,
) -> Result<Counts, ExportError> {
    let last = sequences(operator).await?;
    let total: u64 = last.iter().map(|(_, last)| *last).sum();
    progress::overall(bar, total);
    let mut export = Export {
        operator,
        last,
        out,
        bar,
        counts: Counts::new(),
        written_ids: 0,
        kind_ids: 0,
    };
    export.export_directory().await?;
    for kind in Kind::ALL {
        match kind {
            Kind::Events => export.export_events().await?,
            kind => with_stored!(kind, K => export.export_kind::<K>().await?, ()),
        }
    }
    Ok(export.counts)
}

/// The values of the sequences. They are read first, so that the export contains every lead of an exported meeting,
/// opportunity or call, and every opportunity of an exported meeting.
async fn sequences(operator: &Operator) -> Result<Vec<(&'static str, u64)>, StoreError> {
    let mut last = Vec::new();
    for (counter, name) in [
        (Counter::Lead, "lead"),
        (Counter::Ticket, "ticket"),
        (Counter::Meeting, "meeting"),
        (Counter::Opportunity, "opportunity"),
        (Counter::Call, "call"),
        (Counter::Call, "event"),
    ] {
        last.push((name, operator.last(counter, name).await?));
    }
    Ok(last)
}

/// An export in progress.
struct Export<'a, W> {
    operator: &'a Operator,
    /// The values of the sequences before the export.
    last: Vec<(&'static str, u64)>,
    out: &'a mut W,
    bar: &'a ProgressBar,
    counts: Counts,
    /// The sum of the last ids of the written kinds, which is the position of the bar. Kinds without a sequence are
    /// small and not counted.
    written_ids: u64,
    /// The last id of the current kind.
    kind_ids: u64,
}

impl<W: Write> Export<'_, W> {
    /// Begins to count the records of a kind, and moves the bar to the end of the former kind.
    fn begin(&mut self, kind: Kind) {
        self.written_ids += self.kind_ids;
        self.kind_ids = self.last(kind.name());
        self.counts.push((kind.name(), 0));
        self.bar.set_message(kind.name());
    }

    /// The last value of a sequence before the export; 0 for an unknown one.
    fn last(&self, name: &str) -> u64 {
        let last = self.last.iter().find(|(sequence, _)| *sequence == name);
        last.map_or(0, |(_, last)| *last)
    }

    async fn export_directory(&mut self) -> Result<(), ExportError> {
        let directory = self.operator.directory().await?;
        self.begin(Kind::Settings);
        for (name, value) in directory.settings.entries() {
            self.write::<Settings>(&(name.to_owned(), value))?;
        }
        self.begin(Kind::Departments);
        for department in directory.departments {
            self.write::<Departments>(&department)?;
        }
        self.begin(Kind::Groups);
        for group in directory.groups {
            self.write::<Groups>(&group)?;
        }
        Ok(())
    }

    /// Writes the records of a kind, up to the last id before the export.
    async fn export_kind<K: StoredKind>(&mut self) -> Result<(), ExportError> {
        self.begin(K::KIND);
        let last = K::STOPS_AT.map(|sequence| self.last(sequence));
        if last == Some(0) {
            return Ok(());
        }
        let mut pages = self.operator.records::<K>();
        while let Some(page) = pages.next().await? {
            let mut shown: Vec<_> = page
                .into_iter()
                .filter(|record| last.is_none_or(|last| K::number(record) <= last))
                .collect();
            if let Some(without) = K::WITHOUT {
                let erasures = self.operator.erasures().await?;
                let shown_of = |record| without(record, &erasures);
                shown = shown.into_iter().map(shown_of).collect();
            }
            shown.iter().try_for_each(|record| self.write::<K>(record))?;
        }
        Ok(())
    }

    /// Writes the events of calls, up to the last call before the export, and those of forms, up to the last event.
    async fn export_events(&mut self) -> Result<(), ExportError> {
        self.begin(Kind::Events);
        let (last, last_event) = (CallId::new(self.last("call")), self.last("event"));
        let mut events = self.operator.events(last.or(CallId::new(1)));
        while let Some(page) = events.next().await? {
            let erasures = self.operator.erasures().await?;
            let is_exported = |event: &&TimelineEvent| match event {
                TimelineEvent::Call(event) => last.is_some_and(|last| event.call <= last),
                TimelineEvent::Form(event) => event.id.get() <= last_event,
            };
            let shown = page.iter().filter(is_exported);
            for event in shown.filter(|event| !erasures.cover(Some(event.lead()))) {
                self.write::<Events>(event)?;
            }
        }
        Ok(())
    }

    fn write<K: RecordKind>(&mut self, record: &K::Record) -> Result<(), ExportError> {
        write::<K>(self.out, record)?;
        if let Some((_, count)) = self.counts.last_mut() {
            *count += 1;
        }
        let id = K::identity(record).min(self.kind_ids);
        self.bar.set_position(self.written_ids + id);
        Ok(())
    }
}

/// Writes the line of a record.
pub(crate) fn write<K: RecordKind>(out: &mut impl Write, record: &K::Record) -> io::Result<()> {
    let mut line = Map::from_iter([("kind".to_owned(), Value::from(K::KIND.name()))]);
    line.extend(K::export(record)?);
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}
