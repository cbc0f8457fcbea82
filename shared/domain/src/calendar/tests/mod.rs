//! Import lines of calendars, and C-52: by tables here, against a slow reference in `properties`.

mod grid;
mod line;
mod properties;
mod reference;
mod taken;
mod window;

use serde_json::{Value, json};

use super::{Busy, Calendar, Unavailable};
use crate::time::Timestamp;

/// Earlier than every day of these tests.
const BEFORE: &str = "2000-01-01T00:00:00Z";

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or_else(|| panic!("{text}"))
}

/// The import line of a calendar that is open daily from 09:00 to 12:00 UTC, for meetings of one hour.
fn line(changes: &Value) -> Value {
    let hours = json!([["09:00", "12:00"]]);
    let mut line = json!({
        "id": 5, "name": "Demo", "keyName": "demo", "publicId": "pub_5", "userId": 7, "timezone": "UTC",
        "durationMinutes": 60, "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-01-05T12:00:00.000Z",
        "hours": {
            "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours, "sat": hours, "sun": hours,
        },
    });
    for (name, value) in changes.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

fn calendar(changes: &Value) -> Calendar {
    serde_json::from_value(line(changes)).unwrap()
}

fn busy(meetings: &[(&str, &str)]) -> Vec<Busy> {
    let meetings = meetings.iter();
    meetings
        .map(|(start, end)| Busy::new(at(start), at(end)))
        .collect()
}

/// Meetings of this calendar with its buffer.
fn buffered(calendar: &Calendar, meetings: &[Busy]) -> Vec<Busy> {
    meetings.iter().map(|busy| calendar.with_buffer(*busy)).collect()
}

/// The starts listed in a range, formatted without seconds; requires that each is admitted too.
fn listed(calendar: &Calendar, from: &str, until: &str, now: &str, taken: &[Busy]) -> Vec<String> {
    let taken = &buffered(calendar, taken);
    let starts = calendar.starts(at(from)..at(until), at(now), taken);
    for start in &starts {
        assert_eq!(calendar.check_start(*start, at(now), taken), Ok(()), "{start}");
    }
    starts
        .iter()
        .map(|start| start.to_string()[..16].to_owned())
        .collect()
}
