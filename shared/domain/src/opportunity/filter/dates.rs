//! Date filters: days of the instance's zone or RFC 3339, both ends inclusive (C-8, C-43). An end given as a
//! time includes its whole day.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::time::{Day, Timestamp, Zone};

/// 9999-12-31T23:59:59.999Z in milliseconds since 1970.
const LAST: i64 = Timestamp::LAST_MILLIS;

/// A parsed `filterByCreateDate` or `filterByExpectedCloseDate`, without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRange {
    start: Option<DateBound>,
    end: Option<DateBound>,
}

/// The start or the end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateBound {
    Day(Day),
    Instant(Timestamp),
}

/// An invalid date filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadDate {
    /// An end is neither a date nor RFC 3339 (C-8).
    #[error("must be a date such as 2026-11-21 or RFC 3339")]
    Form,
    /// The start is on a later day than the end (C-43).
    #[error("start must not be after end")]
    Order,
}

/// A range of time, both ends inclusive. An absent end is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// Earliest instant.
    pub from: Option<Timestamp>,
    /// Latest instant.
    pub until: Option<Timestamp>,
}

impl DateRange {
    /// Parses `null` or `{ start, end }`. An end that is `null` or absent is open. Other members are ignored.
    ///
    /// # Errors
    /// [`BadDate::Form`] if an end is invalid or the value is not an object.
    pub fn read(value: &Value) -> Result<Self, BadDate> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::Object(members) => Ok(Self {
                start: DateBound::read(members.get("start"))?,
                end: DateBound::read(members.get("end"))?,
            }),
            _ => Err(BadDate::Form),
        }
    }

    /// The range in a zone.
    ///
    /// # Errors
    /// [`BadDate::Order`] if the start is on a later day of the zone than the end.
    pub fn within(self, zone: Zone) -> Result<TimeRange, BadDate> {
        if let Some((start, end)) = self.start.zip(self.end)
            && start.day(zone) > end.day(zone)
        {
            return Err(BadDate::Order);
        }
        Ok(TimeRange {
            from: self.start.map(|start| start.first_instant(zone)),
            until: self.end.map(|end| end.last_instant(zone)),
        })
    }
}

impl DateBound {
    /// Parses one end; `None` if it is open.
    fn read(value: Option<&Value>) -> Result<Option<Self>, BadDate> {
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Day::parse(text)
                .map(Self::Day)
                .or_else(|| Timestamp::parse(text).map(Self::Instant))
                .map(Some)
                .ok_or(BadDate::Form),
            Some(_) => Err(BadDate::Form),
        }
    }

    /// Its day in the zone.
    fn day(self, zone: Zone) -> Day {
        match self {
            Self::Day(day) => day,
            Self::Instant(time) => zone.day_of(time),
        }
    }

    /// The time, or the first instant of the day.
    fn first_instant(self, zone: Zone) -> Timestamp {
        match self {
            Self::Day(day) => zone.start_of(day),
            Self::Instant(time) => time,
        }
    }

    /// The last instant of its day (C-43): one millisecond before the next day, or the last timestamp.
    fn last_instant(self, zone: Zone) -> Timestamp {
        let millis = match self.day(zone).next() {
            Some(next_day) => zone.start_of(next_day).unix_millis() - 1,
            None => LAST,
        };
        DateTime::from_timestamp_millis(millis)
            .unwrap_or(DateTime::<Utc>::MAX_UTC)
            .into()
    }
}

