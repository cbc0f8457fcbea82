//! C-52 by brute force: clocks are read minute by minute, days are counted one by one, and the calendar is
//! the JSON of its line. All times are whole minutes since 1970.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Weekday};
use serde_json::Value;

/// Offsets in minutes, each from its instant on.
type Offsets = &'static [(&'static str, i64)];

/// The offsets of each zone and year in minutes, each from its instant on, so that no library of zones decides the tests
/// of another. They begin before the year.
pub const OFFSETS: [(&str, i32, Offsets); 6] = [
    ("America/Sao_Paulo", 2026, &[("2025-12-01T00:00:00Z", -180)]),
    (
        "America/Sao_Paulo",
        2018,
        &[
            ("2017-12-01T00:00:00Z", -120),
            ("2018-02-18T02:00:00Z", -180),
            ("2018-11-04T03:00:00Z", -120),
        ],
    ),
    (
        "America/New_York",
        2026,
        &[
            ("2025-12-01T00:00:00Z", -300),
            ("2026-03-08T07:00:00Z", -240),
            ("2026-11-01T06:00:00Z", -300),
        ],
    ),
    (
        "Europe/Lisbon",
        2026,
        &[
            ("2025-12-01T00:00:00Z", 0),
            ("2026-03-29T01:00:00Z", 60),
            ("2026-10-25T01:00:00Z", 0),
        ],
    ),
    ("Asia/Kolkata", 2026, &[("2025-12-01T00:00:00Z", 330)]),
    (
        "Pacific/Apia",
        2011,
        &[
            ("2010-12-01T00:00:00Z", -600),
            ("2011-04-02T14:00:00Z", -660),
            ("2011-09-24T14:00:00Z", -600),
            ("2011-12-30T10:00:00Z", 840),
        ],
    ),
];

/// The local time of a zone at every minute of a span.
pub struct Clocks {
    pub zone: &'static str,
    first: i64,
    shown: Vec<NaiveDateTime>,
}

/// A query.
#[derive(Debug)]
pub struct Asked {
    pub from: i64,
    pub until: i64,
    pub now: i64,
    pub meetings: Vec<(i64, i64)>,
}

impl Clocks {
    /// The clocks of a year, with a margin before and after it.
    pub fn of(zone: &'static str, year: i32, offsets: &[(&str, i64)]) -> Self {
        let minute = |text: &str| DateTime::parse_from_rfc3339(text).unwrap().timestamp() / 60;
        let offsets: Vec<_> = offsets
            .iter()
            .map(|(from, offset)| (minute(from), *offset))
            .collect();
        let first_of = |year| {
            let day = NaiveDate::from_ymd_opt(year, 1, 1).unwrap();
            day.and_time(NaiveTime::MIN).and_utc().timestamp() / 60
        };
        let (first, end) = (first_of(year) - 10 * 1440, first_of(year + 1) + 10 * 1440);
        let minutes = first..end;
        let shown = |minute: i64| {
            let (_, offset) = offsets.iter().rfind(|(from, _)| *from <= minute).unwrap();
            DateTime::from_timestamp((minute + offset) * 60, 0)
                .unwrap()
                .naive_utc()
        };
        Self {
            zone,
            first,
            shown: minutes.map(shown).collect(),
        }
    }

    pub fn shown(&self, minute: i64) -> NaiveDateTime {
        self.shown[usize::try_from(minute - self.first).unwrap()]
    }

    /// The minutes that may belong to a day in any zone.
    fn around(&self, day: NaiveDate) -> impl DoubleEndedIterator<Item = i64> {
        let midnight = day.and_time(NaiveTime::MIN).and_utc().timestamp() / 60;
        let last = self.first + i64::try_from(self.shown.len()).unwrap();
        (midnight - 2 * 1440).max(self.first)..(midnight + 3 * 1440).min(last)
    }

    fn has(&self, day: NaiveDate) -> bool {
        self.around(day).any(|minute| self.shown(minute).date() == day)
    }

