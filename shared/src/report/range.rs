//! The days that a report tells of.

use crate::time::Day;

/// The first day of a range and the last, both included: at most [`Range::MOST_DAYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first day.
    pub from: Day,
    /// The last day.
    pub to: Day,
}

/// Why two days are no range. The text begins with the parameter at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRange {
    /// The first day is behind the last.
    #[error("to: must not be before from")]
    Reversed,
    /// It is too long.
    #[error("to: must be at most {} days from from, both included", Range::MOST_DAYS)]
    TooLong,
}

impl Range {
    /// Ten years, three of them leap years.
    pub const MOST_DAYS: u64 = 3653;

    /// The days of a range that nobody gave.
    const DEFAULT_DAYS: u64 = 30;

    /// A range of days.
    ///
    /// # Errors
    /// [`BadRange`] where the last day is before the first, or too far behind it.
    pub fn new(from: Day, to: Day) -> Result<Self, BadRange> {
        if to < from {
            return Err(BadRange::Reversed);
        }
        // The last day of all has no further one, so it is counted back.
        if to.minus_days(Self::MOST_DAYS - 1) > from {
            return Err(BadRange::TooLong);
        }
        Ok(Self { from, to })
    }

    /// The range that a request asks for: where no last day is given, it ends today; where no first day is, it has 30 days
    /// (C-60).
    ///
    /// # Errors
    /// [`BadRange`] where the last day is before the first, or too far behind it.
    pub fn asked(from: Option<Day>, to: Option<Day>, today: Day) -> Result<Self, BadRange> {
        let to = to.unwrap_or(today);
        Self::new(Self::first_of(from, to), to)
    }

    /// The first day of what is asked for that ends on a day.
    #[must_use]
    pub fn first_of(from: Option<Day>, to: Day) -> Day {
        from.unwrap_or_else(|| to.minus_days(Self::DEFAULT_DAYS - 1))
    }

    /// Its days in their order.
    pub fn days(self) -> impl Iterator<Item = Day> {
        let next = move |day: &Day| day.next().filter(|next| *next <= self.to);
        std::iter::successors(Some(self.from), next)
    }
}
