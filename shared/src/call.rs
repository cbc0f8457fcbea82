//! The call history and the lead timeline: what the call webhook records (C-70 to C-75).

use serde::{Deserialize, Serialize};

use crate::id::{CallId, EventId, LeadId, UserId};
use crate::time::Timestamp;

/// Whether the lead called or was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CallType {
    /// The lead called.
    Incoming,
    /// The lead was called.
    Outgoing,
}

/// Whether a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CallStatus {
    /// Answered.
    Complete,
    /// Not answered.
    Incomplete,
}

/// A record of the call history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The record's id.
    pub id: CallId,
    /// The operator.
    pub user: UserId,
    /// The number's digits as they were sent; `None` once the lead was deleted (C-24).
    #[serde(default)]
    pub lead_phone: Option<String>,
    /// The direction.
    #[serde(rename = "type")]
    pub kind: CallType,
    /// Answered or not.
    pub status: CallStatus,
    /// Seconds; 0 for unanswered calls.
    pub duration: u64,
    /// The provider recorded the call; no audio reaches us.
    pub record: bool,
    /// The telephony provider, up to 32 characters.
    pub service: String,
    /// The lead, where one could be resolved.
    #[serde(default)]
    pub lead: Option<LeadId>,
    /// The lead's name as the provider knows it, up to 64 characters. It stays in this record only (C-73).
    #[serde(default)]
    pub lead_name: Option<String>,
    /// The operator's name as the provider knows it, up to 64 characters.
    #[serde(default)]
    pub user_name: Option<String>,
    /// The provider's id of the call, up to 64 characters; not unique.
    #[serde(default)]
    pub call_id: Option<String>,
    /// Up to 1,000 characters.
    #[serde(default)]
    pub description: Option<String>,
    /// When the call was recorded.
    pub create_date: Timestamp,
}

impl Call {
    /// The same call once its lead is gone: nothing of the person is left in it (C-24).
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

/// The name of a timeline event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventName {
    /// The lead called.
    #[serde(rename = "voip.call_incoming")]
    CallIncoming,
    /// The lead was called.
    #[serde(rename = "voip.call_outgoing")]
    CallOutgoing,
}

/// An event on a lead's timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The event's id.
    pub id: EventId,
    /// On whose timeline it stands.
    pub lead: LeadId,
    /// What happened.
    pub name: EventName,
    /// The user that made or took the call.
    pub operator: UserId,
    /// The number's digits.
    #[serde(default)]
    pub phone: Option<String>,
    /// Answered or not.
    pub status: CallStatus,
    /// Seconds.
    pub duration: u64,
    /// The provider's id of the call.
    #[serde(default)]
    pub call_id: Option<String>,
    /// The telephony provider.
    pub service: String,
    /// The call it tells of.
    pub call: CallId,
    /// When it was written.
    pub create_date: Timestamp,
}

impl Call {
    /// The event this call writes on its lead's timeline; `None` for a call without lead.
    #[must_use]
    pub fn event(&self, id: EventId) -> Option<Event> {
        Some(Event {
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
