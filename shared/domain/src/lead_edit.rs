//! Creates and changes leads on request (C-91, C-92). A body is read into a [`LeadPatch`], which is validated against
//! the stored lead, the user's permissions and the records that it names.

mod read;

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

use crate::ids::{CompanyId, DepartmentId, LeadId, TagId, UserId};
use crate::input::{drop_blanks, person_value};
use crate::lead::{Lead, preferred_locale};
use crate::opportunity_edit::FieldChange;
use crate::permissions::AccessLevel;
use crate::text::fits;
use crate::time::Timestamp;
use crate::viewer::Viewer;

pub use read::{MAX_IDS, TEXTS, custom_value, lead_text, split_name};

/// Maximum bytes of a record, in the form in which it is exported (C-30).
const MAX_RECORD: usize = 100_000;
/// Maximum characters of a custom field's name.
const MAX_NAME: usize = 64;
/// The fields that identify a lead. Empty text in one of them means that the sender does not know it, so it changes
/// nothing.
pub const IDENTIFYING: [&str; 4] = ["phone", "mobile", "chatapp", "email"];
/// A new lead must have text in at least one of these fields.
const NAMING: [&str; 6] = ["firstname", "lastname", "email", "phone", "mobile", "chatapp"];
/// The rule that a new lead without such text violates.
const UNNAMED: &str = "must have a firstname, lastname, email, phone, mobile or chatapp that is not blank";

/// Changes of a lead. Absent fields stay unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeadPatch {
    /// Text fields by name; `None` clears.
    texts: Vec<(&'static str, Option<String>)>,
    owner: FieldChange<UserId>,
    company: FieldChange<CompanyId>,
    stage: FieldChange<u64>,
    points: Option<Number>,
    user_access: Option<Vec<UserId>>,
    department_access: Option<Vec<DepartmentId>>,
    ignore_sub_departments: Option<bool>,
    archived: Option<bool>,
    tags: Option<Vec<TagId>>,
    /// Custom fields by name. Null removes a field.
    custom: Map<String, Value>,
}

/// Records that a patch names, or the existing ones among them. Departments are missing here because the directory
/// contains them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeadReferences {
    /// Users.
    pub users: BTreeSet<UserId>,
    /// Tags.
    pub tags: BTreeSet<TagId>,
    /// The company.
    pub company: Option<CompanyId>,
}

/// The context that a patch is validated against.
#[derive(Debug)]
pub struct LeadEditContext<'a> {
    /// The user.
    pub viewer: &'a Viewer,
    /// The user's name.
    pub user_name: Option<&'a str>,
    /// The named records that exist.
    pub existing: &'a LeadReferences,
    /// The time of the request.
    pub now: Timestamp,
}

/// Error of creating or changing a lead. The text names the invalid field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeadEditError {
    /// An invalid field.
    #[error("{0}: {1}")]
    Field(String, &'static str),
    /// A record that does not exist: the field, the kind and the id.
    #[error("{0}: {1} {2} does not exist")]
    Unknown(&'static str, &'static str, u64),
    /// The record would be too large.
    #[error("body: the record must not be larger than 100 KB")]
    TooLarge,
    /// The user may not archive leads (C-82).
    #[error("archived: the user may not archive leads")]
    Archive,
}

impl LeadEditError {
    fn field(name: &str, rule: &'static str) -> Self {
        Self::Field(name.to_owned(), rule)
    }
}

impl LeadPatch {
    /// The texts with numbers that it sets.
    pub fn number_texts(&self) -> impl Iterator<Item = &str> {
        ["phone", "mobile", "chatapp"]
            .into_iter()
            .filter_map(|name| self.text(name))
    }

