//! Calendars: who meets whom is the meetings' matter; a calendar says when there may be a meeting at all (C-52).
//!
//! Every field is valid by its type, so a calendar that exists has hours that can be computed. What is listed as free
//! and what is accepted as a booking come out of the same code, in `availability`.

mod availability;
mod horizon;
mod hours;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{CalendarId, UserId};
use crate::time::{Day, Timestamp, Zone};

pub use availability::{Busy, Unavailable};
pub use horizon::{BadHorizon, Horizon};
pub use hours::{BadHours, Clock, Opening, Openings, Week};

/// A calendar. The serialized form is that of an import's line (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Calendar {
    /// The calendar's id.
    pub id: CalendarId,
    /// What it is called.
    pub name: String,
    /// The last segment of its public link.
    pub key_name: LinkName,
    /// Its other identifier.
    pub public_id: LinkName,
    /// Whether the public link is active. An absent one is not.
    #[serde(default)]
    pub is_published: bool,
    /// Whose calendar it is.
    pub user_id: UserId,
    /// The zone whose days and clocks its hours and horizon mean.
    pub timezone: Zone,
    /// How long a meeting takes.
    pub duration_minutes: Minutes<1, 1440>,
    /// How long nobody meets between two meetings.
    #[serde(default)]
    pub buffer_minutes: Minutes<0, 1440>,
    /// How long before its start a meeting must be booked.
    #[serde(default)]
    pub minimum_notice_minutes: Minutes<0, { u32::MAX }>,
    /// The hours of each weekday.
    pub hours: Week,
    /// Hours that replace the weekday's on their date; none close it.
    #[serde(default)]
    pub dates: BTreeMap<Day, Openings>,
    /// How far ahead it can be booked.
    #[serde(default)]
    pub horizon: Horizon,
    /// When it was made.
    pub create_date: Timestamp,
    /// When it was last changed.
    pub update_date: Timestamp,
}

impl Calendar {
    /// The hours of a day: its own where it has some, else its weekday's.
    #[must_use]
    pub fn openings(&self, day: Day) -> &Openings {
        self.dates
            .get(&day)
            .unwrap_or_else(|| self.hours.of(day.weekday()))
    }

    /// When a meeting that begins then ends.
    #[must_use]
    pub fn meeting_end(&self, start: Timestamp) -> Timestamp {
        start.plus_seconds(self.duration_minutes.get() * 60)
    }

    /// Until when nothing else may be booked beside a meeting that begins then: its end and the buffer behind it.
    #[must_use]
    pub fn buffer_end(&self, start: Timestamp) -> Timestamp {
        self.meeting_end(start)
            .plus_seconds(self.buffer_minutes.get() * 60)
    }

    /// Until when another meeting may last so that its buffer ends by a start.
    #[must_use]
    pub fn buffer_start(&self, start: Timestamp) -> Timestamp {
        Timestamp::from_unix_millis(start.unix_millis() - self.buffer_minutes.millis()).unwrap_or(start)
    }
}

/// A name that stands in a link as it is: 1 to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-` (C-81).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinkName(String);

/// A text that is not a [`LinkName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")]
pub struct BadLinkName;

impl LinkName {
    /// Reads a name; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        (plain && (1..=64).contains(&text.len())).then(|| Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for LinkName {
    type Error = BadLinkName;

    fn try_from(text: String) -> Result<Self, BadLinkName> {
        Self::parse(&text).ok_or(BadLinkName)
    }
}

impl From<LinkName> for String {
    fn from(name: LinkName) -> Self {
        name.0
    }
}

impl fmt::Display for LinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A length of time in whole minutes, from `LEAST` to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Minutes<const LEAST: u32, const MOST: u32>(u32);

/// A number of minutes outside what is accepted: the least and the most that are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number of minutes from {0} to {1}")]
pub struct BadMinutes(u32, u32);

impl<const LEAST: u32, const MOST: u32> Minutes<LEAST, MOST> {
    /// So many minutes; `None` outside the bounds.
    #[must_use]
    pub fn new(minutes: u32) -> Option<Self> {
        (LEAST..=MOST).contains(&minutes).then_some(Self(minutes))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// The same in milliseconds.
    fn millis(self) -> i64 {
        i64::from(self.0) * 60_000
    }
}

impl<const MOST: u32> Default for Minutes<0, MOST> {
    fn default() -> Self {
        Self(0)
    }
}

impl<const LEAST: u32, const MOST: u32> TryFrom<u64> for Minutes<LEAST, MOST> {
    type Error = BadMinutes;

    fn try_from(minutes: u64) -> Result<Self, BadMinutes> {
        let minutes = u32::try_from(minutes).ok().and_then(Self::new);
        minutes.ok_or(BadMinutes(LEAST, MOST))
    }
}

impl<const LEAST: u32, const MOST: u32> From<Minutes<LEAST, MOST>> for u64 {
    fn from(minutes: Minutes<LEAST, MOST>) -> Self {
        minutes.0.into()
    }
}
