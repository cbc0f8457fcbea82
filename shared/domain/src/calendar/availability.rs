//! Free starts of a calendar (C-52). Listing and booking use the same computation, [`Calendar::grid`] and
//! [`Calendar::without_taken`], so every listed start can be booked until something changes.
//!
//! C-52 is implemented as follows:
//!
//! - Each opening has its own grid: from its first instant in steps of duration plus buffer, in elapsed time. A meeting
//!   ends no later than the closing. Its buffer may end later.
//! - If a local time occurs twice, an opening uses the earlier instant and a closing the later. If the clock
//!   skips it, both use the first instant after the gap. `24:00` is `00:00` of the next day. A day that the zone
//!   skipped has no starts.
//! - Openings that touch, or that overlap because the clock was set back, keep their own grids, so starts of
//!   two openings may exclude each other. Both are listed; booking one takes the other, because real times
//!   are compared. A booking must therefore check [`Calendar::check_start`] against every meeting that may be
//!   booked concurrently, not only against those with the same start.
//! - A start is taken if its meeting and buffer overlap another meeting of any duration and its buffer. Each buffer is the
//!   current one of the meeting's calendar, so two meetings are separated, booked in either order.
//! - An opening whose end is not after its begin ends on the next day.
//! - A start belongs to the day on which its opening begins. Today is the current day of the calendar's zone.

use std::iter::successors;
use std::ops::{Bound, Range, RangeBounds as _};

use super::{Calendar, Clock, Minutes, Opening};
use crate::time::{Day, Timestamp};

/// The time of a meeting that is not cancelled, with or without its buffer. Its duration may differ from the calendar's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Busy {
    start: i64,
    end: i64,
}

/// The reason why no meeting can be booked at a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The start is in the past or within the minimum notice.
    #[error("the start is past or too soon")]
    TooSoon,
    /// The start is not on the grid.
    #[error("the start is not one of the calendar's")]
    OffGrid,
    /// The day is outside the horizon.
    #[error("the start is outside the days that can be booked")]
    OutsideHorizon,
    /// The meeting or its buffer overlaps another meeting.
    #[error("the start is taken")]
    Taken,
}

impl Busy {
    /// From `start` until before `end`. If `end` is not later than `start`, one millisecond.
    #[must_use]
    pub fn new(start: Timestamp, end: Timestamp) -> Self {
        let start = start.unix_millis();
        Self::of_millis(start, end.unix_millis())
    }

    /// Like [`Self::new`], in milliseconds since 1970.
    #[must_use]
    pub fn of_millis(start: i64, end: i64) -> Self {
        let end = end.max(start + 1);
        Self { start, end }
    }

    /// The time with a buffer after it.
    #[must_use]
    pub fn extended<const MAX: u32>(self, buffer: Minutes<0, MAX>) -> Self {
        Self {
            end: self.end + buffer.millis(),
            ..self
        }
    }

    /// First moment, in milliseconds since 1970.
    #[must_use]
    pub fn start_millis(self) -> i64 {
        self.start
    }

    /// End (exclusive), in milliseconds since 1970.
    #[must_use]
    pub fn end_millis(self) -> i64 {
        self.end
    }
}

/// The starts of one opening, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
struct Grid {
    first: i64,
    step: i64,
    count: i64,
}

impl Grid {
    /// The starts within a range, in order, in time proportional to their number.
    fn within(self, range: Range<i64>) -> impl Iterator<Item = i64> {
        // Rounded up. Negative if the range begins before the grid.
        let first_index = (range.start - self.first + self.step - 1).div_euclid(self.step);
        (first_index.max(0)..self.count)
            .map(move |index| self.first + index * self.step)
            .take_while(move |start| *start < range.end)
    }
}

impl Calendar {
    /// The starts in `range` that can be booked at `now`, in order.
    ///
    /// `taken` contains, with its buffer, every meeting that can take a time of this calendar, ends with the buffer after
    /// `range.start`, and begins before `range.end` plus duration and buffer. The cost is linear in the future days of the
    /// range.
    #[must_use]
    pub fn starts(&self, range: Range<Timestamp>, now: Timestamp, taken: &[Busy]) -> Vec<Timestamp> {
        let from = range.start.unix_millis().max(self.earliest(now));
        let horizon = self.horizon.days(self.timezone.day_of(now));
        let starts = self.grid(from..range.end.unix_millis(), horizon);
        self.without_taken(starts, taken)
            .into_iter()
            .filter_map(Timestamp::from_unix_millis)
            .collect()
    }