    /// The e-mail address that it sets.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.text("email")
    }

    fn text(&self, name: &str) -> Option<&str> {
        let (_, text) = self.texts.iter().find(|(field, _)| *field == name)?;
        text.as_deref()
    }

    /// The records that it names.
    #[must_use]
    pub fn references(&self) -> LeadReferences {
        let owner = self.owner.value().copied();
        let users = self.user_access.iter().flatten().copied();
        LeadReferences {
            users: owner.into_iter().chain(users).collect(),
            tags: self.tags.iter().flatten().copied().collect(),
            company: self.company.value().copied(),
        }
    }

    /// The changed lead. It equals the stored lead if the patch changes nothing. Unchanged fields are not validated.
    ///
    /// # Errors
    /// The first [`LeadEditError`].
    pub fn apply(&self, stored: &Lead, context: &LeadEditContext<'_>) -> Result<Lead, LeadEditError> {
        let mut changed = self.changed(stored, context)?;
        if changed != *stored {
            changed.updated_by = Some(context.viewer.user().get());
            changed.updated_by_name = context.user_name.map(str::to_owned);
            changed.updated_date = Some(context.now);
            require_size(&changed)?;
        }
        Ok(changed)
    }

    /// The new lead, with the longest id, because its own id is not known yet. So its size is not underestimated. Blank
    /// texts are absent. Without an owner the lead belongs to a user who sees only the leads of own owners (C-92).
    ///
    /// # Errors
    /// The first [`LeadEditError`].
    pub fn make(&self, context: &LeadEditContext<'_>) -> Result<Lead, LeadEditError> {
        let mut patch = self.clone();
        patch
            .texts
            .retain(|(_, text)| text.as_ref().is_some_and(|text| !text.is_empty()));
        drop_blanks(&mut patch.custom);
        let mut lead = patch.changed(&Lead::new(LeadId::MAX, context.now), context)?;
        if !NAMING.iter().any(|name| patch.text(name).is_some()) {
            return Err(LeadEditError::field("body", UNNAMED));
        }
        let level = context.viewer.permissions().leads;
        let is_limited = matches!(level, AccessLevel::Own | AccessLevel::Department);
        if lead.owner.is_none() && is_limited {
            lead.owner = Some(context.viewer.user());
        }
        lead.created_by = Some(context.viewer.user().get());
        lead.created_by_name = context.user_name.map(str::to_owned);
        lead.created_by_type = Some("user".to_owned());
        require_size(&lead)?;
        Ok(lead)
    }

    /// The lead with the fields of the patch, without the fields that record its author.
    fn changed(&self, stored: &Lead, context: &LeadEditContext<'_>) -> Result<Lead, LeadEditError> {
        let mut changed = stored.clone();
        self.apply_texts(&mut changed)?;
        self.apply_references(&mut changed, context)?;
        self.apply_values(&mut changed, context)?;
        self.apply_custom(&mut changed)?;
        Ok(changed)
    }

    fn apply_texts(&self, changed: &mut Lead) -> Result<(), LeadEditError> {
        for (name, text) in &self.texts {
            if IDENTIFYING.contains(name) && text.as_deref() == Some("") {
                continue;
            }
            if *name == "preferred_locale" {
                // Not nullable: clearing it restores the default.
                let locale = text.clone().filter(|text| !text.is_empty());
                let locale = locale.unwrap_or_else(preferred_locale);
                if locale != changed.preferred_locale {
                    validate_text(name, &locale)?;
                    changed.preferred_locale = locale;
                }
                continue;
            }
            if let Some(field) = changed.text_mut(name)
                && *field != *text
            {
                if let Some(new_text) = text {
                    validate_text(name, new_text)?;
                }
                field.clone_from(text);
            }
        }
        Ok(())
    }

    /// Replaces references to other records. A new reference must exist; an unchanged one may no longer exist.
    fn apply_references(
        &self,
        changed: &mut Lead,
        context: &LeadEditContext<'_>,
    ) -> Result<(), LeadEditError> {
        let LeadReferences { users, tags, company } = context.existing;
        let departments = &context.viewer.directory().departments;
        let user_exists = |id: &UserId| users.contains(id);
        if let Some(new) = self.owner.value()
            && changed.owner != Some(*new)
        {
            require("owner", "user", [new], user_exists)?;
        }
        self.owner.apply(&mut changed.owner, |owner| *owner);
        if let Some(new) = self.company.value()
            && changed.company != Some(*new)
        {
            require("company", "company", [new], |id| *company == Some(*id))?;
        }
        self.company.apply(&mut changed.company, |company| *company);
        if let Some(new) = &self.user_access
            && *new != changed.user_access
        {
            require("userAccess", "user", new, user_exists)?;
            changed.user_access.clone_from(new);
        }
        if let Some(new) = &self.department_access
            && *new != changed.department_access
        {
            let department_exists = |id: &DepartmentId| departments.contains_key(id);
            require("departmentAccess", "department", new, department_exists)?;
            changed.department_access.clone_from(new);
        }
        if let Some(new) = &self.tags
            && *new != changed.tags
        {
            require("tags", "tag", new, |id| tags.contains(id))?;
            changed.tags.clone_from(new);
        }
        Ok(())
    }

    fn apply_values(&self, changed: &mut Lead, context: &LeadEditContext<'_>) -> Result<(), LeadEditError> {
        self.stage.apply(&mut changed.stage, |stage| *stage);
        if let Some(points) = &self.points {
            changed.points = points.clone();
        }
        if let Some(ignore) = self.ignore_sub_departments {
            changed.ignore_sub_departments = ignore;
        }
        if let Some(archived) = self.archived
            && archived != changed.archived
        {
            if !context.viewer.permissions().archive_leads {
                return Err(LeadEditError::Archive);
            }
            changed.archived = archived;
        }
        Ok(())
    }

    fn apply_custom(&self, changed: &mut Lead) -> Result<(), LeadEditError> {
        for (name, value) in &self.custom {
            if changed.custom.get(name) == Some(value) {
                continue;
            }
            let rule = |rule| LeadEditError::field(name, rule);
            let value = match person_value(value.clone()).map_err(rule)? {
                // Blank text of an existing lead is not null.
                Value::Null if value.is_string() => Value::from(""),
                value => value,
            };
            if value.is_null() {
                changed.custom.shift_remove(name);
                continue;
            }
            if name.is_empty() || !fits(name, MAX_NAME) {
                return Err(rule("must have a name of 1 to 64 characters"));
            }
            custom_value(&value).map_err(rule)?;
            changed.custom.insert(name.clone(), value);
        }
        Ok(())
    }
}

