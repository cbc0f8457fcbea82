//! The form of a person who is not a lead yet (C-54).

use serde_json::{Map, Value};
use shared::http::InvalidField;
use shared::input::{drop_blanks, object, person_text, person_value};
use shared::lead::{WHATSAPP, unite_whatsapp};
use shared::meeting::{Meeting, NewContact};
use shared::text::{cut, fits};

/// Maximum keys of a form, and maximum characters of a text in it.
const MAX_KEYS: usize = 50;
const MAX_TEXT: usize = 1000;
/// Fields of the person with the maximum characters of each, and the maximum bytes of the other fields.
const NAMES: [&str; 3] = ["firstname", "lastname", "email"];
const MAX_LEAD_NAME: usize = 255;
const MAX_LEAD_FIELD: usize = 1000;

/// Returns the person and the remaining fields, without blank ones.
pub fn read(form: Option<Value>) -> Result<(NewContact, Map<String, Value>), InvalidField> {
    let Some(mut form) = form.and_then(|form| object(form).ok()) else {
        let rule = "must be an object with a firstname or an email where leadId is null";
        return Err(InvalidField::new("formData", rule));
    };
    if form.len() > MAX_KEYS {
        return Err(InvalidField::new("formData", "must have at most 50 keys"));
    }
    unite_whatsapp(&mut form).map_err(|rule| InvalidField::new(format!("formData.{WHATSAPP}"), rule))?;
    let (mut fields, mut rest) = (Map::new(), Map::new());
    for (name, value) in form {
        let read = if NewContact::FIELDS.contains(&name.as_str()) {
            lead_value(&name, &value).map(|value| fields.insert(name.clone(), value))
        } else {
            form_value(&name, value).map(|value| rest.insert(name.clone(), value))
        };
        // The name may be the caller's, so it is cut in errors.
        let cut = |rule| InvalidField::new(format!("formData.{}", cut(&name, Meeting::MAX_NAME)), rule);
        read.map_err(cut)?;
    }
    drop_blanks(&mut rest);
    let contact: NewContact = serde_json::from_value(Value::Object(fields))
        .map_err(|_| InvalidField::new("formData", "must have text in the fields of the lead"))?;
    if !contact.is_named() {
        let rule = "must have a firstname or an email that is not blank";
        return Err(InvalidField::new("formData", rule));
    }
    Ok((contact, rest))
}

/// The value of a field of the person.
fn lead_value(name: &str, value: &Value) -> Result<Value, &'static str> {
    let text = person_text(value)?;
    let is_name = NAMES.contains(&name);
    match &text {
        Some(text) if is_name && !fits(text, MAX_LEAD_NAME) => Err("must have at most 255 characters"),
        Some(text) if !is_name && text.len() > MAX_LEAD_FIELD => Err("must have at most 1000 bytes"),
        _ => Ok(text.into()),
    }
}

/// The value of another field.
fn form_value(name: &str, value: Value) -> Result<Value, &'static str> {
    if !fits(name, Meeting::MAX_NAME) {
        return Err("must have a name of at most 64 characters");
    }
    match person_value(value)? {
        Value::String(text) if !fits(&text, MAX_TEXT) => Err("must have at most 1000 characters"),
        value => Ok(value),
    }
}
