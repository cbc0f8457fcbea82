//! The targets of round trips and units, and what a use of an endpoint is measured against.

use super::bill::Made;

/// A kind of use for which the architecture names its sequential round trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The read of one thing.
    Thing,
    /// A page of a column, with a bookmark or without one.
    Page,
    /// A board.
    Board,
    /// A write.
    Write,
    /// A booking.
    Booking,
    /// A call of a lead that is known.
    Call,
}

/// Read units for what is answered ÷ the least, at most: for everything that shows a list.
pub const LISTED: f64 = 1.15;
/// Write units ÷ the least, at most: in a transaction, which bills twice.
pub const IN_TRANSACTION: f64 = 2.2;
/// Write units ÷ the least, at most: of a write by itself.
pub const BY_ITSELF: f64 = 1.1;

/// Why a list of more than 50 needs one round trip more, and may begin a unit twice.
pub const MORE_THAN_A_PAGE: &str = "more than a page of 50 is read only once the check has passed (C-86)";

impl Target {
    /// All there are.
    pub const ALL: [Self; 6] = [
        Self::Thing,
        Self::Page,
        Self::Board,
        Self::Write,
        Self::Booking,
        Self::Call,
    ];

    /// Sequential round trips, at most.
    #[must_use]
    pub fn round_trips(self) -> u32 {
        match self {
            Self::Thing => 1,
            Self::Page | Self::Board | Self::Write | Self::Booking | Self::Call => 2,
        }
    }

    /// The endpoints for which it is named.
    #[must_use]
    pub fn endpoints(self) -> &'static [&'static str] {
        match self {
            Self::Thing => &["2", "3", "4", "9", "11", "14", "15", "16", "17", "18"],
            Self::Page | Self::Board => &["10"],
            Self::Write => &["5", "6", "7", "8"],
            Self::Booking => &["13"],
            Self::Call => &["19"],
        }
    }
}

/// A use of an endpoint that is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The endpoint's number in spec.md, or the name of one that has none.
    pub endpoint: &'static str,
    /// What is asked.
    pub what: String,
    /// The target that it comes under.
    pub target: Option<Target>,
    /// Sequential round trips, at most: the target's, or where there is none what docs/access-patterns.md promises.
    pub round_trips: u32,
    /// What its answer is made of.
    pub made: Made,
    /// Why it needs more round trips than its target.
    pub more_trips: Option<&'static str>,
    /// Why its list cannot be had for the least.
    pub more_units: Option<&'static str>,
}

impl Line {
    /// A use that comes under a target.
    #[must_use]
    pub fn of(target: Target, endpoint: &'static str, what: impl Into<String>) -> Self {
        Self {
            target: Some(target),
            ..Self::within(target.round_trips(), endpoint, what)
        }
    }

    /// A use under no target of round trips, with a budget of its own.
    #[must_use]
    pub fn within(round_trips: u32, endpoint: &'static str, what: impl Into<String>) -> Self {
        Self {
            endpoint,
            what: what.into(),
            target: None,
            round_trips,
            made: Made::OfNothing,
            more_trips: None,
            more_units: None,
        }
    }

    /// Its answer is made of items of this kind, and shows as many.
    #[must_use]
    pub fn shows(self, kind: &'static str) -> Self {
        let made = Made::Of(kind);
        Self { made, ..self }
    }

    /// Its answer comes from so many items of this kind, all of which have to be looked through.
    #[must_use]
    pub fn looks_through(self, kind: &'static str, items: usize) -> Self {
        let made = Made::From(kind, items);
        Self { made, ..self }
    }

    /// It needs so many round trips, for this reason.
    #[must_use]
    pub fn but_trips(self, round_trips: u32, why: &'static str) -> Self {
        Self {
            round_trips,
            more_trips: Some(why),
            ..self
        }
    }

    /// What it shows costs more than the least, for this reason.
    #[must_use]
    pub fn but_units(self, why: &'static str) -> Self {
        let more_units = Some(why);
        Self { more_units, ..self }
    }
}
