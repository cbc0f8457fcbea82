//! The events that automations react to (C-76, C-102).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Kinds of triggers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trigger {
    /// A lead calls.
    LeadPhoneCall,
    /// A lead is created or changed.
    Lead,
    /// An opportunity is created or changed.
    Opportunity,
    /// A meeting is booked, moved or cancelled.
    Meeting,
    /// A submission of a form is accepted.
    Form,
}

/// Moments of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Moment {
    /// The call came in through the webhook, or the submission through its form.
    Received,
    /// The record was created.
    Created,
    /// Any field of the record was changed.
    Updated,
    /// The lead has another owner.
    OwnerChanged,
    /// The lead was archived.
    Archived,
    /// The opportunity is in another column.
    ColumnChanged,
    /// The opportunity has another status.
    StatusChanged,
    /// The meeting was booked.
    Booked,
    /// The meeting was moved to another time.
    Moved,
    /// The meeting was cancelled.
    Canceled,
}

impl Trigger {
    /// The moments of the trigger.
    #[must_use]
    pub fn moments(self) -> &'static [Moment] {
        match self {
            Self::LeadPhoneCall | Self::Form => &[Moment::Received],
            Self::Lead => &[
                Moment::Created,
                Moment::Updated,
                Moment::OwnerChanged,
                Moment::Archived,
            ],
            Self::Opportunity => &[
                Moment::Created,
                Moment::Updated,
                Moment::ColumnChanged,
                Moment::StatusChanged,
            ],
            Self::Meeting => &[Moment::Booked, Moment::Moved, Moment::Canceled],
        }
    }
}

/// A moment of a trigger. Its text is `<trigger>.<moment>`, for example `lead.created`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The trigger.
    pub trigger: Trigger,
    /// The moment.
    pub moment: Moment,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names of the serialized form.
        let name = |variant: Value| variant.as_str().unwrap_or_default().to_owned();
        write!(f, "{}.{}", name(json!(self.trigger)), name(json!(self.moment)))
    }
}
