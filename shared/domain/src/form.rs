//! Forms of web pages. A submission creates a lead from its fields (C-101).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

use crate::automation::template::placeholders_of;
use crate::calendar::LinkName;
use crate::event::{FormEvent, FormEventName};
use crate::ids::{ColumnId, EventId, FormId, FunnelId, LeadId, TagId, UserId};
use crate::lead::{DERIVED_FIELDS, Lead, WHATSAPP, identifying_email};
use crate::lead_edit::{MAX_IDS, is_storable};
use crate::meeting::NewContact;
use crate::money::Cents;
use crate::phone::identifying;
use crate::text::{fits, hex, without_index};
use crate::time::Timestamp;

/// The fixed fields with numbers.
const NUMBERS: [&str; 3] = ["phone", "mobile", "chatapp"];
/// Maximum number of fields, and maximum number of tags.
const MAX_LISTED: usize = 50;
/// Maximum length of a field's name in characters.
const MAX_NAME: usize = 64;
/// Maximum number of submissions whose `utm_*` a lead keeps.
const MAX_UTM_TAGS: usize = 50;
/// Number of a hash's digits in the key of a form's look-up.
const PREFIX_DIGITS: usize = 16;
/// Fixed fields of a lead that a submission may set in addition to those of [`NewContact`].
const MORE_FIELDS: [&str; 1] = ["acquisition_channel"];

/// A form. Only imports change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    /// The id.
    pub id: FormId,
    /// The name in its address.
    pub name: LinkName,
    /// The hash of its token.
    pub token_hash: TokenHash,
    /// Whether it accepts submissions [default: true].
    #[serde(default = "crate::json::default_true")]
    pub active: bool,
    /// The accepted fields. An empty list accepts the fields of [`NewContact`] under their own names, and `whatsapp`.
    #[serde(default)]
    pub fields: Vec<FormField>,
    /// Fields by which an existing lead is found.
    #[serde(default)]
    pub unique: BTreeSet<UniqueField>,
    /// The owner of new leads, and of existing ones without owner.
    #[serde(default)]
    pub owner: Option<UserId>,
    /// Tags that the lead gets.
    #[serde(default)]
    pub tags: Vec<TagId>,
    /// The opportunity that a submission creates.
    #[serde(default)]
    pub opportunity: Option<FormOpportunity>,
}

/// An accepted field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    /// The name in a submission.
    pub name: String,
    /// The field of the lead, or the alias of a custom field [default: the name].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Whether a submission must contain it [default: false].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// A field of a lead that no two leads of a form share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UniqueField {
    /// The numbers: `phone`, `mobile` and `chatapp` alike.
    Phone,
    /// The e-mail address.
    Email,
}

/// The opportunity that a submission creates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormOpportunity {
    /// The funnel of the column [default: the first with such a column].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub funnel: Option<FunnelId>,
    /// The column.
    pub column: ColumnId,
    /// The title.
    pub title: String,
    /// The value [default: 0].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Cents>,
}

/// The SHA-256 of a token in hexadecimal. The token is not stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenHash(String);

/// The text is not a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 64 hexadecimal digits in lower case")]
pub struct BadTokenHash;

impl TokenHash {
    /// The hash of a token. A token has 1 to 256 visible ASCII characters, which a query can contain unencoded. Returns
    /// `None` for any other text.
    #[must_use]
    pub fn of(token: &str) -> Option<Self> {
        let is_visible = token.bytes().all(|byte| byte.is_ascii_graphic());
        (is_visible && (1..=256).contains(&token.len())).then(|| Self(hex(&Sha256::digest(token))))
    }

    /// Compares in constant time.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }

    /// The digits by which a form is looked up. They are too few to prove that the tokens are equal.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.0.get(..PREFIX_DIGITS).unwrap_or_default()
    }

    /// All digits. They identify the token in keys of caches.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TokenHash {
    type Error = BadTokenHash;

    fn try_from(text: String) -> Result<Self, BadTokenHash> {
        let is_hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hexadecimal && text.len() == 64 {
            Ok(Self(text))
        } else {
            Err(BadTokenHash)
        }
    }
}

impl From<TokenHash> for String {
    fn from(hash: TokenHash) -> Self {
        hash.0
    }
}

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A field of the lead that a submission sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A fixed text field.
    Field(String),
    /// A custom field.
    Custom(String),
}

impl Target {
    /// The field of this name; `None` for a fixed field that submissions must not set.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == WHATSAPP { "chatapp" } else { name };
        if NewContact::FIELDS.contains(&name) || MORE_FIELDS.contains(&name) {
            return Some(Self::Field(name.to_owned()));
        }
        (!is_fixed(name)).then(|| Self::Custom(name.to_owned()))
    }
}

