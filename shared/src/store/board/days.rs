//! Splits a range of creation dates into whole UTC days, for the daily counts, and parts of days, for which entries are
//! read.
//!
//! A range in the instance's zone usually begins and ends within a UTC day. The shorter part of such a day is read.
//! Either its entries in the range are added, or the day is counted whole and the entries outside the range are
//! subtracted.

use crate::opportunity::TimeRange;
use crate::store::key::{self, DAY_MILLIS};
use crate::time::Timestamp;
use table::{KeyRange, PAGE};

/// The assumed number of days of a range without start.
const MANY_DAYS: u64 = 3650;

/// A range of time as UTC days and parts of days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeDays {
    /// A moment of the latest day that is counted whole; `None` for no end.
    newest: Option<Timestamp>,
    /// A moment of the earliest day that is counted whole; `None` for no start.
    oldest: Option<Timestamp>,
    pub parts: Vec<DayPart>,
}

/// A part of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayPart {
    pub range: TimeRange,
    /// Whether the part is in the range, in a day that is not counted. Otherwise it is outside, in a day that is
    /// counted whole.
    pub is_within: bool,
}

impl RangeDays {
    /// The days of a range. `None` if the range has no day to count whole, or is less than half of one day, because it
    /// costs less to read all of its entries.
    pub fn of(range: &TimeRange) -> Option<Self> {
        let from = range.from.map(Timestamp::unix_millis);
        let until = range.until.map(Timestamp::unix_millis);
        let mut parts = Vec::new();
        let (mut oldest, mut newest) = (None, None);
        if let Some(from) = from {
            let day = day_start(from);
            let (outside, within) = ((day, from - 1), (from, day + DAY_MILLIS - 1));
            let is_whole = add_shorter_part(&mut parts, outside, within)?;
            oldest = Some(if is_whole { day } else { day + DAY_MILLIS });
        }
        if let Some(until) = until {
            let day = day_start(until);
            let (outside, within) = ((until + 1, day + DAY_MILLIS - 1), (day, until));
            let is_whole = add_shorter_part(&mut parts, outside, within)?;
            newest = Some(if is_whole { day } else { day - DAY_MILLIS });
        }
        if let (Some(from), Some(until)) = (from, until) {
            let is_in_one_day = day_start(from) == day_start(until);
            if is_in_one_day && until - from < DAY_MILLIS / 2 {
                return None;
            }
        }
        let has_no_whole_day = oldest.zip(newest).is_some_and(|(oldest, newest)| oldest > newest);
        if has_no_whole_day {
            return None;
        }
        // A missing bound stays missing; a bound that is no valid time makes the result `None`.
        let valid_time = |millis: Option<i64>| match millis {
            Some(millis) => Timestamp::from_unix_millis(millis).map(Some),
            None => Some(None),
        };
        Some(Self {
            newest: valid_time(newest)?,
            oldest: valid_time(oldest)?,
            parts,
        })
    }

    /// The days of a range to locate offsets, which are counted from the newest opportunity. The first day of the range
    /// is counted whole: its entries before the range are the oldest, so they precede no requested one. Conditions for
    /// `None` are those of [`of`](Self::of).
    pub fn to_locate(range: &TimeRange) -> Option<Self> {
        let first_day = range.from.map(|from| day_start(from.unix_millis()));
        Self::of(&TimeRange {
            from: first_day.and_then(Timestamp::from_unix_millis),
            ..*range
        })
    }

    /// The number of days that are counted whole, up to `now` if the range has no end.
    pub fn number(&self, now: Timestamp) -> u64 {
        let Some(oldest) = self.oldest else {
            return MANY_DAYS;
        };
        let millis = self.newest.unwrap_or(now).unix_millis() - oldest.unix_millis();
        u64::try_from(millis / DAY_MILLIS + 1).unwrap_or_default()
    }

    /// The key range of the days' counts in a partition.
    pub fn span(&self, partition: String) -> KeyRange {
        let (after, through) = key::rank_span(self.newest, self.oldest);
        KeyRange {
            partition,
            after,
            through,
            limit: PAGE,
        }
    }
}

