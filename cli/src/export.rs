//! All records of an instance as lines of JSON (C-81), in an order in which they could be read back in one pass.
//!
//! Lines are sparse: what an import restores by default is left out, so that exporting what was imported from an export
//! gives the same bytes.

use std::io::{self, Write};

use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::{Map, Value, json};
use shared::directory::Directory;
use shared::funnel::Funnel;
use shared::id::{CallId, MeetingId, OpportunityId, TicketId};
use shared::lead::{ChannelRestrictions, Lead};
use shared::store::StoreError;
use shared::store::operator::{Operator, OperatorError, Pages};

#[cfg(feature = "fuzzing")]
use crate::import::record::Record;
use crate::progress;

/// How many records of each kind were written, in the order of the kinds.
pub type Counts = Vec<(&'static str, u64)>;

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its lines cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The records cannot be read.
    #[error(transparent)]
    Operator(#[from] OperatorError),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Operator(error.into())
    }
}

/// Writes all records of an instance to `out`, in bounded memory. A call, an opportunity or a meeting made after it began
/// is not in it. Of a lead whose deletion is not finished nothing is (C-24): each page is held against the deletions that
/// are known once it was read.
///
/// # Errors
/// [`Error`] where they cannot be read or written; what was written by then is no whole export.
pub async fn export(operator: &Operator, out: &mut impl Write, bar: &ProgressBar) -> Result<Counts, Error> {
    progress::uncounted(bar, "records");
    let mut sheet = Sheet {
        out,
        bar,
        counts: Counts::new(),
    };
    // First, so that every lead of an exported meeting, opportunity or call is exported too; and every opportunity of an
    // exported meeting.
    let last_ticket = operator.last_ticket().await?;
    let last_meeting = operator.last_meeting().await?;
    let last_opportunity = operator.last_opportunity().await?;
    let last_call = operator.last_call().await?;
    sheet.directory(&operator.directory().await?)?;
    sheet.pages("user", operator.users()).await?;
    sheet.pages("profile", operator.profiles()).await?;
    sheet.pages("company", operator.companies()).await?;
    sheet.leads(operator).await?;
    sheet.funnels(operator).await?;
    sheet.begin("opportunity");
    if let Some(last) = last_opportunity {
        sheet.opportunities(operator, last).await?;
    }
    sheet.pages("calendar", operator.calendars()).await?;
    sheet.begin("meeting");
    if let Some(last) = last_meeting {
        sheet.meetings(operator, last).await?;
    }
    sheet.tickets(operator, last_ticket).await?;
    sheet.files(operator, last_ticket).await?;
    sheet.begin("call");
    if let Some(last) = last_call {
        sheet.calls(operator, last).await?;
    }
    sheet.begin("event");
    if let Some(last) = last_call {
        sheet.events(operator, last).await?;
    }
    sheet.reports(operator).await?;
    sheet.pages("automation", operator.automations()).await?;
    Ok(sheet.counts)
}

struct Sheet<'a, W> {
    out: &'a mut W,
    bar: &'a ProgressBar,
    counts: Counts,
}

