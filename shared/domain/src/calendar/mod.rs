//! A calendar defines bookable time (C-52). Participants are in `meeting`.
//!
//! Every field is valid by its type. The free starts of lists and bookings are both computed in
//! `availability`.

mod availability;
mod horizon;
mod hours;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{CalendarId, UserId};
use crate::time::{Day, Timestamp, Zone};

pub use availability::{Busy, Unavailable};
pub use horizon::{BadHorizon, Horizon};
pub use hours::{BadHours, Clock, Opening, Openings, Week};

/// A calendar. Its serialized form is the line of an import (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Calendar {
    /// The calendar's id.
    pub id: CalendarId,
    /// Display name.
    pub name: String,
    /// Name of the person who meets the visitor, for the booking page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Name of the company, for the booking page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// The last segment of the public link.
    pub key_name: LinkName,
    /// The calendar's other public identifier.
    pub public_id: LinkName,
    /// Whether the public link is active [default: false].
    #[serde(default)]
    pub is_published: bool,
    /// The owner.
    pub user_id: UserId,
    /// Whether its meetings take the user's time on other calendars, and theirs take time on this one (C-52). Otherwise
    /// only its own meetings matter [default: true].
    #[serde(default = "crate::json::default_true", skip_serializing_if = "Clone::clone")]
    pub shares_time: bool,
    /// The time zone of hours and horizon.
    pub timezone: Zone,
    /// Duration of a meeting.
    pub duration_minutes: Minutes<1, 1440>,
    /// Minimum time between two meetings.
    #[serde(default)]
    pub buffer_minutes: Minutes<0, 1440>,
    /// Minimum time between booking and start.
    #[serde(default)]
    pub minimum_notice_minutes: Minutes<0, { u32::MAX }>,
    /// The hours of each weekday.
    pub hours: Week,
    /// Hours that replace those of the weekday on a date. An empty list closes the date.
    #[serde(default)]
    pub dates: BTreeMap<Day, Openings>,
    /// How many days ahead the calendar can be booked.
    #[serde(default)]
    pub horizon: Horizon,
    /// Time of creation.
    pub create_date: Timestamp,
    /// Time of the last change.
    pub update_date: Timestamp,
}

impl Calendar {
    /// The hours of a day: those of its date if present, else those of its weekday.
    #[must_use]
    pub fn openings(&self, day: Day) -> &Openings {
        self.dates
            .get(&day)
            .unwrap_or_else(|| self.hours.of(day.weekday()))
    }

    /// The end of a meeting that begins at `start`.
    #[must_use]
    pub fn meeting_end(&self, start: Timestamp) -> Timestamp {
        start.plus_seconds(self.duration_minutes.get() * 60)
    }

    /// The end of a meeting that begins at `start`, plus its buffer.
    #[must_use]
    pub fn buffer_end(&self, start: Timestamp) -> Timestamp {
        self.meeting_end(start)
            .plus_seconds(self.buffer_minutes.get() * 60)
    }

    /// The time of one of its meetings with the buffer after it.
    #[must_use]
    pub fn with_buffer(&self, busy: Busy) -> Busy {
        busy.extended(self.buffer_minutes)
    }
}

/// Text that is safe in a URL path: 1 to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-` (C-81).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinkName(String);

/// The text is not a [`LinkName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")]
pub struct BadLinkName;

impl LinkName {
    /// Parses a name; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let has_safe_characters = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        (has_safe_characters && (1..=64).contains(&text.len())).then(|| Self(text.to_owned()))
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

/// A duration of whole minutes, from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Minutes<const MIN: u32, const MAX: u32>(u32);

/// The number of minutes is out of range. Contains minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number of minutes from {0} to {1}")]
pub struct BadMinutes(u32, u32);

impl<const MIN: u32, const MAX: u32> Minutes<MIN, MAX> {
    /// The maximum.
    pub const MAXIMUM: Self = Self(MAX);

    /// From a number of minutes; `None` if out of range.
    #[must_use]
    pub fn new(minutes: u32) -> Option<Self> {
        (MIN..=MAX).contains(&minutes).then_some(Self(minutes))
    }

    /// Number of minutes.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// The duration in milliseconds.
    fn millis(self) -> i64 {
        i64::from(self.0) * 60_000
    }
}

impl<const MAX: u32> Default for Minutes<0, MAX> {
    fn default() -> Self {
        Self(0)
    }
}

impl<const MIN: u32, const MAX: u32> TryFrom<u64> for Minutes<MIN, MAX> {
    type Error = BadMinutes;

    fn try_from(minutes: u64) -> Result<Self, BadMinutes> {
        let minutes = u32::try_from(minutes).ok().and_then(Self::new);
        minutes.ok_or(BadMinutes(MIN, MAX))
    }
}

impl<const MIN: u32, const MAX: u32> From<Minutes<MIN, MAX>> for u64 {
    fn from(minutes: Minutes<MIN, MAX>) -> Self {
        minutes.0.into()
    }
}
