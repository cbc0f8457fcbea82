//! Values as callers send them. Every door reads them by these functions (C-6, C-108), save where a JSON Schema decides
//! (endpoints 10 and 19).

use serde_json::{Map, Value};

use crate::json::{MUST_BE_TEXT, decimal_text, inexact};
use crate::text::clean;

/// What stands between the values of a list that becomes one text.
const SEPARATOR: &str = ", ";
const MUST_BE_SCALAR: &str = "must be text, a number, true, false, null or a list of these";

/// Whether a value counts as absent: null and blank text.
#[must_use]
pub fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| clean(text).is_none())
}

/// Removes the properties that count as absent.
pub fn drop_blanks(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !is_blank(value));
}

/// A boolean: also as text in any case, and as 1 or 0.
#[must_use]
pub fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => flag_text(text),
        Value::Number(number) => flag_text(&decimal_text(number)),
        _ => None,
    }
}

/// The boolean of a text.
#[must_use]
pub fn flag_text(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// The object of a value. PHP writes `[]` for an empty object.
///
/// # Errors
/// The value itself, if it is neither.
pub fn object(value: Value) -> Result<Map<String, Value>, Value> {
    match value {
        Value::Object(members) => Ok(members),
        Value::Array(list) if list.is_empty() => Ok(Map::new()),
        other => Err(other),
    }
}

/// The text of a person's fixed field, such as a name or a number; `None` if it is blank. A number is written without
/// exponent and `.0`. A list has its first value that is not blank.
///
/// # Errors
/// The violated rule.
pub fn person_text(value: &Value) -> Result<Option<String>, &'static str> {
    match value {
        Value::Array(values) => {
            let mut values = values.iter().filter(|value| !is_blank(value));
            values.next().map_or(Ok(None), |value| match value {
                Value::Array(_) => Err("must be text or null"),
                value => person_text(value),
            })
        }
        Value::Null => Ok(None),
        Value::String(text) => Ok(clean(text).map(str::to_owned)),
        Value::Number(number) => Ok(Some(decimal_text(number))),
        Value::Object(_) if inexact(value).is_some() => Err(MUST_BE_TEXT),
        Value::Bool(_) | Value::Object(_) => Err("must be text or null"),
    }
}

/// The value of a person's custom field; null if it is blank. A list becomes one text, without blank and equal values.
///
/// # Errors
/// The violated rule.
pub fn person_value(value: Value) -> Result<Value, &'static str> {
    match value {
        Value::String(text) => Ok(clean(&text).map_or(Value::Null, Value::from)),
        Value::Array(values) => joined(&values),
        Value::Object(_) if inexact(&value).is_some() => Err(MUST_BE_TEXT),
        Value::Object(_) => Err(MUST_BE_SCALAR),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value),
    }
}

/// The values of a list as one value: text, unless a single other value is left.
fn joined(values: &[Value]) -> Result<Value, &'static str> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values.iter().filter(|value| !is_blank(value)) {
        if value.is_array() {
            return Err(MUST_BE_SCALAR);
        }
        let value = person_value(value.clone())?;
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    if distinct.len() <= 1 {
        return Ok(distinct.pop().unwrap_or_default());
    }
    let texts: Vec<_> = distinct
        .iter()
        .map(|value| match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => decimal_text(number),
            other => other.to_string(),
        })
        .collect();
    Ok(texts.join(SEPARATOR).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn booleans_have_several_forms() {
        for (sent, read) in [
            (json!(true), Some(true)),
            (json!("True"), Some(true)),
            (json!(" FALSE "), Some(false)),
            (json!("1"), Some(true)),
            (json!(0), Some(false)),
            (json!(1.0), Some(true)),
            (json!("yes"), None),
            (json!(""), None),
            (json!(2), None),
            (json!(null), None),
            (json!([true]), None),
        ] {
            assert_eq!(flag(&sent), read, "{sent}");
        }
    }

    #[test]
    fn an_empty_list_is_an_empty_object() {
        assert_eq!(object(json!([])), Ok(Map::new()));
        assert_eq!(object(json!({ "a": 1 })).map(|members| members.len()), Ok(1));
        assert_eq!(object(json!([1])), Err(json!([1])));
        assert_eq!(object(json!(null)), Err(json!(null)));
    }

    /// C-108.
    #[test]
    fn a_fixed_field_is_a_clean_text() {
        for (sent, read) in [
            (json!(" Ana "), Some("Ana")),
            (json!("\u{feff}"), None),
            (json!(null), None),
            (json!(5_511_987_650_501_u64), Some("5511987650501")),
            (json!(5_511_987_650_501.0), Some("5511987650501")),
            (json!([" ", "a@x.example", "b@x.example"]), Some("a@x.example")),
            (json!([]), None),
        ] {
            assert_eq!(person_text(&sent), Ok(read.map(str::to_owned)), "{sent}");
        }
        for bad in [json!(true), json!({}), json!([["a"]]), json!([{ "a": 1 }])] {
            assert!(person_text(&bad).is_err(), "{bad}");
        }
        let rounded = crate::json::parse(b"35261112345678901234567890123456789012345678").unwrap();
        assert_eq!(person_text(&rounded), Err(MUST_BE_TEXT));
        assert_eq!(person_value(rounded), Err(MUST_BE_TEXT));
    }

    /// C-101, C-108.
    #[test]
    fn a_list_in_a_custom_field_is_one_value() {
        for (sent, read) in [
            (json!(" azul "), json!("azul")),
            (json!(" "), json!(null)),
            (json!(4.5), json!(4.5)),
            (json!(true), json!(true)),
            (json!(["a", " b ", "", "a", null]), json!("a, b")),
            (json!(["a"]), json!("a")),
            (json!([7]), json!(7)),
            (json!([7, "x", 2.0, true]), json!("7, x, 2, true")),
            (json!([]), json!(null)),
            (json!(["", " "]), json!(null)),
        ] {
            assert_eq!(person_value(sent.clone()), Ok(read), "{sent}");
        }
        for bad in [json!({}), json!([["a"]]), json!([{}])] {
            assert!(person_value(bad.clone()).is_err(), "{bad}");
        }
    }
}
