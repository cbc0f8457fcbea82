//! The events of a lead's timeline: calls (C-75) and submissions of forms (C-101).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{CallId, EventId, FormId, LeadId, UserId};
use crate::time::Timestamp;

/// Whether a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CallStatus {
    /// Answered.
    Complete,
    /// Not answered.
    Incomplete,
}

/// An event of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TimelineEvent {
    /// A call.
    Call(CallEvent),
    /// A submission of a form.
    Form(FormEvent),
}

impl From<CallEvent> for TimelineEvent {
    fn from(event: CallEvent) -> Self {
        Self::Call(event)
    }
}

impl TimelineEvent {
    /// The event's id.
    #[must_use]
    pub fn id(&self) -> EventId {
        match self {
            Self::Call(event) => event.id,
            Self::Form(event) => event.id,
        }
    }

    /// The lead.
    #[must_use]
    pub fn lead(&self) -> LeadId {
        match self {
            Self::Call(event) => event.lead,
            Self::Form(event) => event.lead,
        }
    }

    /// Time of the event.
    #[must_use]
    pub fn create_date(&self) -> Timestamp {
        match self {
            Self::Call(event) => event.create_date,
            Self::Form(event) => event.create_date,
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
pub struct CallEvent {
    /// The event's id.
    pub id: EventId,
    /// The lead.
    pub lead: LeadId,
    /// Name of the event.
    pub name: EventName,
    /// The user who made or took the call.
    pub operator: UserId,
    /// Digits of the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Whether it was answered.
    pub status: CallStatus,
    /// Duration in seconds.
    pub duration: u64,
    /// The provider's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The telephony provider.
    pub service: String,
    /// The call.
    pub call: CallId,
    /// Time of the event.
    pub create_date: Timestamp,
}

/// The name of the event of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FormEventName {
    /// A submission was accepted.
    #[serde(rename = "form.received")]
    Received,
}

/// A submission of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormEvent {
    /// The event's id.
    pub id: EventId,
    /// The lead.
    pub lead: LeadId,
    /// Name of the event.
    pub name: FormEventName,
    /// The form.
    pub form: FormId,
    /// The values of the form's fields and of `utm_*`, by name.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// Time of the event.
    pub create_date: Timestamp,
}
