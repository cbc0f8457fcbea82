//! Automations: the actions that an operator defines for calls and for changes of records (C-76, C-102).
//!
//! An [`Automation`] is valid by itself. The records that it names are checked when it is imported and again
//! when it runs.

mod address;
mod event;
mod hook;
pub mod request;
pub mod template;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{AutomationId, ColumnId, DepartmentId, FormId, FunnelId, UserId};
use crate::money::Cents;
use crate::opportunity::{Opportunity, Status};

pub use address::{is_link_local, is_public};
pub use event::{Event, Moment, Trigger};
pub use hook::{NotifyHost, WebhookUrl};
pub use request::{Headers, Method};
pub use template::{Placeholder, Template};
use template::{PlaceholderSource, placeholders_of};

/// Maximum number of actions of an automation.
pub const MAX_ACTIONS: usize = 20;
/// Maximum absolute number of points per action.
pub const MAX_POINTS: i64 = 1_000_000_000_000_000;

/// An automation. Its serialized form is the line of an import (C-81).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Automation {
    /// The automation's id.
    pub id: AutomationId,
    /// Display name.
    pub name: String,
    /// The trigger.
    pub trigger: Trigger,
    /// The moment of the trigger, one of [`Trigger::moments`].
    pub event: Moment,
    /// Conditions on the trigger.
    #[serde(default, skip_serializing_if = "Filters::is_empty")]
    pub filters: Filters,
    /// Actions, run in this order.
    pub actions: Vec<Action>,
    /// Inactive automations never run.
    #[serde(default = "crate::json::default_true")]
    pub active: bool,
}

/// Conditions on the trigger, all of which must be met. Unknown filters are rejected, because ignoring one would
/// run actions too often.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Filters {
    /// Stored and ignored, because the webhook sends no such number (spec.md, Events).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_number: Option<Value>,
    /// The opportunity's funnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub funnel: Option<FunnelId>,
    /// The opportunity's column. For a move, this is the new column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<ColumnId>,
    /// The opportunity's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The lead's owner, the opportunity's user or the meeting's user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
    /// The lead's acquisition channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormId>,
}

/// The attributes of an event that filters compare.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Circumstances {
    /// The opportunity's funnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub funnel: Option<FunnelId>,
    /// The opportunity's column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<ColumnId>,
    /// The opportunity's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The lead's owner, the opportunity's user or the meeting's user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
    /// The form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormId>,
    /// The lead's acquisition channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// An action. Unknown actions and fields are rejected, like unknown filters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Action {
    /// Adds to the lead's points.
    AddPoints {
        /// Points to add. May be negative.
        points: i64,
    },
    /// Makes a user the lead's owner.
    SetOwner {
        /// The new owner.
        user: UserId,
    },
    /// Adds to the lead's access lists (C-82).
    AddAccess {
        /// Users to add.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        users: Vec<UserId>,
        /// Departments to add.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        departments: Vec<DepartmentId>,
    },
    /// Creates an opportunity of the lead for the user of the call, meeting or opportunity, else for the lead's owner.
    CreateOpportunity {
        /// The funnel.
        funnel: FunnelId,
        /// The funnel's column.
        column: ColumnId,
        /// The opportunity's title.
        title: String,
        /// The opportunity's value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Cents>,
    },
    /// Sends a signed notification.
    Notify(Box<Notify>),
}

/// A notification to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    /// Receiver.
    pub url: WebhookUrl,
    /// Signing secret.
    pub secret: SecretText,
    /// Method of the request.
    #[serde(default, skip_serializing_if = "Method::is_post")]
    pub method: Method,
    /// Further headers of the request.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// Body of the request. If absent, the body describes the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Template>,
}

/// A secret. `Debug` never prints it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// From clear text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret in clear text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Circumstances {
    /// The circumstances of an opportunity.
    #[must_use]
    pub fn of(opportunity: &Opportunity) -> Self {
        Self {
            funnel: Some(opportunity.crm_id),
            column: Some(opportunity.crm_column),
            status: Some(opportunity.status),
            owner: Some(opportunity.user),
            ..Self::default()
        }
    }
}

impl Filters {
    /// Whether there are no filters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that the trigger's events have the attributes that the filters compare.
    fn validate(&self, trigger: Trigger) -> Result<(), String> {
        let has_opportunity = matches!(trigger, Trigger::Opportunity | Trigger::Meeting);
        let is_call = trigger == Trigger::LeadPhoneCall;
        // Each filter, whether it is set, and whether events of this trigger have the attribute.
        let filters = [
            ("operatorNumber", self.operator_number.is_some(), is_call),
            ("funnel", self.funnel.is_some(), has_opportunity),
            ("column", self.column.is_some(), has_opportunity),
            ("status", self.status.is_some(), has_opportunity),
            ("form", self.form.is_some(), trigger == Trigger::Form),
        ];
        let inapplicable = filters
            .into_iter()
            .find(|(_, is_set, applies)| *is_set && !applies);
        if let Some((name, ..)) = inapplicable {
            return Err(format!("filters.{name}: does not apply to this trigger"));
        }
        if self.column.is_some() && self.funnel.is_none() {
            return Err("filters.column: needs its funnel".to_owned());
        }
        match &self.source {
            Some(source) => require_length("filters.source", source),
            None => Ok(()),
        }
    }

