//! Timestamps and calendar days (C-8).

mod written;
mod zone;

use std::fmt;

use chrono::{DateTime, Datelike as _, Days, Duration, NaiveDate, SubsecRound as _, Utc, Weekday};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use zone::{BadDirectory, Zone, use_directory, uses_directory, version as zone_version};

/// A point in time with milliseconds, in the UTC years 0001 to 9999.
///
/// Formatted as `YYYY-MM-DDTHH:MM:SS.sssZ`, which sorts chronologically. Parsed from RFC 3339 with any offset, and from
/// ISO 8601 as libraries print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The smallest timestamp, in milliseconds since 1970.
    pub const FIRST_MILLIS: i64 = -62_135_596_800_000;

    /// The first input: the beginning of 1900 in the easternmost zone.
    const FIRST_INPUT_MILLIS: i64 = -2_209_039_200_000;
    /// The largest timestamp, in milliseconds since 1970.
    pub const LAST_MILLIS: i64 = 253_402_300_799_999;
    /// 1970-01-01T00:00:00.000Z.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// Parses RFC 3339 and its common variants (C-8): without seconds; with `+0000` or `+00` for an offset, and a blank
    /// in front of it; with the zone's name in brackets behind it. `None` for other text and for years outside 1900 to
    /// 9999 in UTC. A leap second (`:60`) is the first second of the next minute.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Almost all texts are stored ones, which the first parser reads faster.
        Self::from_written(text)
            .or_else(|| Self::from_rfc3339(text))
            .or_else(|| Self::from_rfc3339(&written::as_rfc3339(text)?))
            // Programs write 0001-01-01 for an unknown time.
            .filter(|time| time.unix_millis() >= Self::FIRST_INPUT_MILLIS)
    }

    fn from_rfc3339(text: &str) -> Option<Self> {
        // chrono also accepts the typographic minus sign, U+2212, which RFC 3339 does not allow.
        if !text.is_ascii() {
            return None;
        }
        let parsed = DateTime::parse_from_rfc3339(text).ok()?;
        // By milliseconds: chrono keeps a leap second as an overlong second, which would be formatted as an
        // earlier time.
        Self::from_unix_millis(parsed.timestamp_millis())
    }

    /// From milliseconds since 1970; `None` outside the years 0001 to 9999.
    #[must_use]
    pub fn from_unix_millis(millis: i64) -> Option<Self> {
        let time = DateTime::from_timestamp_millis(millis)?;
        (1..=9999).contains(&time.year()).then_some(Self(time))
    }

    /// Whole seconds since 1970, the unit of the table's expiry attribute.
    #[must_use]
    pub fn unix_seconds(self) -> i64 {
        self.0.timestamp()
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn unix_millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// Adds days, saturating at the largest timestamp.
    #[must_use]
    pub fn plus_days(self, days: u32) -> Self {
        self.plus(Duration::days(i64::from(days)))
    }

    /// Adds seconds, saturating at the largest timestamp.
    #[must_use]
    pub fn plus_seconds(self, seconds: u32) -> Self {
        self.plus(Duration::seconds(i64::from(seconds)))
    }

    fn plus(self, length: Duration) -> Self {
        let sum = self.0.checked_add_signed(length).filter(|sum| sum.year() <= 9999);
        let last = DateTime::from_timestamp_millis(Self::LAST_MILLIS);
        Self(sum.or(last).unwrap_or(self.0))
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(time: DateTime<Utc>) -> Self {
        Self(time.trunc_subsecs(3))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.written()).unwrap_or_default())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(str::from_utf8(&self.written()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Timestamp, E> {
                let time = Timestamp::parse(text);
                time.ok_or_else(|| E::custom("must be a date-time such as 2026-11-21T12:00:00.000Z"))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// A calendar day `YYYY-MM-DD`. A [`Zone`] converts it to instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(NaiveDate);

impl Day {
    /// Whether it is a date that a record may have: programs write 0001-01-01 for an unknown one (C-8).
    #[must_use]
    pub fn is_input(self) -> bool {
        self.0.year() >= 1900
    }

    /// Parses exactly `YYYY-MM-DD`, years 0001 to 9999.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // chrono also accepts signs, spaces and numbers of fewer digits.
        let has_form = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !has_form {
            return None;
        }
        let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        (1..=9999).contains(&day.year()).then_some(Self(day))
    }

    /// The next day, if representable.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.succ_opt().filter(|next| next.year() <= 9999).map(Self)
    }

    /// The previous day, if representable.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        self.0.pred_opt().filter(|day| day.year() >= 1).map(Self)
    }

    /// Adds days, saturating at the last representable day.
    #[must_use]
    pub fn plus_days(self, days: u64) -> Self {
        let sum = self.0.checked_add_days(Days::new(days));
        let last = || NaiveDate::from_ymd_opt(9999, 12, 31);
        Self(
            sum.filter(|sum| sum.year() <= 9999)
                .or_else(last)
                .unwrap_or(self.0),
        )
    }

    /// Subtracts days, saturating at the first representable day.
    #[must_use]
    pub fn minus_days(self, days: u64) -> Self {
        let difference = self.0.checked_sub_days(Days::new(days));
        let first = || NaiveDate::from_ymd_opt(1, 1, 1);
        Self(
            difference
                .filter(|day| day.year() >= 1)
                .or_else(first)
                .unwrap_or(self.0),
        )
    }

    /// Its month, `YYYY-MM`.
    #[must_use]
    pub fn month(self) -> String {
        format!("{:04}-{:02}", self.0.year(), self.0.month())
    }

    /// Its ISO week, `YYYY-Www`. The year is that of the week.
    #[must_use]
    pub fn week(self) -> String {
        let week = self.0.iso_week();
        format!("{:04}-W{:02}", week.year(), week.week())
    }

    /// Its weekday.
    #[must_use]
    pub fn weekday(self) -> Weekday {
        self.0.weekday()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for Day {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("must be a date such as 2026-11-21")
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_in_utc_with_milliseconds() {
        let written = |text| Timestamp::parse(text).map(|time| time.to_string());
        assert_eq!(
            written("2026-03-11T09:00:01-03:00").unwrap(),
            "2026-03-11T12:00:01.000Z"
        );
        assert_eq!(
            written("2026-03-11T12:00:01.1239Z").unwrap(),
            "2026-03-11T12:00:01.123Z"
        );
        assert_eq!(
            written("1900-01-01T00:00:00+14:00").unwrap(),
            "1899-12-31T10:00:00.000Z"
        );
        assert_eq!(
            written("1969-12-31T23:59:59.9999Z").unwrap(),
            "1969-12-31T23:59:59.999Z"
        );
        for bad in [
            "",
            "2026-03-11",
            "2026-02-30T00:00:00Z",
            "2026-03-11T12:00:01",
            "2026-03-11T12:00:01\u{2212}03:00",
            "9999-12-31T23:59:59-01:00",
            "0001-01-01T00:00:00Z",
            "1899-12-31T09:59:59Z",
        ] {
            assert_eq!(written(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_leap_second_is_the_first_of_the_next_minute() {
        for (text, same) in [
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
            ("2016-12-31T20:59:60.75-03:00", "2017-01-01T00:00:00.750Z"),
            ("2026-11-23T08:59:60.999Z", "2026-11-23T09:00:00.999Z"),
        ] {
            let time = Timestamp::parse(text);
            assert_eq!(time, Timestamp::parse(same), "{text}");
            assert_eq!(time.and_then(|time| Timestamp::parse(&time.to_string())), time);
        }
        assert_eq!(Timestamp::parse("9999-12-31T23:59:60Z"), None);
    }

    #[test]
    fn sums_saturate_at_the_representable_years() {
        let last = Timestamp::parse("9999-12-31T23:59:59.999Z").unwrap();
        assert_eq!(last.plus_days(u32::MAX), last);
        assert_eq!(last.plus_seconds(1), last);
        assert_eq!(last.unix_millis(), Timestamp::LAST_MILLIS);
        let earlier = Timestamp::parse("9999-12-31T23:59:00Z").unwrap();
        assert_eq!(earlier.plus_days(1), last);
    }

    #[test]
    fn days_have_one_form() {
        assert!(Day::parse("2026-02-28").is_some());
        for bad in [
            "2026-2-28",
            "2026-02-29",
            "2026/02/28",
            "+026-02-28",
            "2026-02-28 ",
            "0000-01-01",
        ] {
            assert_eq!(Day::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_last_day_has_no_next() {
        let next = |day| Day::parse(day).unwrap().next();
        assert_eq!(next("2028-02-28"), Day::parse("2028-02-29"));
        assert_eq!(next("9999-12-30"), Day::parse("9999-12-31"));
        assert_eq!(next("9999-12-31"), None);
    }

    #[test]
    fn days_round_trip_and_add() {
        let day = |text| Day::parse(text).unwrap();
        assert_eq!(serde_json::json!(day("0009-02-03")), "0009-02-03");
        let refused = serde_json::from_value::<Day>("2026-02-29".into()).unwrap_err();
        assert_eq!(refused.to_string(), "must be a date such as 2026-11-21");
        for (from, days, to) in [
            ("2026-11-21", 0, "2026-11-21"),
            ("2026-12-30", 62, "2027-03-02"),
            ("9999-12-30", 1, "9999-12-31"),
            ("9999-12-30", 2, "9999-12-31"),
            ("2026-11-21", u64::MAX, "9999-12-31"),
        ] {
            assert_eq!(day(from).plus_days(days), day(to), "{from} and {days}");
        }
        assert_eq!(day("2028-03-01").previous(), Some(day("2028-02-29")));
        assert_eq!(day("0001-01-01").previous(), None);
        assert_eq!(day("2026-11-21").weekday(), Weekday::Sat);
    }

    #[test]
    fn days_subtract_and_have_months_and_weeks() {
        let day = |text| Day::parse(text).unwrap();
        for (from, days, to) in [
            ("2026-11-21", 0, "2026-11-21"),
            ("2028-03-01", 1, "2028-02-29"),
            ("0001-01-02", 2, "0001-01-01"),
            ("2026-11-21", u64::MAX, "0001-01-01"),
        ] {
            assert_eq!(day(from).minus_days(days), day(to), "{from} less {days}");
        }
        for (text, month, week) in [
            ("2026-12-31", "2026-12", "2026-W53"),
            ("2027-01-03", "2027-01", "2026-W53"),
            ("2027-01-04", "2027-01", "2027-W01"),
            ("2024-12-30", "2024-12", "2025-W01"),
            ("0001-01-01", "0001-01", "0001-W01"),
            ("9999-12-31", "9999-12", "9999-W52"),
        ] {
            assert_eq!(
                (day(text).month().as_str(), day(text).week().as_str()),
                (month, week)
            );
        }
    }

    #[test]
    fn only_representable_milliseconds_are_timestamps() {
        for (millis, text) in [
            (Timestamp::FIRST_MILLIS, "0001-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (Timestamp::LAST_MILLIS, "9999-12-31T23:59:59.999Z"),
        ] {
            let time = Timestamp::from_unix_millis(millis).unwrap();
            assert_eq!((time.to_string().as_str(), time.unix_millis()), (text, millis));
        }
        for outside in [
            i64::MIN,
            Timestamp::FIRST_MILLIS - 1,
            Timestamp::LAST_MILLIS + 1,
            i64::MAX,
        ] {
            assert_eq!(Timestamp::from_unix_millis(outside), None);
        }
    }
}
