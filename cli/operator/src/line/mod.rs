//! A line of an import by itself: JSON, its kind, types and limits. References are checked later, against the table.

mod lenient;
pub mod limits;
mod reason;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use shared::input::is_blank;
use shared::json;
use shared::time::Timestamp;

/// The fields of a line, without `kind`.
pub type Fields = Map<String, Value>;

/// The kind's name and the fields of a line. An error is the reason for the import's report.
pub fn open(text: &str) -> Result<(String, Fields), String> {
    let value = json::parse(text.trim_end().as_bytes()).map_err(|error| not_json(&error))?;
    if let Some(path) = json::find_inexact("", &value) {
        return Err(format!("{path}: {}", json::MUST_BE_TEXT));
    }
    let Value::Object(mut fields) = value else {
        return Err("must be a JSON object".to_owned());
    };
    let kind = match fields.shift_remove("kind") {
        Some(Value::String(kind)) => kind,
        Some(_) => return Err("kind: must be text".to_owned()),
        None => return Err("kind: is missing".to_owned()),
    };
    limits::check(&fields, text.len())?;
    Ok((kind, fields))
}

fn not_json(error: &serde_json::Error) -> String {
    format!(
        "not JSON: {}",
        error.to_string().replace(" at line 1 column ", " at column ")
    )
}

/// The ends of reasons for a value that must be a number, an id or a boolean.
const MUST_BE_NO_TEXT: [&str; 5] = [
    "must be a number",
    "must be a whole number that is not negative",
    "must be a whole number",
    "must be true or false",
    "must be 0 or 1",
];

/// Reads a typed record. A null counts as an absent value, because imports accept nulls (C-24). So does blank text in place
/// of a number, an id or a boolean (C-6).
pub fn read<T: DeserializeOwned>(mut fields: Fields) -> Result<T, String> {
    fields.retain(|_, value| !value.is_null());
    if !fields.values().any(is_blank) {
        return reason::strict(Value::Object(fields));
    }
    loop {
        let reason = match reason::strict(Value::Object(fields.clone())) {
            Ok(record) => return Ok(record),
            Err(reason) => reason,
        };
        let (at_fault, rule) = reason.split_once(": ").unwrap_or_default();
        if !MUST_BE_NO_TEXT.contains(&rule) || !fields.get(at_fault).is_some_and(is_blank) {
            return Err(reason);
        }
        fields.shift_remove(at_fault);
    }
}

/// Takes a time that may be absent, and leaves a placeholder, which is never stored.
pub fn take_time(fields: &mut Fields, name: &str) -> Result<Option<Timestamp>, String> {
    let placeholder = Value::from("1970-01-01T00:00:00.000Z");
    match fields.insert(name.to_owned(), placeholder) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value)
            .map(Some)
            .map_err(|_| format!("{name}: must be a date-time such as 2026-11-21T12:00:00.000Z")),
    }
}

/// Requires that all fields are known.
pub fn only(fields: &Fields, known: &[&str]) -> Result<(), String> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{name}: unknown field")),
        None => Ok(()),
    }
}
