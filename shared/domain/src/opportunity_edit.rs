//! Creates and changes opportunities (C-30, C-31). The values of a request are validated against the funnel, the users
//! and the lead, and become a record.

use serde_json::{Map, Value};

use crate::funnel::Funnel;
use crate::ids::{ColumnId, FunnelId, LeadId, OpportunityId, UserId};
use crate::money::Cents;
use crate::opportunity::{Opportunity, Status};
use crate::time::{Day, Timestamp, Zone};
use crate::viewer::Viewer;

/// Maximum bytes of a record, in the form in which it is stored and exported (C-30).
const MAX_RECORD: usize = 100_000;

/// A time, or a day, which means the start of that day in the instance's zone (C-31).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseDate {
    /// A time.
    At(Timestamp),
    /// A day.
    On(Day),
}

impl CloseDate {
    /// The time, or the start of the day in `zone`.
    #[must_use]
    pub fn within(self, zone: Zone) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::On(day) => zone.start_of(day),
        }
    }
}

/// A change of a value that may be null.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChange<T> {
    /// The value stays unchanged.
    #[default]
    Keep,
    /// The value becomes null.
    Clear,
    /// The value becomes this.
    Set(T),
}

impl<T> FieldChange<T> {
    /// The new value; `None` if the value is kept or cleared.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Keep | Self::Clear => None,
            Self::Set(new) => Some(new),
        }
    }

    /// Changes `value`. A new value is converted by `make`.
    pub fn apply<U>(&self, value: &mut Option<U>, make: impl FnOnce(&T) -> U) {
        match self {
            Self::Keep => {}
            Self::Clear => *value = None,
            Self::Set(new) => *value = Some(make(new)),
        }
    }
}

/// Error of creating or changing an opportunity. The text names the invalid field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValidationError {
    /// The column is not one of the funnel's.
    #[error("crm_column: column {0} is not one of funnel {1}")]
    Column(ColumnId, FunnelId),
    /// The lead does not exist, or the user may not see it.
    #[error("lead_id: lead {0} does not exist")]
    Lead(LeadId),
    /// The user does not exist.
    #[error("user: user {0} does not exist")]
    User(UserId),
    /// The funnel defines no custom field of this name.
    #[error("fields.{0}: is not a field of funnel {1}")]
    Undefined(String, FunnelId),
    /// The record would be too large. All other fields are short, so the text names the custom fields.
    #[error("fields: the record must not be larger than 100 KB")]
    TooLarge,
}

/// The records that an opportunity is validated against.
#[derive(Debug)]
pub struct ValidationContext<'a> {
    /// The user who sent the request.
    pub viewer: &'a Viewer,
    /// The funnel, which the viewer may see.
    pub funnel: &'a Funnel,
    /// The lead that the request names, if it exists and the viewer sees it.
    pub lead: Option<LeadId>,
    /// The user that the request names, if the user exists.
    pub user: Option<UserId>,
    /// The time of the request.
    pub now: Timestamp,
}

impl ValidationContext<'_> {
    /// Whether an opportunity belongs to the funnel and the viewer sees it (C-31, C-32).
    #[must_use]
    pub fn sees(&self, opportunity: &Opportunity) -> bool {
        let Opportunity { user, status, .. } = *opportunity;
        let restriction = opportunity.restriction();
        opportunity.crm_id == self.funnel.id && self.viewer.sees_opportunity(user, status, &restriction)
    }

    /// The zone of the instance's days.
    fn zone(&self) -> Zone {
        self.viewer.directory().settings.zone()
    }

    fn require_column(&self, column: ColumnId) -> Result<(), ValidationError> {
        let known = self.funnel.has_column(column);
        require(known, || ValidationError::Column(column, self.funnel.id))
    }

    fn require_lead(&self, lead: LeadId) -> Result<(), ValidationError> {
        require(self.lead == Some(lead), || ValidationError::Lead(lead))
    }

    /// Requires that the user exists. Inactive users are accepted too.
    fn require_user(&self, user: UserId) -> Result<(), ValidationError> {
        let known = self.user == Some(user) || user == self.viewer.user();
        require(known, || ValidationError::User(user))
    }

    /// Requires that the funnel defines a custom field of this name, compared byte for byte.
    fn require_field(&self, name: &str) -> Result<(), ValidationError> {
        let undefined = || ValidationError::Undefined(name.to_owned(), self.funnel.id);
        require(self.funnel.defines(name), undefined)
    }
}

/// Requires that a record is not larger than [`MAX_RECORD`].
fn require_size(opportunity: &Opportunity) -> Result<(), ValidationError> {
    let text = Value::Object(opportunity.sparse()).to_string();
    require(text.len() <= MAX_RECORD, || ValidationError::TooLarge)
}

/// `error` if the condition is not met.
fn require(is_met: bool, error: impl FnOnce() -> ValidationError) -> Result<(), ValidationError> {
    if is_met { Ok(()) } else { Err(error()) }
}

/// An opportunity to create.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOpportunity {
    /// Its lead.
    pub lead: LeadId,
    /// Its title.
    pub title: String,
    /// Its column.
    pub column: ColumnId,
    /// Its value.
    pub value: Cents,
    /// Its place in the column, as the client counts.
    pub sequence: u64,
    /// Open, won or lost.
    pub status: Status,
    /// When it is likely to be closed.
    pub expected_close_date: Option<CloseDate>,
    /// The responsible user; `None` for the viewer.
    pub user: Option<UserId>,
    /// Custom fields by name. Null is absent.
    pub fields: Map<String, Value>,
}

