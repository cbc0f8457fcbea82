//! Time zones: conversion between local times and instants, through every change of the clock.

use std::fmt;

use chrono::{
    DateTime, Datelike as _, Duration, MappedLocalTime, NaiveDateTime, NaiveTime, TimeZone as _, Utc,
};
use chrono_tz::{GapInfo, Tz};
use serde::{Deserialize, Serialize};

use super::{Day, Timestamp};

/// An IANA time zone, of an instance's days (C-8) or of a calendar's hours (C-52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(Tz);

impl Zone {
    /// UTC, the default of the setting `timezone`.
    pub const UTC: Self = Self(Tz::UTC);

    /// A zone by its IANA name, such as `America/Sao_Paulo`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }

    /// Its IANA name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The first instant of a day. If the clock skips midnight, the first instant after the gap; if midnight
    /// occurs twice, the first.
    #[must_use]
    pub fn start_of(self, day: Day) -> Timestamp {
        self.earliest(day, 0)
    }

    /// The instant of a local time, in minutes after `00:00`. If the clock skips it, the first instant after
    /// the gap; if it occurs twice, the first.
    #[must_use]
    pub fn earliest(self, day: Day, minutes: u16) -> Timestamp {
        let local = wall_clock(day, minutes);
        let instant = match self.0.from_local_datetime(&local) {
            MappedLocalTime::Single(instant) | MappedLocalTime::Ambiguous(instant, _) => instant.to_utc(),
            MappedLocalTime::None => self.after_gap(local),
        };
        bounded(instant)
    }

    /// Like [`Self::earliest`], but the second instant if the local time occurs twice.
    #[must_use]
    pub fn latest(self, day: Day, minutes: u16) -> Timestamp {
        let local = wall_clock(day, minutes);
        let instant = match self.0.from_local_datetime(&local) {
            MappedLocalTime::Single(instant) | MappedLocalTime::Ambiguous(_, instant) => instant.to_utc(),
            MappedLocalTime::None => self.after_gap(local),
        };
        bounded(instant)
    }

    /// The local day of an instant, limited to the representable years.
    #[must_use]
    pub fn day_of(self, time: Timestamp) -> Day {
        let day = time.0.with_timezone(&self.0).date_naive();
        match day.year() {
            1..=9999 => Day(day),
            // The offset leads out of these years, so the UTC day is the first or the last.
            _ => Day(time.0.date_naive()),
        }
    }

    /// The first instant after the gap that contains a local time.
    fn after_gap(self, local: NaiveDateTime) -> DateTime<Utc> {
        let end = GapInfo::new(&local, &self.0).and_then(|gap| gap.end);
        // The callers pass local times in a gap, and a gap has an end. The fallback only avoids a panic.
        end.map_or_else(|| local.and_utc(), |end| end.to_utc())
    }
}

/// The local date and time this number of minutes after `00:00`.
fn wall_clock(day: Day, minutes: u16) -> NaiveDateTime {
    day.0.and_time(NaiveTime::MIN) + Duration::minutes(minutes.into())
}

