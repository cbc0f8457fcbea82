//! Meetings: time, calendar, lead and submitted form (C-51 to C-55).

mod reschedule;
mod visitor;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calendar::{Busy, Calendar};
use crate::ids::{CalendarId, LeadId, MeetingId, OpportunityId, UserId};
use crate::time::Timestamp;

pub use reschedule::RescheduleSecret;
pub use visitor::NewContact;

/// State of a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeetingStatus {
    /// Takes place at the booked time.
    #[default]
    Scheduled,
    /// Was moved and takes place.
    Rescheduled,
    /// Does not take place. Its time is free.
    Canceled,
}

/// The reason why a meeting can no longer be moved or cancelled (C-55).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// It was cancelled.
    #[error("canceled")]
    Canceled,
    /// It has begun.
    #[error("past")]
    Past,
}

/// A meeting. The serialized form is that of responses and of the line of an import (C-51, C-81).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meeting {
    /// The meeting's id.
    pub id: MeetingId,
    /// The calendar.
    pub calendar_id: CalendarId,
    /// Start.
    pub date: Timestamp,
    /// End.
    pub end_date: Timestamp,
    /// The lead; `None` after the lead was deleted.
    #[serde(default)]
    pub lead_id: Option<LeadId>,
    /// The lead's opportunity that the meeting is about.
    #[serde(default)]
    pub opportunity_id: Option<OpportunityId>,
    /// The user who meets the lead.
    #[serde(default)]
    pub user_id: Option<UserId>,
    /// State.
    #[serde(default)]
    pub status: MeetingStatus,
    /// Form fields other than the lead's; `None` after the lead was deleted (C-24).
    #[serde(default = "empty_form")]
    pub form_data: Option<Map<String, Value>>,
    /// Free-form properties of the caller.
    #[serde(default)]
    pub properties: Map<String, Value>,
    /// Number of moves through the API (C-54).
    #[serde(default)]
    pub moves: u64,
    /// Time of booking.
    pub create_date: Timestamp,
    /// Time of the last change.
    pub update_date: Timestamp,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "serde requires the type of the field; a line without the field has an empty form, not an erased one"
)]
fn empty_form() -> Option<Map<String, Value>> {
    Some(Map::new())
}

impl Meeting {
    /// Maximum length in days. A write contains two items for each day that the meeting touches, and a change those of
    /// both times.
    pub const MAX_DAYS: u32 = 21;

    /// Maximum characters of a name in [`form_data`](Self::form_data) (C-54).
    pub const MAX_NAME: usize = 64;
    /// Maximum bytes of form and properties together, as JSON (C-54).
    pub const MAX_FREE: usize = 16 * 1024;
    /// Maximum number of moves (C-54).
    pub const MAX_MOVES: u64 = 20;

    /// The time it occupies on its calendar; `None` if cancelled.
    #[must_use]
    pub fn busy_time(&self) -> Option<Busy> {
        (self.status != MeetingStatus::Canceled).then(|| Busy::new(self.date, self.end_date))
    }

    /// Checks that the meeting can be moved or cancelled at `now`.
    ///
    /// # Errors
    /// [`Closed`] with the reason.
    pub fn check_open(&self, now: Timestamp) -> Result<(), Closed> {
        match self.status {
            MeetingStatus::Canceled => Err(Closed::Canceled),
            _ if self.date <= now => Err(Closed::Past),
            _ => Ok(()),
        }
    }

    /// Whether the meeting can be moved again (C-54).
    #[must_use]
    pub fn can_move(&self) -> bool {
        self.moves < Self::MAX_MOVES
    }

    /// The meeting moved at `now` to another time on its calendar, with the calendar's present user (C-55).
    #[must_use]
    pub fn moved(&self, date: Timestamp, calendar: &Calendar, now: Timestamp) -> Self {
        Self {
            date,
            end_date: calendar.meeting_end(date),
            user_id: Some(calendar.user_id),
            status: MeetingStatus::Rescheduled,
            moves: self.moves + 1,
            update_date: now,
            ..self.clone()
        }
    }

    /// The meeting cancelled at `now`. Its time becomes free.
    #[must_use]
    pub fn canceled(&self, now: Timestamp) -> Self {
        Self {
            status: MeetingStatus::Canceled,
            update_date: now,
            ..self.clone()
        }
    }

    /// The meeting without its lead and personal fields (C-24).
    #[must_use]
    pub fn without_lead(self) -> Self {
        Self {
            lead_id: None,
            form_data: None,
            ..self
        }
    }

    /// The fields as stored and exported: without empty maps, a zero count and nulls except that of an erased form.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.retain(|name, value| match value {
            // An absent form was empty; a null form was erased.
            Value::Null => name == "formData",
            Value::Object(map) => !map.is_empty(),
            _ => name != "moves" || *value != 0,
        });
        fields
    }
}

#[cfg(test)]
mod tests;
