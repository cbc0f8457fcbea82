//! Reading the body of a request into a [`LeadPatch`].

use serde_json::{Map, Value};

use super::{LeadEditError, LeadPatch};
use crate::ids::MAX_ID;
use crate::input::{self, is_blank, person_text};
use crate::integer::whole_or_text;
use crate::json::{MUST_BE_TEXT, inexact};
use crate::lead::{WHATSAPP, unite_whatsapp};
use crate::number::storable;
use crate::opportunity_edit::FieldChange;
use crate::text::fits;

/// The text fields that requests change.
pub const TEXTS: [&str; 16] = [
    "firstname",
    "lastname",
    "email",
    "phone",
    "chatapp",
    "mobile",
    "photoUrl",
    "address",
    "city",
    "state",
    "country",
    "zipcode",
    "timezone",
    "acquisition_channel",
    "link_instancia",
    "preferred_locale",
];
/// Fields that only the service writes, and names in views and exports that are not fields of a lead. They are ignored,
/// so that clients can send back a lead that they read.
pub(super) const IGNORED: [&str; 23] = [
    "_id",
    "id",
    "fullname",
    "createDate",
    "lastActive",
    "createdBy",
    "createdByName",
    "createdByType",
    "updatedBy",
    "updatedByName",
    "updatedDate",
    "instancedomain",
    "ips",
    "initial_password",
    "role",
    "department",
    "instance_active",
    "lead_online",
    "partner_instance",
    "channelRestrictions",
    "utmTags",
    "companyData",
    "kind",
];

/// Text fields with at most `MAX_NAME` characters. Other text fields have at most `MAX_FIELD` characters.
const NAMES: [&str; 3] = ["firstname", "lastname", "email"];
const MAX_NAME: usize = 255;
const MAX_FIELD: usize = 1000;
/// Maximum characters of text in a custom field.
const MAX_CUSTOM: usize = 10_000;
/// Maximum ids in a list.
pub const MAX_IDS: usize = 200;

/// Checks the length of the text of a fixed field.
///
/// # Errors
/// The violated rule.
pub fn lead_text(name: &str, text: &str) -> Result<(), &'static str> {
    if NAMES.contains(&name) && !fits(text, MAX_NAME) {
        return Err("must have at most 255 characters");
    }
    if !fits(text, MAX_FIELD) {
        return Err("must have at most 1000 characters");
    }
    Ok(())
}

/// Checks the value of a custom field.
///
/// # Errors
/// The violated rule.
pub fn custom_value(value: &Value) -> Result<(), &'static str> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) if fits(text, MAX_CUSTOM) => Ok(()),
        Value::Object(_) if inexact(value).is_some() => Err(MUST_BE_TEXT),
        _ => Err("must be text of at most 10000 characters, a number, a boolean or null"),
    }
}

impl LeadPatch {
    /// Reads the fields of a body.
    ///
    /// # Errors
    /// The first [`LeadEditError`].
    pub fn read(mut fields: Map<String, Value>) -> Result<Self, LeadEditError> {
        // Each fixed field is removed as it is read. The remaining fields are custom ones.
        unite_whatsapp(&mut fields).map_err(|rule| LeadEditError::field(WHATSAPP, rule))?;
        fields.retain(|name, _| !IGNORED.contains(&name.as_str()));
        let fields = &mut fields;
        let mut texts = Vec::new();
        for name in TEXTS {
            texts.extend(take(fields, name, text)?.map(|text| (name, text)));
        }
        Ok(Self {
            texts,
            owner: change(fields, "owner", id)?,
            company: change(fields, "company", id)?,
            stage: change(fields, "stage", stage)?,
            points: take_filled(fields, "points", points)?,
            user_access: take_filled(fields, "userAccess", ids)?,
            department_access: take_filled(fields, "departmentAccess", ids)?,
            ignore_sub_departments: take_filled(fields, "ignoreSubDepartments", flag)?,
            archived: take_filled(fields, "archived", flag)?,
            tags: take_filled(fields, "tags", ids)?,
            custom: std::mem::take(fields),
        })
    }
}

