//! Meetings: when somebody meets on a calendar, for which lead, and what was said when it was booked (C-51 to C-55).

mod reschedule;
mod visitor;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calendar::{Busy, Calendar};
use crate::id::{CalendarId, LeadId, MeetingId, OpportunityId, UserId};
use crate::time::Timestamp;

pub use reschedule::RescheduleSecret;
pub use visitor::Visitor;

/// What became of a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeetingStatus {
    /// It takes place when it was booked for.
    #[default]
    Scheduled,
    /// It was moved and takes place.
    Rescheduled,
    /// It does not take place; its time is free.
    Canceled,
}

/// A meeting. The serialized form is that of answers and of an import's line (C-51, C-81).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meeting {
    /// The meeting's id.
    pub id: MeetingId,
    /// On which calendar.
    pub calendar_id: CalendarId,
    /// When it begins.
    pub date: Timestamp,
    /// When it ends.
    pub end_date: Timestamp,
    /// For whom; `None` once the lead was deleted.
    #[serde(default)]
    pub lead_id: Option<LeadId>,
    /// The lead's opportunity that it is about.
    #[serde(default)]
    pub opportunity_id: Option<OpportunityId>,
    /// With whom.
    #[serde(default)]
    pub user_id: Option<UserId>,
    /// Whether it takes place.
    #[serde(default)]
    pub status: MeetingStatus,
    /// What the form held beside the lead's own fields; `None` once the lead was deleted (C-24).
    #[serde(default = "nothing")]
    pub form_data: Option<Map<String, Value>>,
    /// What the caller wanted kept with it.
    #[serde(default)]
    pub properties: Map<String, Value>,
    /// When it was booked.
    pub create_date: Timestamp,
    /// When it was last changed.
    pub update_date: Timestamp,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "serde wants the field's own type: a line that says nothing of the form says that it was empty"
)]
fn nothing() -> Option<Map<String, Value>> {
    Some(Map::new())
}

impl Meeting {
    /// The longest a meeting can take, in days: each day it touches is an item that is written with it.
    pub const MOST_DAYS: u32 = 40;

    /// The most characters of a name in [`form_data`](Self::form_data) (C-54).
    pub const MAX_NAME: usize = 64;
    /// The most bytes of what is free in a meeting: its form and its properties together, as JSON (C-54).
    pub const MAX_FREE: usize = 16 * 1024;
    /// How often a meeting can be moved (C-54).
    pub const MAX_MOVES: u64 = 20;

    /// The time that it takes from its calendar; `None` where it was cancelled.
    #[must_use]
    pub fn takes(&self) -> Option<Busy> {
        (self.status != MeetingStatus::Canceled).then(|| Busy::new(self.date, self.end_date))
    }

    /// The same meeting at another time on its calendar (C-55), moved at `now`.
    #[must_use]
    pub fn moved(&self, date: Timestamp, calendar: &Calendar, now: Timestamp) -> Self {
        Self {
            date,
            end_date: calendar.meeting_end(date),
            status: MeetingStatus::Rescheduled,
            update_date: now,
            ..self.clone()
        }
    }

    /// The same meeting once its lead is gone: nothing of the person is left in it (C-24).
    #[must_use]
    pub fn without_lead(self) -> Self {
        Self {
            lead_id: None,
            form_data: None,
            ..self
        }
    }

    /// The fields that say something, as they are stored and exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.retain(|name, value| match value {
            // An absent form was empty; one that is null was erased.
            Value::Null => name == "formData",
            Value::Object(map) => !map.is_empty(),
            _ => true,
        });
        fields
    }
}

#[cfg(test)]
mod tests;
