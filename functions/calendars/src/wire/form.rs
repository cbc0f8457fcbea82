//! The form of a person who is not a lead yet (C-54).

use serde_json::{Map, Value};
use shared::http::InvalidField;
use shared::json::{MUST_BE_TEXT, inexact};
use shared::lead::{WHATSAPP, unite_whatsapp};
use shared::meeting::{Meeting, NewContact};
use shared::text::fits;

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
        let rule = "must be an object with a firstname or an email where leadId is null";
        return Err(InvalidField::new("formData", rule));
    };
    if form.len() > MAX_KEYS {
        return Err(InvalidField::new("formData", "must have at most 50 keys"));
    }
    unite_whatsapp(&mut form).map_err(|rule| InvalidField::new(format!("formData.{WHATSAPP}"), rule))?;
    for (name, value) in &form {
        validate(name, value)?;
    }
    let is_field = |name: &String| NewContact::FIELDS.contains(&name.as_str());
    let (fields, rest): (Map<_, _>, Map<_, _>) = form.into_iter().partition(|(name, _)| is_field(name));
    let contact: NewContact = serde_json::from_value(Value::Object(fields))
        .map_err(|_| InvalidField::new("formData", "must have text in the fields of the lead"))?;
    if !contact.is_named() {
        let rule = "must have a firstname or an email that is not blank";
        return Err(InvalidField::new("formData", rule));
    }
    Ok((contact, rest))
}

/// Checks the name and the value of one field. The name may be the caller's, so it is cut in errors.
fn validate(name: &str, value: &Value) -> Result<(), InvalidField> {
    let invalid = |rule| {
        let name = shared::text::cut(name, Meeting::MAX_NAME);
        Err(InvalidField::new(format!("formData.{name}"), rule))
    };
    let is_field = NewContact::FIELDS.contains(&name);
    match value {
        _ if !fits(name, Meeting::MAX_NAME) => invalid("must have a name of at most 64 characters"),
        Value::String(text) if NAMES.contains(&name) && fits(text, MAX_LEAD_NAME) => Ok(()),
        Value::String(_) if NAMES.contains(&name) => invalid("must have at most 255 characters"),
        Value::String(text) if is_field && text.len() > MAX_LEAD_FIELD => {
            invalid("must have at most 1000 bytes")
        }
        Value::String(text) if !fits(text, MAX_TEXT) => invalid("must have at most 1000 characters"),
        Value::String(_) | Value::Null => Ok(()),
        _ if is_field => invalid("must be text or null"),
        Value::Number(_) | Value::Bool(_) => Ok(()),
        Value::Object(_) if inexact(value).is_some() => invalid(MUST_BE_TEXT),
        Value::Array(_) | Value::Object(_) => invalid("must be text, a number, true, false or null"),
    }
}
