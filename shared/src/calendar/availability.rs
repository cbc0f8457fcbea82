//! When a calendar can be booked (C-52). What is listed and what is accepted are one computation, [`Calendar::grid`]
//! and [`Calendar::free`], so that whatever was listed can be booked while nothing else has changed.
//!
//! The sentences of C-52 as they are read here:
//!
//! - Each opening has a grid of its own, from its first instant in steps of duration and buffer in elapsed time. A
//!   meeting ends by the closing; its buffer may reach beyond.
//! - Of an opening the earlier of two instants counts, of a closing the later; where the clock skips either, the first
//!   instant after the gap. `24:00` is the first instant of the next day and never a later one. On a day
//!   that the zone skipped no time passes, so nothing begins.
//! - Openings that touch, or that overlap because a clock was set back, keep their own grids, so two starts of different
//!   openings may exclude each other. Both are listed; a meeting at one takes the other, because taken is judged by real
//!   time and not by equal starts. Whoever books must therefore judge [`Calendar::admits`] against every meeting that
//!   may be booked at the same moment, not only against one at the same start.
//! - A start is taken when its meeting and buffer overlap another meeting and its buffer, under whatever duration that was
//!   made. The buffer is the calendar's of now for both, so it lies between any two meetings, whichever was booked first.
//! - A start belongs to the day whose hours it stands in; today is the day of the calendar's zone.

use std::iter::successors;
use std::ops::{Bound, Range, RangeBounds as _};

use super::{Calendar, Clock, Opening};
use crate::time::{Day, Timestamp};

/// When a meeting that is not cancelled takes place, whatever duration it was made under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Busy {
    start: i64,
    end: i64,
}

/// Why there can be no meeting at a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// It is past, or nearer than the minimum notice.
    #[error("the start is past or too soon")]
    TooSoon,
    /// No meeting begins then.
    #[error("the start is not one of the calendar's")]
    OffGrid,
    /// Its day cannot be booked yet, or not any more.
    #[error("the start is outside the days that can be booked")]
    OutsideHorizon,
    /// Its time and buffer overlap those of another meeting.
    #[error("the start is taken")]
    Taken,
}

impl Busy {
    /// From a start until an end. One that ends no later than it starts takes its first moment.
    #[must_use]
    pub fn new(start: Timestamp, end: Timestamp) -> Self {
        let start = start.unix_millis();
        Self::of_millis(start, end.unix_millis())
    }

    /// The same in milliseconds since 1970.
    #[must_use]
    pub fn of_millis(start: i64, end: i64) -> Self {
        let end = end.max(start + 1);
        Self { start, end }
    }

    /// Its first moment, in milliseconds since 1970.
    #[must_use]
    pub fn start_millis(self) -> i64 {
        self.start
    }

    /// The moment after its last, in milliseconds since 1970.
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
    /// The starts within a range, in order. What lies before it costs nothing.
    fn within(self, range: Range<i64>) -> impl Iterator<Item = i64> {
        let skipped = (range.start - self.first + self.step - 1).div_euclid(self.step);
        (skipped.max(0)..self.count)
            .map(move |at| self.first + at * self.step)
            .take_while(move |start| *start < range.end)
    }
}

impl Calendar {
    /// The starts from `range.start` until before `range.end` that can be booked `now`, in order.
    ///
    /// `taken` holds every meeting of this calendar that is not cancelled and may be in the way: those that end less than
    /// the buffer before the range or later, and begin earlier than duration and buffer after it. The cost is linear in the
    /// days of the range that are still ahead.
    #[must_use]
    pub fn starts(&self, range: Range<Timestamp>, now: Timestamp, taken: &[Busy]) -> Vec<Timestamp> {
        let from = range.start.unix_millis().max(self.earliest(now));
        let horizon = self.horizon.days(self.timezone.day_of(now));
        let starts = self.grid(from..range.end.unix_millis(), horizon);
        self.free(starts, taken)
            .into_iter()
            .filter_map(Timestamp::from_unix_millis)
            .collect()
    }