/// Reads the first of `names` that a new lead without first and last name has as these two, divided at the first space
/// (C-92).
pub fn split_name(fields: &mut Map<String, Value>, names: &[&str]) {
    let is_absent = |name: &str| fields.get(name).is_none_or(is_blank);
    if !is_absent("firstname") || !is_absent("lastname") {
        return;
    }
    let text = |name: &str| person_text(fields.get(name)?).ok().flatten();
    let Some((name, whole)) = names.iter().find_map(|name| Some((name, text(name)?))) else {
        return;
    };
    fields.shift_remove(*name);
    let (first, last) = whole.split_once(char::is_whitespace).unwrap_or((&whole, ""));
    fields.insert("firstname".to_owned(), first.into());
    fields.insert("lastname".to_owned(), last.trim_start().into());
}

type FieldResult<T> = Result<T, &'static str>;

/// Like [`take`], for a field other than text: blank text counts as absent (C-6).
fn take_filled<T>(
    fields: &mut Map<String, Value>,
    name: &'static str,
    read: impl FnOnce(&Value) -> FieldResult<T>,
) -> Result<Option<T>, LeadEditError> {
    if fields
        .get(name)
        .is_some_and(|value| value.is_string() && is_blank(value))
    {
        fields.shift_remove(name);
    }
    take(fields, name, read)
}

/// Removes a field and parses it with `read`. Returns `None` if the field is absent.
fn take<T>(
    fields: &mut Map<String, Value>,
    name: &'static str,
    read: impl FnOnce(&Value) -> FieldResult<T>,
) -> Result<Option<T>, LeadEditError> {
    let value = fields.shift_remove(name);
    let value = value.map(|value| read(&value)).transpose();
    value.map_err(|rule| LeadEditError::field(name, rule))
}

/// Removes a field and parses it with `read`. The value null clears the field; an absent field is kept.
fn change<T>(
    fields: &mut Map<String, Value>,
    name: &'static str,
    read: impl FnOnce(&Value) -> FieldResult<T>,
) -> Result<FieldChange<T>, LeadEditError> {
    let value = take_filled(fields, name, |value| match value {
        Value::Null => Ok(FieldChange::Clear),
        value => read(value).map(FieldChange::Set),
    });
    value.map(Option::unwrap_or_default)
}

/// Blank text stays text, because on an existing lead it is not null.
fn text(value: &Value) -> FieldResult<Option<String>> {
    let text = person_text(value)?;
    Ok(text.or_else(|| (!value.is_null()).then(String::new)))
}

fn id<I: TryFrom<u64>>(value: &Value) -> FieldResult<I> {
    let id = whole_or_text(value).and_then(|id| I::try_from(id).ok());
    id.ok_or("must be a whole number from 1 to 999999999999999")
}

fn stage(value: &Value) -> FieldResult<u64> {
    let stage = whole_or_text(value).filter(|stage| *stage <= MAX_ID);
    stage.ok_or("must be a whole number from 0 to 999999999999999")
}

fn points(value: &Value) -> FieldResult<serde_json::Number> {
    const RULE: &str = "must be a number";
    match value {
        Value::Null => Ok(0.into()),
        Value::Number(number) => storable(number),
        Value::String(text) => storable(&text.trim().parse().map_err(|_| RULE)?),
        _ => Err(RULE),
    }
}

fn flag(value: &Value) -> FieldResult<bool> {
    input::flag(value).ok_or("must be true or false")
}

/// Parses a list of ids and removes duplicates. Null is an empty list.
fn ids<I: TryFrom<u64> + PartialEq>(value: &Value) -> FieldResult<Vec<I>> {
    const RULE: &str = "must be a list of at most 200 ids";
    let listed = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(listed) if listed.len() <= MAX_IDS => listed,
        _ => return Err(RULE),
    };
    let mut ids = Vec::with_capacity(listed.len());
    for value in listed {
        let id = id(value).map_err(|_| RULE)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}