impl Lead {
    /// A text field by its name; `None` for other names.
    fn text_mut(&mut self, name: &str) -> Option<&mut Option<String>> {
        Some(match name {
            "firstname" => &mut self.firstname,
            "lastname" => &mut self.lastname,
            "email" => &mut self.email,
            "phone" => &mut self.phone,
            "chatapp" => &mut self.chatapp,
            "mobile" => &mut self.mobile,
            "photoUrl" => &mut self.photo_url,
            "address" => &mut self.address,
            "city" => &mut self.city,
            "state" => &mut self.state,
            "country" => &mut self.country,
            "zipcode" => &mut self.zipcode,
            "timezone" => &mut self.timezone,
            "acquisition_channel" => &mut self.acquisition_channel,
            "link_instancia" => &mut self.link_instancia,
            _ => return None,
        })
    }
}

fn validate_text(name: &str, text: &str) -> Result<(), LeadEditError> {
    lead_text(name, text).map_err(|rule| LeadEditError::field(name, rule))
}

/// Requires that all records that `field` names exist. `kind` is the word for such a record in the error.
fn require<'i, I: Copy + Into<u64> + 'i>(
    field: &'static str,
    kind: &'static str,
    ids: impl IntoIterator<Item = &'i I>,
    exists: impl Fn(&I) -> bool,
) -> Result<(), LeadEditError> {
    match ids.into_iter().find(|id| !exists(id)) {
        Some(id) => Err(LeadEditError::Unknown(field, kind, (*id).into())),
        None => Ok(()),
    }
}

fn require_size(lead: &Lead) -> Result<(), LeadEditError> {
    if is_storable(lead) {
        Ok(())
    } else {
        Err(LeadEditError::TooLarge)
    }
}

/// Whether a lead has at most 100 KB of JSON.
#[must_use]
pub fn is_storable(lead: &Lead) -> bool {
    let length = |value: Value| value.to_string().len();
    // The serialized lead does not contain these two.
    let unserialized = serde_json::json!([lead.utm_tags, lead.custom]);
    let size = length(serde_json::json!(lead)) + length(unserialized);
    size <= MAX_RECORD
}

#[cfg(test)]
mod tests;