    /// Whether a meeting can be booked `now` at a start, which is when [`Self::starts`] would list it.
    ///
    /// # Errors
    /// [`Unavailable`] says what is in the way.
    pub fn admits(&self, start: Timestamp, now: Timestamp, taken: &[Busy]) -> Result<(), Unavailable> {
        let start = start.unix_millis();
        if start < self.earliest(now) {
            return Err(Unavailable::TooSoon);
        }
        let this = start..start + 1;
        if self
            .grid(this.clone(), (Bound::Unbounded, Bound::Unbounded))
            .is_empty()
        {
            return Err(Unavailable::OffGrid);
        }
        let starts = self.grid(this, self.horizon.days(self.timezone.day_of(now)));
        if starts.is_empty() {
            return Err(Unavailable::OutsideHorizon);
        }
        if self.free(starts, taken).is_empty() {
            return Err(Unavailable::Taken);
        }
        Ok(())
    }

    /// The first instant that is neither past nor within the minimum notice.
    fn earliest(&self, now: Timestamp) -> i64 {
        now.unix_millis() + self.minimum_notice_minutes.millis()
    }

    /// From the start of one meeting to that of the next.
    fn step(&self) -> i64 {
        self.duration_minutes.millis() + self.buffer_minutes.millis()
    }

    /// The starts of the grid within a range and on some days, each once and in order, taken or not.
    fn grid(&self, range: Range<i64>, days: (Bound<Day>, Bound<Day>)) -> Vec<i64> {
        let local = |millis| Timestamp::from_unix_millis(millis).map(|time| self.timezone.day_of(time));
        let ends = (!range.is_empty()).then(|| Some((local(range.start)?, local(range.end - 1)?)));
        let Some((first, last)) = ends.flatten() else {
            return Vec::new();
        };
        // A clock that is set back over midnight has hours of one day pass within the day before or after it.
        let first = first.previous().unwrap_or(first);
        let last = last.next().unwrap_or(last);
        let mut starts: Vec<_> = successors(Some(first), |day| day.next())
            .take_while(|day| *day <= last)
            .filter(|day| days.contains(day))
            .flat_map(|day| self.openings(day).iter().map(move |opening| (day, opening)))
            .flat_map(|(day, opening)| self.grid_of(day, opening).within(range.clone()))
            .collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// The grid of one opening. On a day that the zone skipped it has no length: both ends are the first instant after.
    fn grid_of(&self, day: Day, opening: Opening) -> Grid {
        let zone = self.timezone;
        let first = zone.earliest(day, opening.from().minutes()).unix_millis();
        let closing = match (opening.to(), day.next()) {
            (Clock::MIDNIGHT, Some(next)) => zone.start_of(next),
            (to, _) => zone.latest(day, to.minutes()),
        };
        let room = closing.unix_millis() - first - self.duration_minutes.millis();
        let step = self.step();
        Grid {
            first,
            step,
            count: if room < 0 { 0 } else { room / step + 1 },
        }
    }

    /// Of starts in order, those that no meeting takes.
    fn free(&self, mut starts: Vec<i64>, taken: &[Busy]) -> Vec<i64> {
        // A meeting takes the starts strictly between these two: at the first a start's buffer ends just as the meeting
        // begins, at the second it begins just as the meeting's buffer ends.
        let mut blocks: Vec<_> = taken
            .iter()
            .map(|busy| (busy.start - self.step(), busy.end + self.buffer_minutes.millis()))
            .collect();
        blocks.sort_unstable();
        let mut blocks = blocks.into_iter().peekable();
        let mut free_from = i64::MIN;
        starts.retain(|start| {
            while let Some((_, until)) = blocks.next_if(|(after, _)| after < start) {
                free_from = free_from.max(until);
            }
            *start >= free_from
        });
        starts
    }
}
