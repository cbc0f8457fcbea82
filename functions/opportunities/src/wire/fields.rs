//! Parsers of single fields of an opportunity. Their errors state the rule.

use serde_json::{Map, Value};
use shared::http::{InvalidField, JsonObject};
use shared::input::{self, object};
use shared::integer::whole_or_text;
use shared::json::{MUST_BE_TEXT, inexact};
use shared::money::Cents;
use shared::opportunity::Status;
use shared::opportunity_edit::CloseDate;
use shared::text::{clean, fits};
use shared::time::{Day, Timestamp};

/// The rule of an invalid field.
pub type Requirement = &'static str;

/// The fields other than text, whose blank value counts as absent (C-7).
pub const NOT_TEXT: [&str; 8] = [
    "crm_column",
    "lead_id",
    "value",
    "sequence",
    "status",
    "expectedCloseDate",
    "user",
    "archived",
];

/// Maximum characters of a title (C-30).
const MAX_TITLE: usize = 255;
/// Maximum characters of text in a custom field or a reason (C-30).
const MAX_TEXT: usize = 10_000;
/// Maximum of `sequence`: 15 digits, like an id.
const MAX_SEQUENCE: u64 = shared::ids::MAX_ID;

pub fn title(value: &Value) -> Result<String, Requirement> {
    let title = value.as_str().and_then(clean);
    let title = title.filter(|title| fits(title, MAX_TITLE));
    title.map(str::to_owned).ok_or("must have 1 to 255 characters")
}

pub fn amount(value: &Value) -> Result<Cents, Requirement> {
    Cents::from_json(value).ok_or("must be an amount from 0 to 9999999999999.99 with at most two decimals")
}

/// An id of the kind created by `new`.
pub fn id<I>(new: fn(u64) -> Option<I>) -> impl Fn(&Value) -> Result<I, Requirement> {
    move |value| whole_or_text(value).and_then(new).ok_or(InvalidField::MUST_BE_ID)
}

pub fn sequence(value: &Value) -> Result<u64, Requirement> {
    let number = whole_or_text(value).filter(|number| *number <= MAX_SEQUENCE);
    number.ok_or("must be a whole number from 0 to 999999999999999")
}

pub fn status(value: &Value) -> Result<Status, Requirement> {
    let status = value.as_str().and_then(Status::parse);
    status.ok_or("must be open, gain or lost")
}

pub fn close_date(value: &Value) -> Result<CloseDate, Requirement> {
    let text = value.as_str().unwrap_or_default();
    let time = Timestamp::parse(text).map(CloseDate::At);
    let day = || Day::parse(text).filter(|day| day.is_input());
    let date = time.or_else(|| day().map(CloseDate::On));
    date.ok_or("must be RFC 3339, a date such as 2026-11-21, or null")
}

pub fn reason(value: &Value) -> Result<String, Requirement> {
    let text = value.as_str().filter(|text| fits(text, MAX_TEXT));
    text.map(str::to_owned)
        .ok_or("must be text of at most 10000 characters, or null")
}

pub fn flag(value: &Value) -> Result<bool, Requirement> {
    input::flag(value).ok_or("must be true or false")
}

/// Whether a value is valid in a custom field.
pub fn custom(value: &Value) -> Result<(), Requirement> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) if fits(text, MAX_TEXT) => Ok(()),
        // A double cannot hold this number exactly, so the JSON parser replaced it by an object with its literal.
        Value::Object(_) if inexact(value).is_some() => Err(MUST_BE_TEXT),
        _ => Err("must be text of at most 10000 characters, a number, a boolean or null"),
    }
}

/// The custom fields of a body; empty if the property is absent.
pub fn custom_fields(body: &mut JsonObject) -> Result<Map<String, Value>, InvalidField> {
    let rule = "must be an object of values by their fields' names";
    let fields = body.take("fields").map_or(Ok(Map::new()), object);
    let fields = fields.map_err(|_| InvalidField::new("fields", rule))?;
    for (name, value) in &fields {
        custom(value).map_err(|rule| InvalidField::new(format!("fields.{name}"), rule))?;
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lengths_are_counted_in_characters() {
        assert!(title(&json!("ã".repeat(255))).is_ok());
        assert_eq!(title(&json!(" Reforma ")), Ok("Reforma".to_owned()));
        for bad in [
            json!(""),
            json!(" "),
            json!("ã".repeat(256)),
            json!(5),
            json!(null),
            json!(["x"]),
        ] {
            assert_eq!(title(&bad), Err("must have 1 to 255 characters"));
        }
        let (long, longer) = (json!("ã".repeat(10_000)), json!("ã".repeat(10_001)));
        assert!(reason(&long).is_ok() && custom(&long).is_ok() && reason(&json!("")).is_ok());
        for bad in [longer.clone(), json!(5), json!({})] {
            assert_eq!(
                reason(&bad),
                Err("must be text of at most 10000 characters, or null")
            );
        }
        let must = "must be text of at most 10000 characters, a number, a boolean or null";
        for bad in [longer, json!([]), json!({ "a": 1 })] {
            assert_eq!(custom(&bad), Err(must));
        }
        let key = shared::json::parse(b"35261112345678901234567890123456789012345678").unwrap();
        assert_eq!(custom(&key), Err(MUST_BE_TEXT));
        for good in [json!(null), json!(true), json!(1e300), json!("")] {
            assert_eq!(custom(&good), Ok(()));
        }
    }
}
