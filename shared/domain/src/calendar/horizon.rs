//! How many days ahead a calendar can be booked, in its time zone (C-52).

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use crate::time::Day;

/// The days on which a calendar can be booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "HorizonFields", into = "HorizonFields")]
pub enum Horizon {
    /// Any day.
    #[default]
    Unlimited,
    /// From one day to another, both inclusive. Contains no day if the second is earlier.
    Between(Day, Day),
    /// Until N days after today, inclusive. 0 is today only.
    Days(u64),
    /// Until the N-th Monday to Friday after today, inclusive, with the weekends before it. 0 is today only.
    BusinessDays(u64),
}

/// An invalid horizon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHorizon {
    /// Members are missing, or belong to another type.
    #[error(
        "must be unlimited alone, between with start and end, or days or businessDays with a number of days"
    )]
    Members,
    /// The end is before the start.
    #[error("must not end before it starts, unlike {0} to {1}")]
    Reversed(Day, Day),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum HorizonKind {
    Unlimited,
    Between,
    Days,
    BusinessDays,
}

/// The serialized form: one struct for all types, so that errors can name the member.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename = "horizon")]
struct HorizonFields {
    #[serde(rename = "type")]
    kind: HorizonKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<Day>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<Day>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    days: Option<u64>,
}

impl Horizon {
    /// The bookable days, past ones included.
    #[must_use]
    pub fn days(self, today: Day) -> (Bound<Day>, Bound<Day>) {
        let until = |days| (Bound::Unbounded, Bound::Included(today.plus_days(days)));
        match self {
            Self::Unlimited => (Bound::Unbounded, Bound::Unbounded),
            Self::Between(first, last) => (Bound::Included(first), Bound::Included(last)),
            Self::Days(days) => until(days),
            Self::BusinessDays(days) => until(calendar_days(today, days)),
        }
    }
}

/// Number of days from today to the N-th business day after it.
fn calendar_days(today: Day, business_days: u64) -> u64 {
    const FRIDAY: u64 = 4;
    let weekday = u64::from(today.weekday().num_days_from_monday());
    // On a weekend, the count begins on the Friday before it, so the days since then are subtracted.
    let days_since_friday = weekday.saturating_sub(FRIDAY);
    let first_weekday = weekday.min(FRIDAY);
    let (weeks, rest) = (business_days / 5, business_days % 5);
    let weekend_days = if first_weekday + rest > FRIDAY { 2 } else { 0 };
    let days = weeks.saturating_mul(7).saturating_add(rest + weekend_days);
    days.saturating_sub(days_since_friday)
}

impl TryFrom<HorizonFields> for Horizon {
    type Error = BadHorizon;

    /// Each kind requires its own members and allows no others.
    fn try_from(fields: HorizonFields) -> Result<Self, BadHorizon> {
        match (fields.kind, fields.start, fields.end, fields.days) {
            (HorizonKind::Unlimited, None, None, None) => Ok(Self::Unlimited),
            (HorizonKind::Between, Some(start), Some(end), None) if end < start => {
                Err(BadHorizon::Reversed(start, end))
            }
            (HorizonKind::Between, Some(start), Some(end), None) => Ok(Self::Between(start, end)),
            (HorizonKind::Days, None, None, Some(days)) => Ok(Self::Days(days)),
            (HorizonKind::BusinessDays, None, None, Some(days)) => Ok(Self::BusinessDays(days)),
            _ => Err(BadHorizon::Members),
        }
    }
}