impl TimeRange {
    /// Whether both ends are open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.from.is_none() && self.until.is_none()
    }

    /// Whether it contains an instant; `None` only if both ends are open.
    #[must_use]
    pub fn covers(&self, time: Option<Timestamp>) -> bool {
        let Some(time) = time else {
            return self.is_open();
        };
        self.from.is_none_or(|from| from <= time) && self.until.is_none_or(|until| time <= until)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn within(zone: &str, value: &Value) -> TimeRange {
        let read = DateRange::read(value).unwrap();
        read.within(Zone::parse(zone).unwrap()).unwrap()
    }

    /// The ends of the range `{ start, end }`, `-` if open.
    fn ends(zone: &str, start: &str, end: &str) -> String {
        let TimeRange { from, until } = within(zone, &json!({"start": start, "end": end}));
        let [from, until] = [from, until].map(|end| end.map_or("-".to_owned(), |time| time.to_string()));
        format!("{from} {until}")
    }

    #[test]
    fn open_ranges_cover_everything() {
        for value in [
            json!(null),
            json!({}),
            json!({"start": null}),
            json!({"end": null}),
            json!({"start": null, "end": null}),
            json!({"from": "2026-01-01", "Start": 5}),
        ] {
            let range = within("UTC", &value);
            assert_eq!(range, TimeRange::default(), "{value}");
            assert!(range.is_open() && range.covers(None), "{value}");
            assert!(range.covers(Some(time("1900-01-01T00:00:00Z"))), "{value}");
            assert!(range.covers(Some(time("9999-12-31T23:59:59.999Z"))), "{value}");
        }
    }

    #[test]
    fn other_text_is_rejected_at_either_end() {
        for bad in [
            json!(""),
            json!(" "),
            json!("null"),
            json!("2026-3-1"),
            json!("2026-02-29"),
            json!("2026-03-01 "),
            json!("01/03/2026"),
            json!("2026-03-01T10:00:00"),
            json!("2026-03-01T25:00:00Z"),
            json!("10000-01-01"),
            json!("hoje"),
            json!(20_260_301),
            json!(false),
            json!([]),
            json!({}),
        ] {
            assert_eq!(
                DateRange::read(&json!({"start": bad})),
                Err(BadDate::Form),
                "{bad}"
            );
            assert_eq!(DateRange::read(&json!({"end": bad})), Err(BadDate::Form), "{bad}");
            let behind = json!({"start": "2026-03-01", "end": bad});
            assert_eq!(DateRange::read(&behind), Err(BadDate::Form), "{bad}");
        }
        for bad in [json!("2026-03-01"), json!(["2026-03-01"]), json!(1), json!(true)] {
            assert_eq!(DateRange::read(&bad), Err(BadDate::Form), "{bad}");
        }
    }

    #[test]
    fn days_are_those_of_the_zone_and_inclusive() {
        for (zone, start, end, expected) in [
            (
                "UTC",
                "2026-03-10",
                "2026-03-10",
                "2026-03-10T00:00:00.000Z 2026-03-10T23:59:59.999Z",
            ),
            (
                "UTC",
                "2026-02-27",
                "2026-02-28",
                "2026-02-27T00:00:00.000Z 2026-02-28T23:59:59.999Z",
            ),
            (
                "America/Sao_Paulo",
                "2026-03-10",
                "2026-03-10",
                "2026-03-10T03:00:00.000Z 2026-03-11T02:59:59.999Z",
            ),
            // A day of 25 hours, one without midnight, one that was skipped.
            (
                "America/Sao_Paulo",
                "2018-02-17",
                "2018-02-17",
                "2018-02-17T02:00:00.000Z 2018-02-18T02:59:59.999Z",
            ),
            (
                "America/Sao_Paulo",
                "2018-11-04",
                "2018-11-04",
                "2018-11-04T03:00:00.000Z 2018-11-05T01:59:59.999Z",
            ),
            (
                "Pacific/Apia",
                "2011-12-30",
                "2011-12-30",
                "2011-12-30T10:00:00.000Z 2011-12-30T09:59:59.999Z",
            ),
        ] {
            assert_eq!(ends(zone, start, end), expected, "{zone} {start} {end}");
        }
    }

    #[test]
    fn the_last_day_ends_with_the_last_instant() {
        let last = "9999-12-31T23:59:59.999Z";
        assert_eq!(time(last).unix_millis(), LAST);
        for zone in ["UTC", "America/Sao_Paulo", "Asia/Tokyo"] {
            let range = within(zone, &json!({"end": "9999-12-31"}));
            assert_eq!(range.until, Some(time(last)), "{zone}");
        }
        let range = within("America/Sao_Paulo", &json!({"end": "9999-12-30"}));
        assert_eq!(range.until, Some(time("9999-12-31T02:59:59.999Z")));
    }

    #[test]
    fn a_start_is_an_instant_and_an_end_includes_its_day() {
        for (zone, start, end, expected) in [
            (
                "UTC",
                "2026-03-10T09:00:00-03:00",
                "2026-03-10T00:00:00.000Z",
                "2026-03-10T12:00:00.000Z 2026-03-10T23:59:59.999Z",
            ),
            (
                "America/Sao_Paulo",
                "2026-03-09T09:00:00-03:00",
                "2026-03-10T02:59:59.999Z",
                "2026-03-09T12:00:00.000Z 2026-03-10T02:59:59.999Z",
            ),
            (
                "America/Sao_Paulo",
                "2026-03-10T12:00:00Z",
                "2026-03-10T03:00:00Z",
                "2026-03-10T12:00:00.000Z 2026-03-11T02:59:59.999Z",
            ),
            (
                "America/Sao_Paulo",
                "2026-03-10T12:00:00Z",
                "2026-03-10",
                "2026-03-10T12:00:00.000Z 2026-03-11T02:59:59.999Z",
            ),
            (
                "UTC",
                "2026-03-10",
                "9999-12-31T00:00:00Z",
                "2026-03-10T00:00:00.000Z 9999-12-31T23:59:59.999Z",
            ),
        ] {
            assert_eq!(ends(zone, start, end), expected, "{zone} {start} {end}");
        }
    }

    /// C-43, by the days of the zone: the same filter may be valid in one zone and invalid in another.
    #[test]
    fn a_start_on_a_later_day_than_the_end_is_rejected() {
        for (zone, start, end) in [
            ("UTC", "2026-03-11", "2026-03-10"),
            ("UTC", "2026-03-11T00:00:00Z", "2026-03-10"),
            ("America/Sao_Paulo", "2026-03-10", "2026-03-10T02:59:59Z"),
        ] {
            let range = DateRange::read(&json!({ "start": start, "end": end })).unwrap();
            let zone = Zone::parse(zone).unwrap();
            assert_eq!(range.within(zone), Err(BadDate::Order), "{start} {end}");
        }
        assert!(!ends("UTC", "2026-03-10", "2026-03-10T02:59:59Z").is_empty());
    }

    #[test]
    fn either_end_may_be_open() {
        let (before, first) = (time("2026-03-09T23:59:59.999Z"), time("2026-03-10T00:00:00Z"));
        let (last, after) = (time("2026-03-10T23:59:59.999Z"), time("2026-03-11T00:00:00Z"));
        let covered = |value: Value| {
            let range = within("UTC", &value);
            assert!(!range.is_open() && !range.covers(None), "{value}");
            [before, first, last, after].map(|time| range.covers(Some(time)))
        };
        let day = "2026-03-10";
        assert_eq!(
            covered(json!({"start": day, "end": day})),
            [false, true, true, false]
        );
        assert_eq!(
            covered(json!({"start": day, "end": null})),
            [false, true, true, true]
        );
        assert_eq!(
            covered(json!({"end": day, "zone": "UTC"})),
            [true, true, true, false]
        );
        let instant = last.to_string();
        assert_eq!(
            covered(json!({"start": instant, "end": instant})),
            [false, false, true, false]
        );
    }

    proptest! {
        #[test]
        fn the_days_of_a_month_partition_its_instants(
            zone in prop::sample::select(vec!["UTC", "America/Sao_Paulo", "America/Havana", "Pacific/Apia"]),
            year in 2000..2030,
            month in 1..=12,
            seconds in 0..86_400_u32 * 25,
        ) {
            let time = time(&format!("{year}-{month:02}-02T00:00:00Z")).plus_seconds(seconds);
            let days = (1..=31).map(|day| format!("{year}-{month:02}-{day:02}"));
            let holding = days.filter(|day| Day::parse(day).is_some()).filter(|day| {
                within(zone, &json!({"start": day, "end": day})).covers(Some(time))
            });
            prop_assert_eq!(holding.count(), 1);
        }
    }
}