    /// Whether an event in these circumstances passes the filters.
    #[must_use]
    pub fn admits(&self, event: &Circumstances) -> bool {
        /// An absent filter accepts everything.
        fn accepts<T: PartialEq>(filter: Option<&T>, value: Option<&T>) -> bool {
            filter.is_none() || filter == value
        }
        accepts(self.funnel.as_ref(), event.funnel.as_ref())
            && accepts(self.column.as_ref(), event.column.as_ref())
            && accepts(self.status.as_ref(), event.status.as_ref())
            && accepts(self.owner.as_ref(), event.owner.as_ref())
            && accepts(self.form.as_ref(), event.form.as_ref())
            && accepts(self.source.as_ref(), event.source.as_ref())
    }
}

impl Automation {
    /// The event that triggers it.
    #[must_use]
    pub fn trigger_event(&self) -> Event {
        Event {
            trigger: self.trigger,
            moment: self.event,
        }
    }

    /// Checks the fields that are valid or invalid without other records.
    ///
    /// # Errors
    /// The first invalid field with the reason, as text for the operator.
    pub fn validate(&self) -> Result<(), String> {
        require_length("name", &self.name)?;
        if !self.trigger.moments().contains(&self.event) {
            return Err(format!("event: {} does not exist", self.trigger_event()));
        }
        self.filters.validate(self.trigger)?;
        if self.actions.is_empty() || self.actions.len() > MAX_ACTIONS {
            return Err(format!("actions: must have 1 to {MAX_ACTIONS} elements"));
        }
        for (at, action) in self.actions.iter().enumerate() {
            let invalid = |reason| format!("actions[{at}].{reason}");
            action.validate().map_err(invalid)?;
            for (place, placeholder) in action.placeholders().map_err(invalid)? {
                let (triggers, names): (&[_], _) = match placeholder.source {
                    PlaceholderSource::Form => (&[Trigger::Form], "form"),
                    PlaceholderSource::Opportunity => (
                        &[Trigger::Opportunity, Trigger::Meeting],
                        "opportunity or meeting",
                    ),
                    PlaceholderSource::Lead => continue,
                };
                if !triggers.contains(&self.trigger) {
                    let (source, field) = (placeholder.source.name(), placeholder.field);
                    return Err(invalid(format!(
                        "{place}: {{{source}={field}}} has a value only under the trigger {names}"
                    )));
                }
            }
        }
        Ok(())
    }
}

impl Action {
    /// The placeholders of all its texts, each with the field that contains it.
    ///
    /// # Errors
    /// The reason why a text is invalid, which begins with the name of the field.
    pub fn placeholders(&self) -> Result<Vec<(&'static str, Placeholder<'_>)>, String> {
        let mut texts = Vec::new();
        match self {
            Self::Notify(notify) => {
                texts.push(("url", placeholders_of(notify.url.path())));
                for value in notify.headers.values() {
                    // The error must not quote the value, which may be a secret.
                    let hidden = |_| "a value has an unknown placeholder".to_owned();
                    texts.push(("headers", placeholders_of(value.reveal()).map_err(hidden)));
                }
                texts.extend(notify.body.iter().map(|body| ("body", body.placeholders())));
            }
            Self::CreateOpportunity { title, .. } => texts.push(("title", placeholders_of(title))),
            Self::AddPoints { .. } | Self::SetOwner { .. } | Self::AddAccess { .. } => {}
        }
        let mut found = Vec::new();
        for (place, placeholders) in texts {
            let placeholders = placeholders.map_err(|reason| format!("{place}: {reason}"))?;
            found.extend(placeholders.into_iter().map(|placeholder| (place, placeholder)));
        }
        Ok(found)
    }

    /// The error begins with the name of the invalid field.
    fn validate(&self) -> Result<(), String> {
        match self {
            Self::AddPoints { points } if points.unsigned_abs() > MAX_POINTS.unsigned_abs() => {
                Err("points: must be from -1e15 to 1e15".to_owned())
            }
            Self::AddAccess { users, departments } if users.is_empty() && departments.is_empty() => {
                Err("users: must not be empty where departments is".to_owned())
            }
            Self::CreateOpportunity { title, .. } => require_length("title", title),
            Self::Notify(notify) => notify.validate(),
            Self::AddPoints { .. } | Self::SetOwner { .. } | Self::AddAccess { .. } => Ok(()),
        }
    }
}

impl Notify {
    /// The error begins with the name of the invalid field.
    fn validate(&self) -> Result<(), String> {
        require_length("secret", self.secret.reveal())?;
        if self.method == Method::Get && self.body.is_some() {
            return Err("body: is not sent by GET".to_owned());
        }
        request::validate_headers(&self.headers)
    }
}

/// Requires a text of 1 to 255 characters in the field `name`.
fn require_length(name: &str, text: &str) -> Result<(), String> {
    if (1..=255).contains(&text.chars().count()) {
        return Ok(());
    }
    Err(format!("{name}: must have 1 to 255 characters"))
}