impl From<Horizon> for HorizonFields {
    fn from(horizon: Horizon) -> Self {
        let without_members = |kind| Self {
            kind,
            start: None,
            end: None,
            days: None,
        };
        match horizon {
            Horizon::Unlimited => without_members(HorizonKind::Unlimited),
            Horizon::Between(start, end) => Self {
                start: Some(start),
                end: Some(end),
                ..without_members(HorizonKind::Between)
            },
            Horizon::Days(days) => Self {
                days: Some(days),
                ..without_members(HorizonKind::Days)
            },
            Horizon::BusinessDays(days) => Self {
                days: Some(days),
                ..without_members(HorizonKind::BusinessDays)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeBounds as _;

    use super::*;
    use serde_json::{Value, json};

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn read(horizon: Value) -> Result<Value, String> {
        serde_json::from_value::<Horizon>(horizon)
            .map(|horizon| json!(horizon))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn horizons_round_trip() {
        for horizon in [
            json!({ "type": "unlimited" }),
            json!({ "type": "between", "start": "2027-01-01", "end": "2027-12-31" }),
            json!({ "type": "between", "start": "2027-01-01", "end": "2027-01-01" }),
            json!({ "type": "days", "days": 14 }),
            json!({ "type": "businessDays", "days": 0 }),
        ] {
            assert_eq!(read(horizon.clone()).unwrap(), horizon);
        }
    }

    #[test]
    fn invalid_horizons_are_explained() {
        let members = BadHorizon::Members.to_string();
        for horizon in [
            json!({ "type": "unlimited", "days": 3 }),
            json!({ "type": "between", "start": "2027-01-01" }),
            json!({ "type": "between", "end": "2027-01-01" }),
            json!({ "type": "between", "start": "2027-01-01", "end": "2027-01-02", "days": 1 }),
            json!({ "type": "days" }),
            json!({ "type": "businessDays", "days": 3, "start": "2027-01-01" }),
        ] {
            assert_eq!(read(horizon.clone()).unwrap_err(), members, "{horizon}");
        }
        let reversed = read(json!({ "type": "between", "start": "2027-01-02", "end": "2027-01-01" }));
        assert_eq!(
            reversed.unwrap_err(),
            "must not end before it starts, unlike 2027-01-02 to 2027-01-01"
        );
        for (horizon, part) in [
            (json!({ "days": 3 }), "missing field `type`"),
            (json!({ "type": "weeks" }), "unknown variant `weeks`"),
            (json!({ "type": "days", "days": -1 }), "expected u64"),
            (
                json!({ "type": "between", "start": "1st" }),
                "must be a date such as 2026-11-21",
            ),
        ] {
            let reason = read(horizon).unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn the_last_day_is_included() {
        // 2026-11-18 is a Wednesday.
        for (horizon, today, last) in [
            (Horizon::Days(0), "2026-11-18", "2026-11-18"),
            (Horizon::Days(14), "2026-11-18", "2026-12-02"),
            (Horizon::BusinessDays(0), "2026-11-18", "2026-11-18"),
            (Horizon::BusinessDays(1), "2026-11-18", "2026-11-19"),
            (Horizon::BusinessDays(2), "2026-11-18", "2026-11-20"),
            (Horizon::BusinessDays(3), "2026-11-18", "2026-11-23"),
            (Horizon::BusinessDays(5), "2026-11-18", "2026-11-25"),
            (Horizon::BusinessDays(10), "2026-11-18", "2026-12-02"),
            (Horizon::BusinessDays(1), "2026-11-20", "2026-11-23"),
            (Horizon::BusinessDays(0), "2026-11-21", "2026-11-21"),
            (Horizon::BusinessDays(1), "2026-11-21", "2026-11-23"),
            (Horizon::BusinessDays(1), "2026-11-22", "2026-11-23"),
            (Horizon::BusinessDays(5), "2026-11-22", "2026-11-27"),
            (Horizon::BusinessDays(6), "2026-11-22", "2026-11-30"),
            (
                Horizon::Between(day("2026-11-01"), day("2026-11-05")),
                "2026-11-18",
                "2026-11-05",
            ),
            (Horizon::Days(u64::MAX), "2026-11-18", "9999-12-31"),
            (Horizon::BusinessDays(u64::MAX), "2026-11-18", "9999-12-31"),
        ] {
            let (_, end) = horizon.days(day(today));
            assert_eq!(end, Bound::Included(day(last)), "{horizon:?} from {today}");
        }
    }

    #[test]
    fn business_days_are_counted_one_by_one() {
        let mut today = day("2026-11-16");
        for _ in 0..7 {
            let mut last = today;
            for count in 1..40 {
                last = last.next().unwrap();
                while last.weekday().num_days_from_monday() > 4 {
                    last = last.next().unwrap();
                }
                let (_, end) = Horizon::BusinessDays(count).days(today);
                assert_eq!(end, Bound::Included(last), "{count} from {today}");
            }
            today = today.next().unwrap();
        }
    }

    #[test]
    fn only_between_has_a_first_day() {
        let between = Horizon::Between(day("2026-11-20"), day("2026-11-21")).days(day("2026-11-18"));
        for (text, within) in [
            ("2026-11-19", false),
            ("2026-11-20", true),
            ("2026-11-21", true),
            ("2026-11-22", false),
        ] {
            assert_eq!(between.contains(&day(text)), within, "{text}");
        }
        assert_eq!(
            Horizon::Unlimited.days(day("2026-11-18")),
            (Bound::Unbounded, Bound::Unbounded)
        );
    }
}
