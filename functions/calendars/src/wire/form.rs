//! The form that somebody fills who is no lead yet (C-54).

use serde_json::{Map, Value};
use shared::json::{MUST_BE_TEXT, inexact};
use shared::meeting::Visitor;

use crate::error::BookingError;

/// The most keys of a form, and the most characters of a name or a text in it.
const MOST_KEYS: usize = 50;
const MOST_TEXT: usize = 1000;

/// The person, and what else the form holds. Only text can be a field of the person; null says nothing.
pub fn read(form: Option<Value>) -> Result<(Visitor, Map<String, Value>), BookingError> {
    let Some(Value::Object(form)) = form else {
        let must = "must be an object with a firstname or an email where leadId is null";
        return Err(BookingError::field("formData", must));
    };
    if form.len() > MOST_KEYS {
        return Err(BookingError::field("formData", "must have at most 50 keys"));
    }
    for (name, value) in &form {
        judge(name, value)?;
    }
    let is_field = |name: &String| Visitor::FIELDS.contains(&name.as_str());
    let (fields, rest): (Map<_, _>, Map<_, _>) = form.into_iter().partition(|(name, _)| is_field(name));
    let visitor: Visitor = serde_json::from_value(Value::Object(fields))
        .map_err(|_| BookingError::field("formData", "must have text in the fields of the lead"))?;
    if !visitor.is_named() {
        let must = "must have a firstname or an email that is not blank";
        return Err(BookingError::field("formData", must));
    }
    Ok((visitor, rest))
}

fn judge(name: &str, value: &Value) -> Result<(), BookingError> {
    let bad = |must| {
        Err(BookingError::field(
            format!("formData.{}", shared::text::cut(name, 64)),
            must,
        ))
    };
    let fits = |text: &str| text.chars().nth(MOST_TEXT).is_none();
    match value {
        _ if !fits(name) => bad("must have a name of at most 1000 characters"),
        Value::String(text) if !fits(text) => bad("must have at most 1000 characters"),
        Value::String(_) | Value::Null => Ok(()),
        _ if Visitor::FIELDS.contains(&name) => bad("must be text or null"),
        Value::Number(_) | Value::Bool(_) => Ok(()),
        Value::Object(_) if inexact(value).is_some() => bad(MUST_BE_TEXT),
        Value::Array(_) | Value::Object(_) => bad("must be text, a number, true, false or null"),
    }
}
