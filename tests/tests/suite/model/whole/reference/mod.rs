//! A reference of the service: its response to each request by the contract alone, with maps in memory.

mod board;
mod calls;
mod choices;
mod claims;
pub mod clock;
pub mod filters;
mod forms;
mod lead_edits;
mod leads;
pub mod meetings;
mod opportunities;
mod people;
mod phones;
mod refused;
mod reports;
mod tickets;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::op::Ask;
use board::Walks;
use claims::{Claims, Credential};
use people::People;
use reports::Reports;

pub use refused::{TABLE as REFUSED, without_words};

pub type Record = Map<String, Value>;
/// A status and a body.
pub type Said = (u16, Value);

/// The state of the reference.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    people: People,
    leads: BTreeMap<u64, Record>,
    /// Custom fields by lead.
    customs: BTreeMap<u64, Record>,
    funnels: BTreeMap<u64, Value>,
    opportunities: BTreeMap<u64, Record>,
    tickets: BTreeMap<u64, Record>,
    files: Vec<Record>,
    calendars: BTreeMap<u64, Value>,
    meetings: BTreeMap<u64, Record>,
    imported_meetings: BTreeSet<u64>,
    /// Names of messaging accounts, by number.
    profiles: BTreeMap<String, Value>,
    /// Lines of tags and loss reasons.
    labels: Vec<Value>,
    /// Lines of forms.
    hooks: Vec<Value>,
    calls: Vec<calls::Call>,
    /// Calls with pending automations.
    raised: Vec<u64>,
    reports: Reports,
    credentials: BTreeMap<u64, Credential>,
    claims: Claims,
    /// Sequences of pages.
    pub walks: Walks,
    last_lead: u64,
    last_opportunity: u64,
    last_meeting: u64,
    /// Current time.
    pub now: String,
    /// Whether the last response was a replay (C-10).
    pub replayed: bool,
    /// Number of conditions that the last answer ignored (C-44).
    pub ignored: Option<usize>,
}

/// A parsed request.
pub struct Asked<'a> {
    pub by: u64,
    pub method: &'a str,
    pub uri: &'a str,
    pub path: Vec<&'a str>,
    pub params: BTreeMap<&'a str, String>,
    pub body: &'a Value,
    pub key: Option<&'a str>,
    pub walks: bool,
}

impl<'a> Asked<'a> {
    pub fn read(ask: &'a Ask) -> Self {
        let (path, params) = ask.path.split_once('?').unwrap_or((&ask.path, ""));
        let pairs = params.split('&').filter_map(|pair| pair.split_once('='));
        Self {
            by: ask.by,
            method: &ask.method,
            uri: &ask.path,
            path: path.split('/').skip(1).collect(),
            params: pairs
                .map(|(name, value)| (name, value.replace('+', " ")))
                .collect(),
            body: &ask.body,
            key: ask.key.as_deref(),
            walks: ask.walks,
        }
    }

    fn param(&self, name: &str) -> &str {
        self.params.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str, default: u64) -> u64 {
        self.param(name).parse().unwrap_or(default)
    }

    /// Booking, free times, calls and forms need no credentials.
    fn is_public(&self) -> bool {
        matches!(
            (self.method, self.path.as_slice()),
            (
                "POST",
                ["calendarmeeting"] | ["voip", "webhook"] | ["api", "hook", _]
            ) | ("GET", ["calendarmeeting", "slots"])
        )
    }
}

impl Reference {
    pub fn load(lines: &[Value], now: &str) -> Self {
        let mut reference = Self {
            now: now.to_owned(),
            ..Self::default()
        };
        for line in lines {
            let id = line["id"].as_u64().unwrap_or_default();
            match line["kind"].as_str().expect("a kind") {
                "department" | "group" | "user" => reference.people.add(line),
                "tag" | "lossReason" => reference.labels.push(line.clone()),
                "hook" => reference.hooks.push(line.clone()),
                "lead" => reference.add_lead(line),
                "funnel" => drop(reference.funnels.insert(id, line.clone())),
                "opportunity" => reference.add_opportunity(line),
                "ticket" => reference.add_ticket(line),
                "file" => reference.files.push(line.as_object().expect("a line").clone()),
                "calendar" => drop(reference.calendars.insert(id, line.clone())),
                "meeting" => reference.add_meeting(line),
                "report" => reference.reports.add(line),
                "profile" => {
                    let number = line["number"].as_str().expect("a number");
                    reference.profiles.insert(number.to_owned(), line.clone());
                }
                _ => {}
            }
        }
        reference
    }

