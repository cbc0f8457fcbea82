//! Targets of round trips and units.

use super::bill::Made;

/// A kind of use with a target of sequential round trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Read of one record.
    Thing,
    /// Page of a column, with or without a cursor.
    Page,
    /// A board.
    Board,
    /// A write.
    Write,
    /// A booking.
    Booking,
    /// A call of a known lead.
    Call,
}

/// Maximum read units ÷ minimum for responses with lists.
pub const LISTED: f64 = 1.15;
/// Maximum write units ÷ minimum in a transaction, which is billed twice.
pub const IN_TRANSACTION: f64 = 2.2;
/// Maximum write units ÷ minimum of a write outside a transaction.
pub const BY_ITSELF: f64 = 1.1;

/// Reason that a list of more than 50 needs another round trip and may start a unit twice.
pub const MORE_THAN_A_PAGE: &str = "more than a page of 50 is read only once the check has passed (C-86)";

impl Target {
    /// All targets.
    pub const ALL: [Self; 6] = [
        Self::Thing,
        Self::Page,
        Self::Board,
        Self::Write,
        Self::Booking,
        Self::Call,
    ];

    /// Maximum sequential round trips.
    #[must_use]
    pub fn round_trips(self) -> u32 {
        match self {
            Self::Thing => 1,
            Self::Page | Self::Board | Self::Write | Self::Booking | Self::Call => 2,
        }
    }

    /// The endpoints with this target.
    #[must_use]
    pub fn endpoints(self) -> &'static [&'static str] {
        match self {
            Self::Thing => &["2", "3", "4", "9", "11", "14", "15", "16", "17", "18"],
            Self::Page | Self::Board => &["10"],
            Self::Write => &[
                "5",
                "6",
                "7",
                "8",
                "POST /leads",
                "PUT /leads",
                "POST /sac360/relaction",
                "POST /api/hook/{name}",
            ],
            Self::Booking => &["13"],
            Self::Call => &["19"],
        }
    }
}

/// A measured use of an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The endpoint's number in spec.md, or a name.
    pub endpoint: &'static str,
    /// Description of the request.
    pub what: String,
    /// Its target.
    pub target: Option<Target>,
    /// Maximum sequential round trips, of the target or of docs/access-patterns.md.
    pub round_trips: u32,
    /// The items of its response.
    pub made: Made,
    /// Reason that it needs more round trips than its target.
    pub more_trips: Option<&'static str>,
    /// Reason that its list needs more than the minimum.
    pub more_units: Option<&'static str>,
}

impl Line {
    /// A use with a target.
    #[must_use]
    pub fn of(target: Target, endpoint: &'static str, what: impl Into<String>) -> Self {
        Self {
            target: Some(target),
            ..Self::within(target.round_trips(), endpoint, what)
        }
    }

    /// A use without a target, with its own maximum of round trips.
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

    /// The response consists of items of this kind.
    #[must_use]
    pub fn shows(self, kind: &'static str) -> Self {
        let made = Made::Of(kind);
        Self { made, ..self }
    }

    /// The response requires reading this number of items of this kind.
    #[must_use]
    pub fn looks_through(self, kind: &'static str, items: usize) -> Self {
        let made = Made::From(kind, items);
        Self { made, ..self }
    }

    /// Permits more round trips, for this reason.
    #[must_use]
    pub fn but_trips(self, round_trips: u32, why: &'static str) -> Self {
        Self {
            round_trips,
            more_trips: Some(why),
            ..self
        }
    }

    /// Permits more units than the minimum, for this reason.
    #[must_use]
    pub fn but_units(self, why: &'static str) -> Self {
        let more_units = Some(why);
        Self { more_units, ..self }
    }
}