impl NewOpportunity {
    /// Validates the references, the custom fields and the size, in this order.
    ///
    /// # Errors
    /// The first [`ValidationError`].
    pub fn validate(&self, context: &ValidationContext<'_>) -> Result<(), ValidationError> {
        context.require_column(self.column)?;
        context.require_lead(self.lead)?;
        if let Some(user) = self.user {
            context.require_user(user)?;
        }
        for name in self.fields.keys() {
            context.require_field(name)?;
        }
        // Its id is not known yet, so the size is that with the longest id.
        require_size(&self.make(OpportunityId::MAX, context))
    }

    /// The record with an id. The fields are those that [`Self::validate`] has checked.
    #[must_use]
    pub fn make(&self, id: OpportunityId, context: &ValidationContext<'_>) -> Opportunity {
        let user = self.user.unwrap_or_else(|| context.viewer.user());
        let mut fields = self.fields.clone();
        fields.retain(|_, value| !value.is_null());
        let funnel_column = (context.funnel.id, self.column);
        let mut opportunity = Opportunity {
            title: self.title.clone(),
            value: self.value,
            sequence: self.sequence,
            expected_close_date: self.expected_close_date.map(|date| date.within(context.zone())),
            fields,
            ..Opportunity::new(id, funnel_column, self.lead, user, context.now)
        };
        opportunity.begin_as(self.status);
        opportunity
    }
}

/// Changes of an opportunity. Absent fields stay unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpportunityPatch {
    /// The new lead.
    pub lead: Option<LeadId>,
    /// Its title.
    pub title: Option<String>,
    /// The new column.
    pub column: Option<ColumnId>,
    /// Its value.
    pub value: Option<Cents>,
    /// Its place in the column, as the client counts.
    pub sequence: Option<u64>,
    /// Open, won or lost.
    pub status: Option<Status>,
    /// When it is likely to be closed.
    pub expected_close_date: FieldChange<CloseDate>,
    /// The new responsible user.
    pub user: Option<UserId>,
    /// Why it was won.
    pub gain_reason: FieldChange<String>,
    /// Why it was lost.
    pub loss_reason: FieldChange<String>,
    /// Whether the opportunity is archived.
    pub archived: Option<bool>,
    /// Custom fields by name. Null removes a field.
    pub fields: Map<String, Value>,
}

impl OpportunityPatch {
    /// The changed record. It equals the stored one, including `updateDate`, if the patch changes nothing. Unchanged
    /// fields are not validated, so a client may send a whole record back.
    ///
    /// # Errors
    /// The first [`ValidationError`].
    pub fn apply(
        &self,
        stored: &Opportunity,
        context: &ValidationContext<'_>,
    ) -> Result<Opportunity, ValidationError> {
        let mut changed = stored.clone();
        self.apply_references(&mut changed, context)?;
        self.apply_values(&mut changed, context);
        self.apply_fields(&mut changed, context)?;
        if changed != *stored {
            changed.update_date = context.now;
            require_size(&changed)?;
        }
        Ok(changed)
    }

    fn apply_references(
        &self,
        changed: &mut Opportunity,
        context: &ValidationContext<'_>,
    ) -> Result<(), ValidationError> {
        if let Some(column) = self.column.filter(|column| *column != changed.crm_column) {
            context.require_column(column)?;
            changed.move_to(column, context.now);
        }
        if let Some(lead) = self.lead.filter(|lead| Some(*lead) != changed.lead_id) {
            context.require_lead(lead)?;
            changed.lead_id = Some(lead);
        }
        if let Some(user) = self.user.filter(|user| *user != changed.user) {
            context.require_user(user)?;
            changed.user = user;
        }
        Ok(())
    }

    fn apply_values(&self, changed: &mut Opportunity, context: &ValidationContext<'_>) {
        if let Some(title) = &self.title {
            changed.title.clone_from(title);
        }
        if let Some(status) = self.status {
            changed.change_status(status, context.now);
        }
        changed.value = self.value.unwrap_or(changed.value);
        changed.sequence = self.sequence.unwrap_or(changed.sequence);
        changed.archived = self.archived.unwrap_or(changed.archived);
        let zone = context.zone();
        self.expected_close_date
            .apply(&mut changed.expected_close_date, |date| date.within(zone));
        self.gain_reason.apply(&mut changed.gain_reason, String::clone);
        self.loss_reason.apply(&mut changed.loss_reason, String::clone);
    }

    fn apply_fields(
        &self,
        changed: &mut Opportunity,
        context: &ValidationContext<'_>,
    ) -> Result<(), ValidationError> {
        for (name, new) in &self.fields {
            let current = changed.fields.get(name);
            let is_unchanged = current == Some(new);
            let is_removal = new.is_null() && current.is_some();
            // A record keeps fields that its funnel no longer defines. Clients can remove them or send them back unchanged.
            if !is_unchanged && !is_removal {
                context.require_field(name)?;
            }
            if new.is_null() {
                changed.fields.shift_remove(name);
            } else {
                changed.fields.insert(name.clone(), new.clone());
            }
        }
        Ok(())
    }
}
