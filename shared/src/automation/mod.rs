//! Automations: what the operator has done when a lead calls (C-76).
//!
//! A value of [`Automation`] is one that could be carried out as far as it tells by itself; whether what it names is there
//! is judged when it is imported, and again when it is carried out.

mod hook;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AutomationId, ColumnId, DepartmentId, FunnelId, UserId};
use crate::money::Cents;

pub use hook::{Hook, is_public};

/// The most actions of an automation.
pub const MOST_ACTIONS: usize = 20;
/// The most points that an action gives or takes.
pub const MOST_POINTS: i64 = 1_000_000_000_000_000;

/// An automation. The serialized form is that of an import's line (C-81).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Automation {
    /// The automation's id.
    pub id: AutomationId,
    /// What it is called.
    pub name: String,
    /// What sets it off.
    pub trigger: Trigger,
    /// Which moment of it.
    pub event: Moment,
    /// What narrows it.
    #[serde(default, skip_serializing_if = "Filters::is_empty")]
    pub filters: Filters,
    /// What is done, in this order.
    pub actions: Vec<Action>,
    /// Whether it is carried out at all.
    #[serde(default = "active")]
    pub active: bool,
}

/// What sets an automation off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trigger {
    /// A lead calls.
    #[serde(rename = "leadPhoneCall")]
    LeadPhoneCall,
}

/// Which moment of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    /// The call came in through the webhook.
    #[serde(rename = "received")]
    Received,
}

/// What narrows an automation: so far nothing. Unknown filters are refused, because ignoring one would have actions
/// carried out that nobody wants.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Filters {
    /// Kept, and without effect: the webhook carries no such number (spec.md, Events).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_number: Option<Value>,
}

/// What an automation does. What is unknown of one is refused like an unknown filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Action {
    /// Adds to the lead's points.
    AddPoints {
        /// How many; negative ones are taken.
        points: i64,
    },
    /// Makes a user the lead's owner.
    SetOwner {
        /// The user.
        user: UserId,
    },
    /// Adds to the lists of those who may see the lead (C-82).
    AddAccess {
        /// Users to admit.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        users: Vec<UserId>,
        /// Departments to admit.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        departments: Vec<DepartmentId>,
    },
    /// Makes an opportunity of the lead. Its user is the call's.
    CreateOpportunity {
        /// The funnel.
        funnel: FunnelId,
        /// The funnel's column.
        column: ColumnId,
        /// The opportunity's title.
        title: String,
        /// What it is worth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Cents>,
    },
    /// Posts a signed notification.
    Notify {
        /// Where to.
        url: Hook,
        /// What it is signed with.
        secret: Secret,
    },
}

/// A secret, out of reach of any log line.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Filters {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operator_number.is_none()
    }
}

impl Automation {
    /// What is wrong with it, beginning with the field's name, as far as it tells by itself.
    ///
    /// # Errors
    /// The first breach, in words for the operator.
    pub fn judge(&self) -> Result<(), String> {
        length("name", &self.name)?;
        if self.actions.is_empty() || self.actions.len() > MOST_ACTIONS {
            return Err(format!("actions: must have 1 to {MOST_ACTIONS} elements"));
        }
        for (at, action) in self.actions.iter().enumerate() {
            action
                .judge()
                .map_err(|reason| format!("actions[{at}].{reason}"))?;
        }
        Ok(())
    }
}

impl Action {
    fn judge(&self) -> Result<(), String> {
        match self {
            Self::AddPoints { points } if points.unsigned_abs() > MOST_POINTS.unsigned_abs() => {
                Err("points: must be from -1e15 to 1e15".to_owned())
            }
            Self::AddAccess { users, departments } if users.is_empty() && departments.is_empty() => {
                Err("users: must name somebody where departments do not".to_owned())
            }
            Self::CreateOpportunity { title, .. } => length("title", title),
            Self::Notify { secret, .. } => length("secret", secret.reveal()),
            Self::AddPoints { .. } | Self::SetOwner { .. } | Self::AddAccess { .. } => Ok(()),
        }
    }
}

fn length(name: &str, text: &str) -> Result<(), String> {
    if (1..=255).contains(&text.chars().count()) {
        return Ok(());
    }
    Err(format!("{name}: must have 1 to 255 characters"))
}

fn active() -> bool {
    true
}