    /// Computes the response and updates the state.
    pub fn answer(&mut self, asked: &Asked<'_>) -> Said {
        self.replayed = false;
        self.ignored = None;
        if !asked.is_public() && !self.is_let_in(asked.by) {
            return match asked.path.as_slice() {
                ["crmopportunity"] => (401, json!({ "msg": "Unauthorized" })),
                _ => error(401),
            };
        }
        if let Some(said) = refused::said(asked) {
            return said;
        }
        match (asked.method, asked.path.as_slice()) {
            ("GET", ["leads"]) => self.list_leads(asked),
            ("POST", ["leadsadvanced"]) => self.list_advanced(asked),
            ("GET", ["leads", id]) => self.get_lead(asked, number_in(id)),
            ("POST", ["leads"]) => self.create_lead(asked),
            ("PUT", ["leads"]) => self.update_lead(asked, asked.body["id"].as_u64().expect("an id")),
            ("PUT", ["leads", id]) => self.update_lead(asked, number_in(id)),
            ("DELETE", ["leads", id]) => self.delete_lead(asked, number_in(id)),
            ("DELETE", ["leads"]) => self.delete_leads(asked),
            ("POST", ["lead", "archive"]) => self.archive(asked),
            ("POST", ["crmopportunity"]) => self.create_opportunity(asked),
            ("PUT", ["crmopportunity", id]) => self.update_opportunity(asked, number_in(id)),
            ("GET", ["listopportunitysleadcomplete", id]) => self.opportunities_of(asked, number_in(id)),
            ("GET", ["crm"]) => self.list_funnels(asked),
            ("GET", ["crmfastloadv2", funnel]) => self.list_totals(asked, number_in(funnel)),
            ("GET", ["user"]) => self.list_users(asked),
            ("GET", ["departament"]) => self.list_departments(),
            ("GET", ["tags"]) => self.list_labels("tag", &["id", "tag", "color"]),
            ("GET", ["crmlossreason"]) => self.list_labels("lossReason", &["id", "name"]),
            ("POST", ["crm", "opportunities", funnel]) => self.list_opportunities(asked, number_in(funnel)),
            ("GET", ["sac360", "lead", id]) => self.list_tickets(asked, number_in(id)),
            ("GET", ["sac360", "list_file_attendance", id]) => self.files_of_ticket(asked, number_in(id)),
            ("GET", ["sac360", "list_file_lead", id]) => self.files_of_lead(asked, number_in(id)),
            ("POST", ["sac360", "relaction"]) => self.reassign(asked),
            ("POST", ["calendarmeeting"]) => self.book(asked),
            ("GET", ["calendarmeeting", "slots"]) => self.list_slots(asked),
            ("GET", ["calendarmeeting", calendar]) => self.list_meetings(asked, calendar),
            ("GET", ["advancedreports"]) => self.list_reports(asked),
            ("GET", ["reportchart", id]) => self.chart(asked, number_in(id)),
            ("GET", ["pcalendar"]) => self.list_calendars(asked),
            ("POST", ["voip", "webhook"]) => self.call(asked),
            ("POST", ["api", "hook", name]) => self.submit(asked, name),
            other => unreachable!("{other:?} is not in the reference"),
        }
    }

    /// Ids of the leads and opportunities, for generators.
    pub fn known(&self) -> (Vec<u64>, Vec<u64>) {
        (
            self.leads.keys().copied().collect(),
            self.opportunities.keys().copied().collect(),
        )
    }

    /// The times of the opportunities' last changes.
    pub fn changes(&self) -> Vec<String> {
        let all = self.opportunities.values();
        all.map(|one| text(one, "updateDate").to_owned()).collect()
    }

    /// Number of created meetings.
    pub fn meetings_made(&self) -> u64 {
        self.last_meeting
    }

    /// The lead of an opportunity.
    pub fn lead_of(&self, opportunity: u64) -> Option<u64> {
        self.opportunities.get(&opportunity)?["lead_id"].as_u64()
    }

    /// The funnel and column of an opportunity.
    pub fn stands(&self, opportunity: u64) -> Option<(u64, u64)> {
        let one = self.opportunities.get(&opportunity)?;
        Some((number(one, "crm_id"), number(one, "crm_column")))
    }
}

/// The items of a page.
fn page<T>(all: Vec<T>, skipped: u64, limit: u64) -> Vec<T> {
    let [skipped, limit] = [skipped, limit].map(|number| usize::try_from(number).expect("small"));
    all.into_iter().skip(skipped).take(limit).collect()
}

fn number_in(text: &str) -> u64 {
    text.parse().expect("an id")
}

fn number(record: &Record, name: &str) -> u64 {
    record[name].as_u64().expect("a number")
}

fn text<'a>(record: &'a Record, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}

fn error(status: u16) -> Said {
    let text = match status {
        400 => "Invalid request",
        401 => "Unauthorized",
        403 => "Forbidden",
        _ => "Not found",
    };
    (status, json!({ "error": text }))
}

/// Defaults, overwritten by the fields of a line.
fn over(mut defaults: Record, line: &Value) -> Record {
    for (name, value) in line.as_object().expect("a line") {
        if let Some(field) = defaults.get_mut(name) {
            *field = value.clone();
        }
    }
    defaults
}