/// The field of a lead that a name means which differs in case or by a space, or is `name`.
fn misspelt(name: &str) -> Option<&'static str> {
    if name == "name" {
        return Some("firstname");
    }
    let mut known = NewContact::FIELDS.iter().chain(&MORE_FIELDS);
    known
        .find(|known| name.trim().eq_ignore_ascii_case(known))
        .copied()
}

/// Whether this is the name of a fixed field of a lead, not of a custom field.
fn is_fixed(name: &str) -> bool {
    // The serialized form of an arbitrary lead has all stored fields.
    let arguments = LeadId::new(1).zip(Timestamp::from_unix_millis(0));
    let example = arguments.and_then(|(id, now)| serde_json::to_value(Lead::new(id, now)).ok());
    let is_stored = example.is_some_and(|fields| fields.get(name).is_some());
    is_stored || DERIVED_FIELDS.contains(&name) || name == "utmTags"
}

impl FormField {
    /// An optional field under the lead's own name.
    fn optional(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            to: None,
            required: false,
        }
    }

    /// The field of the lead; `None` if submissions must not set it.
    #[must_use]
    pub fn target(&self) -> Option<Target> {
        Target::named(self.to.as_deref().unwrap_or(&self.name))
    }
}

impl Form {
    /// The accepted fields.
    #[must_use]
    pub fn accepted(&self) -> Vec<FormField> {
        if self.fields.is_empty() {
            let names = NewContact::FIELDS.iter().chain([&WHATSAPP]);
            return names.map(|name| FormField::optional(name)).collect();
        }
        self.fields.clone()
    }

    /// Checks the fields that are valid or invalid without other records.
    ///
    /// # Errors
    /// The first invalid field with the reason, as text for the operator.
    pub fn validate(&self) -> Result<(), String> {
        for (name, length) in [("fields", self.fields.len()), ("tags", self.tags.len())] {
            if length > MAX_LISTED {
                return Err(format!("{name}: must have at most {MAX_LISTED} elements"));
            }
        }
        self.validate_fields()?;
        let title = self.opportunity.as_ref().map(|opportunity| &opportunity.title);
        if title.is_some_and(|title| title.is_empty() || !fits(title, 255)) {
            return Err("opportunity.title: must have 1 to 255 characters".to_owned());
        }
        if title.is_some_and(|title| !placeholders_of(title).is_ok_and(|found| found.is_empty())) {
            return Err("opportunity.title: must not have placeholders; an automation fills them".to_owned());
        }
        Ok(())
    }

    /// Checks each field, and that no two have the same name or set the same field of the lead.
    fn validate_fields(&self) -> Result<(), String> {
        let (mut names, mut targets) = (BTreeSet::new(), Vec::new());
        for (at, field) in self.fields.iter().enumerate() {
            let invalid = |rule: &str| Err(format!("fields[{at}].{rule}"));
            let to = field.to.as_deref().unwrap_or(&field.name);
            let is_reserved = ["i", "access_token"].contains(&field.name.as_str());
            // The order of the rules decides which error is reported.
            match field.target() {
                _ if field.name.is_empty() || !fits(&field.name, MAX_NAME) => {
                    return invalid("name: must have 1 to 64 characters");
                }
                _ if is_reserved || field.name.starts_with("utm_") => {
                    return invalid("name: must not be i, access_token or begin with utm_");
                }
                _ if without_index(field.name.clone()) != field.name => {
                    return invalid("name: must not end with [], which the names of submissions lose");
                }
                _ if !names.insert(&field.name) => return invalid("name: is in the list already"),
                _ if to.is_empty() || !fits(to, MAX_NAME) => {
                    return invalid("to: must have 1 to 64 characters");
                }
                None => return invalid("to: is not a field that a form can set"),
                Some(target) => {
                    let meant = field.to.as_deref().and_then(misspelt);
                    if let (Target::Custom(_), Some(meant)) = (&target, meant) {
                        return invalid(&format!("to: must be written {meant}"));
                    }
                    if targets.contains(&target) {
                        return invalid("to: another field of the form has it");
                    }
                    targets.push(target);
                }
            }
        }
        Ok(())
    }
}

/// The values of a submission that reach the lead. Blank ones are left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Submitted {
    /// All values by the names of the form's fields.
    pub values: Map<String, Value>,
    /// The number of names that the form does not define.
    pub ignored: u32,
    /// Fixed text fields.
    pub fields: Map<String, Value>,
    /// Custom fields by alias.
    pub custom: Map<String, Value>,
    /// The parameters `utm_*`.
    pub utm: Map<String, Value>,
}