impl<W: Write> Sheet<'_, W> {
    fn begin(&mut self, kind: &'static str) {
        if self.counts.last().is_none_or(|(last, _)| *last != kind) {
            self.counts.push((kind, 0));
            self.bar.set_message(kind);
        }
    }

    fn directory(&mut self, directory: &Directory) -> Result<(), Error> {
        self.begin("setting");
        for (name, value) in directory.settings.entries() {
            self.record("setting", &json!({ "name": name, "value": value }))?;
        }
        self.begin("department");
        for (id, department) in &directory.departments {
            let line = json!({ "id": id, "name": department.name, "parent": department.parent });
            self.record("department", &line)?;
        }
        self.begin("group");
        for (id, group) in &directory.groups {
            self.record(
                "group",
                &json!({ "id": id, "name": group.name, "permissions": group.permissions }),
            )?;
        }
        Ok(())
    }

    async fn pages<T: Serialize>(&mut self, kind: &'static str, mut pages: Pages<T>) -> Result<(), Error> {
        self.begin(kind);
        while let Some(page) = pages.next().await? {
            page.iter().try_for_each(|record| self.record(kind, record))?;
        }
        Ok(())
    }

    async fn leads(&mut self, operator: &Operator) -> Result<(), Error> {
        self.begin("lead");
        let mut leads = operator.leads();
        while let Some(page) = leads.next().await? {
            page.into_iter().try_for_each(|lead| self.lead(lead))?;
        }
        Ok(())
    }

    async fn funnels(&mut self, operator: &Operator) -> Result<(), Error> {
        self.begin("funnel");
        let mut funnels = operator.funnels();
        while let Some(page) = funnels.next().await? {
            page.iter().try_for_each(|funnel| self.funnel(funnel))?;
        }
        Ok(())
    }

    async fn opportunities(&mut self, operator: &Operator, last: OpportunityId) -> Result<(), Error> {
        let mut opportunities = operator.opportunities();
        while let Some(page) = opportunities.next().await? {
            let erasures = operator.erasures().await?;
            let page = page.into_iter().map(|record| record.card.opportunity);
            for opportunity in page.filter(|opportunity| opportunity.id <= last) {
                let shown = erasures.opportunity(opportunity);
                self.line("opportunity", shown.sparse())?;
            }
        }
        Ok(())
    }

    async fn meetings(&mut self, operator: &Operator, last: MeetingId) -> Result<(), Error> {
        let mut meetings = operator.meetings(last);
        while let Some(page) = meetings.next().await? {
            let erasures = operator.erasures().await?;
            for meeting in page {
                self.line("meeting", erasures.meeting(meeting).sparse())?;
            }
        }
        Ok(())
    }

    async fn tickets(&mut self, operator: &Operator, last: Option<TicketId>) -> Result<(), Error> {
        self.begin("ticket");
        let Some(last) = last else { return Ok(()) };
        let mut tickets = operator.tickets(last);
        while let Some(page) = tickets.next().await? {
            let erasures = operator.erasures().await?;
            for ticket in page {
                self.line("ticket", erasures.ticket(ticket).sparse())?;
            }
        }
        Ok(())
    }

    /// The files of tickets up to one of them.
    async fn files(&mut self, operator: &Operator, last: Option<TicketId>) -> Result<(), Error> {
        self.begin("file");
        let Some(last) = last else { return Ok(()) };
        let mut files = operator.files();
        while let Some(page) = files.next().await? {
            page.iter()
                .filter(|file| file.ticket <= last)
                .try_for_each(|file| self.line("file", file.sparse()))?;
        }
        Ok(())
    }

    async fn calls(&mut self, operator: &Operator, last: CallId) -> Result<(), Error> {
        let mut calls = operator.calls(last);
        while let Some(page) = calls.next().await? {
            let erasures = operator.erasures().await?;
            for call in page {
                self.record("call", &erasures.call(call))?;
            }
        }
        Ok(())
    }

    async fn events(&mut self, operator: &Operator, last: CallId) -> Result<(), Error> {
        let mut events = operator.events(last);
        while let Some(page) = events.next().await? {
            let erasures = operator.erasures().await?;
            for event in page.iter().filter(|event| !erasures.cover(Some(event.lead))) {
                self.record("event", event)?;
            }
        }
        Ok(())
    }

    async fn reports(&mut self, operator: &Operator) -> Result<(), Error> {
        self.begin("report");
        let mut reports = operator.reports();
        while let Some(page) = reports.next().await? {
            page.iter()
                .try_for_each(|report| self.line("report", report.sparse()))?;
        }
        Ok(())
    }

    fn lead(&mut self, lead: Lead) -> Result<(), Error> {
        let mut fields = sparse(&lead)?;
        if lead.channel_restrictions == ChannelRestrictions::default() {
            fields.shift_remove("channelRestrictions");
        }
        if !lead.utm_tags.is_empty() {
            fields.insert("utmTags".to_owned(), lead.utm_tags.into());
        }
        // A custom field's null or empty list is its value.
        fields.extend(lead.custom);
        self.line("lead", fields)
    }

    fn funnel(&mut self, funnel: &Funnel) -> Result<(), Error> {
        let mut fields = sparse(funnel)?;
        // A line without columns would be a bad one.
        fields.insert("columns".to_owned(), json!(funnel.columns));
        if funnel.access.is_open() {
            fields.shift_remove("access");
        }
        self.line("funnel", fields)
    }

    fn record(&mut self, kind: &'static str, record: &impl Serialize) -> Result<(), Error> {
        self.line(kind, sparse(record)?)
    }

    fn line(&mut self, kind: &'static str, fields: Map<String, Value>) -> Result<(), Error> {
        let mut line = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
        line.extend(fields);
        serde_json::to_writer(&mut *self.out, &line).map_err(io::Error::from)?;
        self.out.write_all(b"\n")?;
        self.begin(kind);
        if let Some((_, count)) = self.counts.last_mut() {
            *count += 1;
        }
        self.bar.inc(1);
        Ok(())
    }
}

/// The line of one record, as an export has it; nothing where an export has none.
#[cfg(feature = "fuzzing")]
pub(crate) fn line_of(record: Record) -> Result<Vec<u8>, Error> {
    let (mut out, bar) = (Vec::new(), ProgressBar::hidden());
    let mut sheet = Sheet {
        out: &mut out,
        bar: &bar,
        counts: Counts::new(),
    };
    let mut directory = Directory::default();
    match record {
        Record::Setting(name, value) => {
            // One that cannot be set is none.
            let _ = directory.settings.set(&name, &value);
        }
        Record::Department(id, department) => {
            directory.departments.insert(id, department);
        }
        Record::Group(id, group) => {
            directory.groups.insert(id, group);
        }
        Record::User(user) => sheet.record("user", &user)?,
        Record::Profile(profile) => sheet.record("profile", &profile)?,
        Record::Company(company) => sheet.record("company", &company)?,
        Record::Lead(line) => sheet.lead(line.lead)?,
        Record::Funnel(funnel) => sheet.funnel(&funnel)?,
        Record::Opportunity(line) => sheet.line("opportunity", line.opportunity.sparse())?,
        Record::Calendar(line) => sheet.record("calendar", &line.calendar)?,
        Record::Meeting(line) => sheet.line("meeting", line.meeting.sparse())?,
        Record::Ticket(line) => sheet.line("ticket", line.ticket.sparse())?,
        Record::File(file) => sheet.line("file", file.sparse())?,
        Record::Call(line) => sheet.record("call", &line.call)?,
        Record::Event(event) => sheet.record("event", &event)?,
        Record::Report(line) => sheet.line("report", line.definition.sparse())?,
        Record::Automation(automation) => sheet.record("automation", &automation)?,
    }
    sheet.directory(&directory)?;
    Ok(out)
}

/// A record's fields without nulls and empty lists.
fn sparse(record: &impl Serialize) -> Result<Map<String, Value>, Error> {
    let value = serde_json::to_value(record).map_err(io::Error::from)?;
    let Value::Object(mut fields) = value else {
        return Ok(Map::new());
    };
    fields.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    Ok(fields)
}
