//! The form of a person who is not a lead yet (C-54).

use serde_json::{Map, Value};
use shared::http::InvalidField;
use shared::json::{MUST_BE_TEXT, inexact};
use shared::lead::{WHATSAPP, unite_whatsapp};
use shared::meeting::{Meeting, NewContact};

/// Maximum keys of a form, and maximum characters of a text in it.
const MAX_KEYS: usize = 50;
const MAX_TEXT: usize = 1000;
/// Fields of the person with the maximum characters of each, and the maximum bytes of the other fields.
const NAMES: [&str; 3] = ["firstname", "lastname", "email"];
const MAX_LEAD_NAME: usize = 255;
const MAX_LEAD_FIELD: usize = 1000;

/// Returns the person and the remaining fields. A field of the person must be text. Null counts as absent.
pub fn read(form: Option<Value>) -> Result<(NewContact, Map<String, Value>), InvalidField> {
    let Some(Value::Object(mut form)) = form else {
        let must = "must be an object with a firstname or an email where leadId is null";
        return Err(InvalidField::new("formData", must));
    };
    if form.len() > MAX_KEYS {
        return Err(InvalidField::new("formData", "must have at most 50 keys"));
    }
    unite_whatsapp(&mut form).map_err(|rule| InvalidField::new(format!("formData.{WHATSAPP}"), rule))?;
    for (name, value) in &form {
        judge(name, value)?;
    }
    let is_field = |name: &String| NewContact::FIELDS.contains(&name.as_str());
    let (fields, rest): (Map<_, _>, Map<_, _>) = form.into_iter().partition(|(name, _)| is_field(name));
    let visitor: NewContact = serde_json::from_value(Value::Object(fields))
        .map_err(|_| InvalidField::new("formData", "must have text in the fields of the lead"))?;
    if !visitor.is_named() {
        let must = "must have a firstname or an email that is not blank";
        return Err(InvalidField::new("formData", must));
    }
    Ok((visitor, rest))
}

fn judge(name: &str, value: &Value) -> Result<(), InvalidField> {
    let bad = |must| {
        Err(InvalidField::new(
            format!("formData.{}", shared::text::cut(name, 64)),
            must,
        ))
    };
    let fits = |text: &str, most: usize| text.chars().nth(most).is_none();
    let is_field = NewContact::FIELDS.contains(&name);
    match value {
        _ if !fits(name, Meeting::MAX_NAME) => bad("must have a name of at most 64 characters"),
        Value::String(text) if NAMES.contains(&name) && fits(text, MAX_LEAD_NAME) => Ok(()),
        Value::String(_) if NAMES.contains(&name) => bad("must have at most 255 characters"),
        Value::String(text) if is_field && text.len() > MAX_LEAD_FIELD => bad("must have at most 1000 bytes"),
        Value::String(text) if !fits(text, MAX_TEXT) => bad("must have at most 1000 characters"),
        Value::String(_) | Value::Null => Ok(()),
        _ if is_field => bad("must be text or null"),
        Value::Number(_) | Value::Bool(_) => Ok(()),
        Value::Object(_) if inexact(value).is_some() => bad(MUST_BE_TEXT),
        Value::Array(_) | Value::Object(_) => bad("must be text, a number, true, false or null"),
    }
}
