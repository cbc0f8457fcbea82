//! The days of a report.

use crate::time::Day;

/// First and last day, both inclusive, at most [`Range::MAX_DAYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first day.
    pub from: Day,
    /// The last day.
    pub to: Day,
}

/// An invalid range. The message begins with the name of the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRange {
    /// The first day is after the last.
    #[error("to: must not be before from")]
    Reversed,
    /// More than [`Range::MAX_DAYS`].
    #[error("to: must be at most {} days from from, both included", Range::MAX_DAYS)]
    TooLong,
}

impl Range {
    /// Ten years with three leap years.
    pub const MAX_DAYS: u64 = 3653;

    /// Default length in days.
    const DEFAULT_DAYS: u64 = 30;

    /// A range of days.
    ///
    /// # Errors
    /// [`BadRange`] if the last day is before the first or too far after it.
    pub fn new(from: Day, to: Day) -> Result<Self, BadRange> {
        if to < from {
            return Err(BadRange::Reversed);
        }
        // Counts back, because the last representable day has no later one.
        if to.minus_days(Self::MAX_DAYS - 1) > from {
            return Err(BadRange::TooLong);
        }
        Ok(Self { from, to })
    }

    /// The range of a request. It ends today by default, and has 30 days by default (C-60).
    ///
    /// # Errors
    /// [`BadRange`] if the last day is before the first or too far after it.
    pub fn requested(from: Option<Day>, to: Option<Day>, today: Day) -> Result<Self, BadRange> {
        let to = to.unwrap_or(today);
        Self::new(Self::first_of(from, to), to)
    }

    /// The first day of a requested range that ends on `to`.
    #[must_use]
    pub fn first_of(from: Option<Day>, to: Day) -> Day {
        from.unwrap_or_else(|| to.minus_days(Self::DEFAULT_DAYS - 1))
    }

    /// The days in order.
    pub fn days(self) -> impl Iterator<Item = Day> {
        let next_in_range = move |day: &Day| day.next().filter(|next| *next <= self.to);
        std::iter::successors(Some(self.from), next_in_range)
    }
}