impl Submitted {
    /// Whether it contains a name, an e-mail address or a number (C-92).
    #[must_use]
    pub fn is_named(&self) -> bool {
        let identifying = ["firstname", "lastname", "email", "phone", "mobile", "chatapp"];
        identifying.iter().any(|name| self.fields.contains_key(*name))
    }

    /// The text of a fixed field.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// The texts with numbers.
    pub fn number_texts(&self) -> impl Iterator<Item = &str> {
        NUMBERS.into_iter().filter_map(|name| self.text(name))
    }

    /// All values in one order, if an e-mail address or a number tells who sent them. Equal submissions of one person
    /// have the same text (C-101).
    #[must_use]
    pub fn content_of_person(&self) -> Option<String> {
        let is_known = self.text("email").and_then(identifying_email).is_some()
            || self
                .number_texts()
                .flat_map(identifying)
                .any(|read| read.phone.is_unique());
        let values: BTreeMap<_, _> = self.values.iter().collect();
        is_known.then(|| serde_json::json!(values).to_string())
    }

    /// The event of this submission on the timeline of a lead.
    #[must_use]
    pub fn event(&self, form: &Form, id: EventId, lead: LeadId, now: Timestamp) -> FormEvent {
        let values = self.values.iter().chain(&self.utm);
        FormEvent {
            id,
            lead,
            name: FormEventName::Received,
            form: form.id,
            values: values
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            create_date: now,
        }
    }

    /// Without these fixed fields.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.fields.retain(|name, _| !names.contains(&name.as_str()));
        rest
    }

    /// The lead that it creates.
    #[must_use]
    pub fn lead(&self, form: &Form, id: LeadId, now: Timestamp) -> Lead {
        let mut lead = Lead::new(id, now);
        lead.created_by_type = Some("form".to_owned());
        if let Some(Value::String(locale)) = self.fields.get("preferred_locale") {
            lead.preferred_locale.clone_from(locale);
        }
        self.complete(form, &lead)
    }

    /// Fills the absent fields of a lead from the submission. Present values are kept. Custom fields that would make the
    /// lead too large are left out; if the others would, it is returned unchanged.
    #[must_use]
    pub fn complete(&self, form: &Form, lead: &Lead) -> Lead {
        let mut completed = self.with_fixed_fields(lead);
        completed.owner = completed.owner.or(form.owner);
        for tag in &form.tags {
            if !completed.tags.contains(tag) && completed.tags.len() < MAX_IDS {
                completed.tags.push(*tag);
            }
        }
        let utm = Value::Object(self.utm.clone());
        let is_new_utm = !self.utm.is_empty() && !completed.utm_tags.contains(&utm);
        if is_new_utm && completed.utm_tags.len() < MAX_UTM_TAGS {
            completed.utm_tags.push(utm);
        }
        let completed = Some(completed).filter(is_storable);
        let completed = completed.unwrap_or_else(|| lead.clone());
        let custom = self.custom.iter();
        let absent = custom.filter(|(name, _)| is_absent(lead.custom.get(*name)));
        let all = with_custom(&completed, absent.clone());
        if is_storable(&all) {
            return all;
        }
        absent.fold(completed, |lead, field| {
            let next = with_custom(&lead, std::iter::once(field));
            if is_storable(&next) { next } else { lead }
        })
    }

    /// The lead, with its absent fixed fields filled from the submission. Fields are addressed by name in the
    /// serialized form, which does not contain `utm_tags` and `custom`, so these two are taken from the lead.
    fn with_fixed_fields(&self, lead: &Lead) -> Lead {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(lead) else {
            return lead.clone();
        };
        for (name, value) in &self.fields {
            if is_absent(fields.get(name)) {
                fields.insert(name.clone(), value.clone());
            }
        }
        match serde_json::from_value::<Lead>(Value::Object(fields)) {
            Ok(completed) => Lead {
                utm_tags: lead.utm_tags.clone(),
                custom: lead.custom.clone(),
                ..completed
            },
            Err(_) => lead.clone(),
        }
    }
}

/// The lead with these custom fields.
fn with_custom<'f>(lead: &Lead, fields: impl Iterator<Item = (&'f String, &'f Value)>) -> Lead {
    let mut lead = lead.clone();
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    lead.custom.extend(fields);
    lead
}

/// Whether a field is missing, null or blank text.
fn is_absent(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests;
