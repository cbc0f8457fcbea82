//! A line of an import without a table behind it: what it is refused for, and how an export would write it.

use serde_json::Value;
use shared::settings::Settings;
use shared::time::Timestamp;

use crate::export;
use crate::import::line;
use crate::import::record::Record;
use crate::import::report::Tally;

/// A line that was accepted.
#[derive(Debug, PartialEq)]
pub struct Line(Record);

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// The reason, as the import's report tells it.
    pub fn read(text: &str) -> Result<Self, String> {
        line::parse(text).map(Self).map_err(|reason| {
            let mut tally = Tally::default();
            tally.refuse(1, reason);
            let told = tally.report().refused;
            told.into_iter().map(|refused| refused.reason).collect()
        })
    }

    /// The same as a table keeps it: times that it leaves out are `now`, a setting has its one spelling. `None` where it takes
    /// something away and so leaves nothing to keep.
    #[must_use]
    pub fn kept(self, now: Timestamp) -> Option<Self> {
        let times = |create: &mut Option<Timestamp>, change: &mut Option<Timestamp>| {
            (*create.get_or_insert(now), *change.get_or_insert(now))
        };
        let mut record = self.0;
        match &mut record {
            Record::Lead(line) => {
                (line.lead.create_date, line.lead.last_active) =
                    times(&mut line.create_date, &mut line.last_active);
            }
            Record::Opportunity(line) => {
                let record = &mut line.opportunity;
                (record.create_date, record.update_date) =
                    times(&mut line.create_date, &mut line.update_date);
            }
            Record::Calendar(line) => {
                let record = &mut line.calendar;
                (record.create_date, record.update_date) =
                    times(&mut line.create_date, &mut line.update_date);
            }
            Record::Meeting(line) => {
                let record = &mut line.meeting;
                (record.create_date, record.update_date) =
                    times(&mut line.create_date, &mut line.update_date);
            }
            Record::Ticket(line) => {
                let record = &mut line.ticket;
                (record.create_date, record.update_date) =
                    times(&mut line.create_date, &mut line.update_date);
            }
            Record::Report(line) => {
                let record = &mut line.definition;
                (record.create_date, record.update_date) =
                    times(&mut line.create_date, &mut line.update_date);
            }
            Record::Call(line) => line.call.create_date = *line.create_date.get_or_insert(now),
            Record::Setting(name, value) => *value = spelled(name, value)?,
            _ => {}
        }
        Some(Self(record))
    }

    /// The line that an export has of what is kept.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn written(self) -> Result<String, String> {
        let bytes = export::line_of(self.0).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// The value of a setting as it is kept.
fn spelled(name: &str, value: &Value) -> Option<Value> {
    let mut settings = Settings::default();
    settings.set(name, value).ok()?;
    let mut entries = settings.entries().into_iter();
    entries.find_map(|(set, value)| (set == name).then_some(value))
}