/// Adds the shorter part of a day to `parts` and returns whether the day is counted whole. Bounds are inclusive, in
/// Unix milliseconds. `None` if a bound is no valid time.
fn add_shorter_part(parts: &mut Vec<DayPart>, outside: (i64, i64), within: (i64, i64)) -> Option<bool> {
    let length = |(from, until): (i64, i64)| until - from + 1;
    let is_whole = length(outside) <= length(within);
    let (from, until) = if is_whole { outside } else { within };
    if from <= until {
        let range = TimeRange {
            from: Some(Timestamp::from_unix_millis(from)?),
            until: Some(Timestamp::from_unix_millis(until)?),
        };
        let is_within = !is_whole;
        parts.push(DayPart { range, is_within });
    }
    Some(is_whole)
}

/// The start of the UTC day of a moment, both in Unix milliseconds.
fn day_start(millis: i64) -> i64 {
    millis.div_euclid(DAY_MILLIS) * DAY_MILLIS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600_000;

    fn time(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn range(from: Option<i64>, until: Option<i64>) -> TimeRange {
        TimeRange {
            from: from.map(time),
            until: until.map(time),
        }
    }

    /// The number of times that a moment is counted: once by a whole day, plus or minus the parts that contain it.
    fn counted(days: &RangeDays, at: i64) -> i64 {
        let day = day_start(at);
        let is_oldest = days.oldest.is_none_or(|oldest| oldest.unix_millis() <= day);
        let is_newest = days.newest.is_none_or(|newest| day <= newest.unix_millis());
        let parts = days.parts.iter().filter(|part| part.range.covers(Some(time(at))));
        let parts = parts.map(|part| if part.is_within { 1 } else { -1 });
        i64::from(is_oldest && is_newest) + parts.sum::<i64>()
    }

    #[test]
    fn days_and_the_shorter_parts() {
        let day = DAY_MILLIS;
        // From, until, hours of parts that are read; `None` for all entries.
        for (from, until, hours) in [
            (Some(0), Some(day - 1), Some(0)),
            (Some(3 * HOUR), Some(30 * day + 3 * HOUR - 1), Some(6)),
            (Some(-11 * HOUR), Some(30 * day - 11 * HOUR - 1), Some(22)),
            (Some(3 * HOUR), Some(day + 3 * HOUR - 1), Some(6)),
            (Some(14 * HOUR), Some(day + 3 * HOUR - 1), None),
            (Some(3 * HOUR), Some(6 * HOUR), None),
            (Some(HOUR), Some(day - HOUR - 1), Some(2)),
            (Some(11 * HOUR), Some(13 * HOUR), None),
            (Some(3 * HOUR), None, Some(3)),
            (None, Some(-HOUR - 1), Some(1)),
            (None, None, Some(0)),
        ] {
            let days = RangeDays::of(&range(from, until));
            let read = days.map(|days| {
                let lengths = days.parts.iter().map(|part| {
                    let [from, until] = [part.range.from, part.range.until].map(Option::unwrap);
                    until.unix_millis() - from.unix_millis() + 1
                });
                lengths.sum::<i64>() / HOUR
            });
            assert_eq!(read, hours, "{from:?} {until:?}");
        }
    }

    proptest! {
        /// Each moment of a range is counted once, and no other.
        #[test]
        fn each_moment_is_counted_once(
            from in proptest::option::of(-3 * DAY_MILLIS..3 * DAY_MILLIS),
            until in proptest::option::of(-3 * DAY_MILLIS..3 * DAY_MILLIS),
            at in -4 * DAY_MILLIS..4 * DAY_MILLIS,
            whole in any::<bool>(),
        ) {
            let from = from.map(|from| if whole { day_start(from) } else { from });
            prop_assume!(from.zip(until).is_none_or(|(from, until)| from <= until));
            let range = range(from, until);
            let moments = [Some(at), from, until, from.map(|at| at - 1), until.map(|at| at + 1)];
            if let Some(days) = RangeDays::of(&range) {
                for at in moments.into_iter().flatten() {
                    prop_assert_eq!(counted(&days, at), i64::from(range.covers(Some(time(at)))));
                }
            }
            if let Some(days) = RangeDays::to_locate(&range) {
                for at in moments.into_iter().flatten().filter(|at| from.is_none_or(|from| from <= *at)) {
                    prop_assert_eq!(counted(&days, at), i64::from(range.covers(Some(time(at)))));
                }
            }
        }
    }
}