    /// Checks that a meeting can be booked at `start`. Accepts exactly the starts that [`Self::starts`] lists. `taken`
    /// is as there.
    ///
    /// # Errors
    /// [`Unavailable`] with the reason.
    pub fn check_start(&self, start: Timestamp, now: Timestamp, taken: &[Busy]) -> Result<(), Unavailable> {
        let start = start.unix_millis();
        if start < self.earliest(now) {
            return Err(Unavailable::TooSoon);
        }
        let only_start = start..start + 1;
        let all_days = (Bound::Unbounded, Bound::Unbounded);
        if self.grid(only_start.clone(), all_days).is_empty() {
            return Err(Unavailable::OffGrid);
        }
        let horizon = self.horizon.days(self.timezone.day_of(now));
        let starts = self.grid(only_start, horizon);
        if starts.is_empty() {
            return Err(Unavailable::OutsideHorizon);
        }
        if self.without_taken(starts, taken).is_empty() {
            return Err(Unavailable::Taken);
        }
        Ok(())
    }

    /// The first instant after the minimum notice, in milliseconds since 1970.
    fn earliest(&self, now: Timestamp) -> i64 {
        now.unix_millis() + self.minimum_notice_minutes.millis()
    }

    /// Distance between two starts of a grid, in milliseconds.
    fn step(&self) -> i64 {
        self.duration_minutes.millis() + self.buffer_minutes.millis()
    }

    /// The sorted, distinct starts of all openings, free or taken: those within `range`, in milliseconds since 1970, of
    /// openings on `days`. Empty for an empty range, and outside the representable years.
    fn grid(&self, range: Range<i64>, days: (Bound<Day>, Bound<Day>)) -> Vec<i64> {
        if range.is_empty() {
            return Vec::new();
        }
        let local_day = |millis| Timestamp::from_unix_millis(millis).map(|time| self.timezone.day_of(time));
        let Some((first, last)) = local_day(range.start).zip(local_day(range.end - 1)) else {
            return Vec::new();
        };
        // An opening of the previous day may end in the range, and of the next one too if the clock is set back over
        // midnight.
        let first = first.previous().unwrap_or(first);
        let last = last.next().unwrap_or(last);
        let mut starts = Vec::new();
        for day in successors(Some(first), |day| day.next()).take_while(|day| *day <= last) {
            if days.contains(&day) {
                for opening in self.openings(day).iter() {
                    starts.extend(self.grid_of(day, opening).within(range.clone()));
                }
            }
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// The grid of one opening. On a day that the zone skipped both ends are the same instant, so it is
    /// empty.
    fn grid_of(&self, day: Day, opening: Opening) -> Grid {
        let zone = self.timezone;
        let first = zone.earliest(day, opening.from().minutes()).unix_millis();
        let closing = match (opening.to(), day.next()) {
            (Clock::MIDNIGHT, Some(next)) => zone.latest(next, 0),
            (to, Some(next)) if opening.ends_next_day() => zone.latest(next, to.minutes()),
            (to, _) => zone.latest(day, to.minutes()),
        };
        // From the first start to the last at which a meeting still ends by the closing.
        let span = closing.unix_millis() - first - self.duration_minutes.millis();
        let step = self.step();
        Grid {
            first,
            step,
            count: if span < 0 { 0 } else { span / step + 1 },
        }
    }

    /// A sorted list of starts without those at which a meeting and its buffer would overlap a busy time.
    fn without_taken(&self, mut starts: Vec<i64>, taken: &[Busy]) -> Vec<i64> {
        // A busy time excludes the starts strictly between two instants: at the first, the new meeting's buffer ends as
        // the busy time begins; at the second, the new meeting begins as the busy time ends.
        let mut excluded: Vec<_> = taken
            .iter()
            .map(|busy| (busy.start - self.step(), busy.end))
            .collect();
        excluded.sort_unstable();
        // One pass over both sorted lists. `free_from` is the latest end of the exclusions that begin before the start.
        let mut excluded = excluded.into_iter().peekable();
        let mut free_from = i64::MIN;
        starts.retain(|start| {
            while let Some((_, end)) = excluded.next_if(|(begin, _)| begin < start) {
                free_from = free_from.max(end);
            }
            *start >= free_from
        });
        starts
    }
}
