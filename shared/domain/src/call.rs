//! Call history and lead timeline, written by the call webhook (C-70 to C-75).

use serde::{Deserialize, Serialize};

pub use crate::event::CallStatus;
use crate::event::{CallEvent, EventName};
use crate::ids::{CallId, EventId, LeadId, UserId};
use crate::time::Timestamp;

/// Direction of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CallType {
    /// The lead called.
    Incoming,
    /// The lead was called.
    Outgoing,
}

/// A record of the call history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The record's id.
    pub id: CallId,
    /// The operator who made or took the call.
    pub user: UserId,
    /// Digits of the number as sent; `None` after the lead was deleted (C-24).
    #[serde(default)]
    pub lead_phone: Option<String>,
    /// Direction.
    #[serde(rename = "type")]
    pub kind: CallType,
    /// Whether it was answered.
    pub status: CallStatus,
    /// Duration in seconds. 0 for unanswered calls.
    pub duration: u64,
    /// Whether the provider recorded the call. The audio is not stored.
    pub record: bool,
    /// The telephony provider, up to 32 characters.
    pub service: String,
    /// The lead, if one was found.
    #[serde(default)]
    pub lead: Option<LeadId>,
    /// The lead's name at the provider, up to 64 characters. Only this record contains it (C-73).
    #[serde(default)]
    pub lead_name: Option<String>,
    /// The operator's name at the provider, up to 64 characters.
    #[serde(default)]
    pub user_name: Option<String>,
    /// The provider's id of the call, up to 64 characters. Not unique.
    #[serde(default)]
    pub call_id: Option<String>,
    /// Description, up to 1,000 characters.
    #[serde(default)]
    pub description: Option<String>,
    /// Time of the record.
    pub create_date: Timestamp,
}

impl Call {
    /// The call without its lead and personal fields (C-24).
    #[must_use]
    pub fn without_lead(self) -> Self {
        Self {
            lead: None,
            lead_phone: None,
            lead_name: None,
            ..self
        }
    }
}

impl Call {
    /// The timeline event of this call; `None` for a call without a lead.
    #[must_use]
    pub fn event(&self, id: EventId) -> Option<CallEvent> {
        Some(CallEvent {
            id,
            lead: self.lead?,
            name: match self.kind {
                CallType::Incoming => EventName::CallIncoming,
                CallType::Outgoing => EventName::CallOutgoing,
            },
            operator: self.user,
            phone: self.lead_phone.clone(),
            status: self.status,
            duration: self.duration,
            call_id: self.call_id.clone(),
            service: self.service.clone(),
            call: self.id,
            create_date: self.create_date,
        })
    }
}