    /// The first minute at or after a local time.
    fn opening(&self, day: NaiveDate, clock: &str) -> i64 {
        let time = day.and_time(NaiveTime::MIN) + since_midnight(clock);
        self.around(day)
            .find(|minute| self.shown(*minute) >= time)
            .unwrap()
    }

    /// The last minute at a local time, or the first after it if the clock skips it; for `24:00` the first minute after the
    /// day.
    fn closing(&self, day: NaiveDate, clock: &str) -> i64 {
        if clock == "24:00" {
            return self
                .around(day)
                .find(|minute| self.shown(*minute).date() > day)
                .unwrap();
        }
        let time = day.and_time(NaiveTime::MIN) + since_midnight(clock);
        let last = self.around(day).rev().find(|minute| self.shown(*minute) <= time);
        let last = last.unwrap();
        if self.shown(last) == time { last } else { last + 1 }
    }

    /// Start and end of each opening of a day.
    pub fn openings(&self, line: &Value, day: NaiveDate) -> Vec<(i64, i64)> {
        let own = line["dates"].get(day.to_string());
        let weekday = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][day.weekday() as usize];
        let hours = own.unwrap_or(&line["hours"][weekday]).as_array().unwrap();
        let ends = |opening: &Value| {
            let [from, to] = [0, 1].map(|at| opening[at].as_str().unwrap());
            // Texts of this form sort like times.
            let last = if from < to { day } else { day.succ_opt().unwrap() };
            (self.opening(day, from), self.closing(last, to))
        };
        if self.has(day) {
            hours.iter().map(ends).collect()
        } else {
            Vec::new()
        }
    }

    /// The starts that can be booked.
    pub fn starts(&self, line: &Value, asked: &Asked) -> Vec<i64> {
        let minutes = |name: &str| line[name].as_i64().unwrap_or(0);
        let (duration, buffer) = (minutes("durationMinutes"), minutes("bufferMinutes"));
        let earliest = asked.now + minutes("minimumNoticeMinutes");
        let today = self.shown(asked.now).date();
        let mut starts = Vec::new();
        let first = self.shown(asked.from).date() - TimeDelta::days(2);
        let last = self.shown(asked.until).date() + TimeDelta::days(2);
        for day in first.iter_days().take_while(|day| *day <= last) {
            if !within(&line["horizon"], today, day) {
                continue;
            }
            for (opening, closing) in self.openings(line, day) {
                let mut start = opening;
                while start + duration <= closing {
                    let asked_for = asked.from <= start && start < asked.until && earliest <= start;
                    let apart = |(begins, ends): &(i64, i64)| {
                        start + duration + buffer <= *begins || ends + buffer <= start
                    };
                    if asked_for && asked.meetings.iter().all(apart) {
                        starts.push(start);
                    }
                    start += duration + buffer;
                }
            }
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}

fn since_midnight(clock: &str) -> TimeDelta {
    let (hours, minutes) = clock.split_once(':').unwrap();
    TimeDelta::hours(hours.parse().unwrap()) + TimeDelta::minutes(minutes.parse().unwrap())
}

/// Whether a day, not in the past, is within the horizon.
fn within(horizon: &Value, today: NaiveDate, day: NaiveDate) -> bool {
    let business = |day: &NaiveDate| !matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    let ahead = today.iter_days().skip(1);
    let days = usize::try_from(horizon["days"].as_u64().unwrap_or(0)).unwrap();
    let last = match horizon["type"].as_str() {
        Some("between") => {
            let [start, end] = ["start", "end"].map(|name| horizon[name].as_str().unwrap());
            let day = day.to_string();
            return start <= day.as_str() && day.as_str() <= end;
        }
        Some("days") => ahead.take(days).fold(today, |_, day| day),
        Some("businessDays") => ahead.filter(business).take(days).fold(today, |_, day| day),
        _ => return true,
    };
    day <= last
}