/// The instant, limited to the representable years: east of UTC the first day begins in the year before it,
/// west of UTC the last day ends in the year after it.
fn bounded(instant: DateTime<Utc>) -> Timestamp {
    let millis = instant
        .timestamp_millis()
        .clamp(Timestamp::FIRST_MILLIS, Timestamp::LAST_MILLIS);
    Timestamp::from_unix_millis(millis).unwrap_or(Timestamp(instant))
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TryFrom<String> for Zone {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name).ok_or("must be an IANA time zone such as America/Sao_Paulo")
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn zone(name: &str) -> Zone {
        Zone::parse(name).unwrap()
    }

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn start(name: &str, text: &str) -> String {
        zone(name).start_of(day(text)).to_string()
    }

    #[test]
    fn zones_serialize_as_names() {
        let zone: Zone = serde_json::from_value(json!("America/Sao_Paulo")).unwrap();
        assert_eq!(
            (json!(zone), zone.to_string()),
            (json!("America/Sao_Paulo"), "America/Sao_Paulo".to_owned())
        );
        for bad in ["", "Sao Paulo", "-03:00", "america/sao_paulo"] {
            let refused = serde_json::from_value::<Zone>(json!(bad)).unwrap_err();
            assert_eq!(
                refused.to_string(),
                "must be an IANA time zone such as America/Sao_Paulo",
                "{bad}"
            );
        }
    }

    #[test]
    fn days_at_the_ends_of_time_are_clamped() {
        assert_eq!(start("Asia/Tokyo", "0001-01-01"), "0001-01-01T00:00:00.000Z");
        assert_eq!(start("Asia/Tokyo", "0001-01-02"), "0001-01-01T14:41:01.000Z");
        let end = zone("America/Sao_Paulo").latest(day("9999-12-31"), 24 * 60);
        assert_eq!(end.unix_millis(), Timestamp::LAST_MILLIS);
    }

    #[test]
    fn a_day_begins_at_its_zones_midnight() {
        for (name, day, begins, why) in [
            (
                "America/Sao_Paulo",
                "2026-06-01",
                "2026-06-01T03:00:00.000Z",
                "plain",
            ),
            (
                "America/Sao_Paulo",
                "2018-11-04",
                "2018-11-04T03:00:00.000Z",
                "midnight skipped",
            ),
            (
                "America/Sao_Paulo",
                "2018-02-18",
                "2018-02-18T03:00:00.000Z",
                "23:00 came twice",
            ),
            (
                "America/Havana",
                "2026-11-01",
                "2026-11-01T04:00:00.000Z",
                "00:00 comes twice",
            ),
            (
                "Pacific/Apia",
                "2011-12-30",
                "2011-12-30T10:00:00.000Z",
                "a day that never was",
            ),
            (
                "America/Sao_Paulo",
                "1914-01-01",
                "1914-01-01T03:06:28.000Z",
                "a gap of 6 minutes 28",
            ),
        ] {
            assert_eq!(start(name, day), begins, "{why}");
        }
    }

    /// Zone, day, minutes after 00:00, and the two instants of that local time.
    const SHOWN: &str = "
        America/New_York 2026-03-08  119 2026-03-08T06:59 2026-03-08T06:59
        America/New_York 2026-03-08  120 2026-03-08T07:00 2026-03-08T07:00
        America/New_York 2026-03-08  150 2026-03-08T07:00 2026-03-08T07:00
        America/New_York 2026-03-08  180 2026-03-08T07:00 2026-03-08T07:00
        America/New_York 2026-03-08  181 2026-03-08T07:01 2026-03-08T07:01
        America/New_York 2026-11-01   59 2026-11-01T04:59 2026-11-01T04:59
        America/New_York 2026-11-01   60 2026-11-01T05:00 2026-11-01T06:00
        America/New_York 2026-11-01  119 2026-11-01T05:59 2026-11-01T06:59
        America/New_York 2026-11-01  120 2026-11-01T07:00 2026-11-01T07:00
        America/Toronto  1919-03-30 1425 1919-03-31T04:30 1919-03-31T04:30
        Asia/Kolkata     2026-11-01 1440 2026-11-01T18:30 2026-11-01T18:30
    ";

    #[test]
    fn clock_changes_skip_and_repeat_local_times() {
        for row in SHOWN.trim().lines() {
            let row: Vec<_> = row.split_whitespace().collect();
            let (zone, day, minutes) = (zone(row[0]), day(row[1]), row[2].parse().unwrap());
            let found = [zone.earliest(day, minutes), zone.latest(day, minutes)];
            assert_eq!(
                found.map(|time| time.to_string()[..16].to_owned()),
                row[3..],
                "{row:?}"
            );
        }
    }

    #[test]
    fn instants_have_a_day_in_each_zone() {
        for (name, time, on) in [
            ("UTC", "2026-11-21T23:59:59.999Z", "2026-11-21"),
            ("America/Sao_Paulo", "2026-11-21T02:59:59.999Z", "2026-11-20"),
            ("America/Sao_Paulo", "2026-11-21T03:00:00.000Z", "2026-11-21"),
            ("Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-29"),
            ("Pacific/Apia", "2011-12-30T10:00:00.000Z", "2011-12-31"),
            ("America/Sao_Paulo", "0001-01-01T00:00:00.000Z", "0001-01-01"),
            ("Asia/Tokyo", "9999-12-31T23:59:59.999Z", "9999-12-31"),
        ] {
            let time = Timestamp::parse(time).unwrap();
            assert_eq!(zone(name).day_of(time), day(on), "{name} {time}");
        }
    }
}
