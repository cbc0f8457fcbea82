//! Conditions on custom fields (C-44).

use serde_json::{Map, Value, json};
use shared::funnel::Funnel;
use shared::opportunity::Conditions;

/// Lower case of each character separately.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Whether a condition is well-formed.
fn is_kept(filter: &Value) -> bool {
    let properties = &filter["properties"];
    let operator = &properties["operator"];
    let known = ["=", "!=", "contains"].iter().any(|known| operator == known);
    let category = &filter["category"];
    filter["filterType"] == "opField"
        && (category.is_null() || category == "opportunity")
        && properties["field"].is_string()
        && properties["value"].is_string()
        && (operator.is_null() || known)
}

/// Whether a record meets a well-formed condition.
fn is_met(filter: &Value, defined: &[String], record: &Map<String, Value>) -> bool {
    let properties = &filter["properties"];
    let field = properties["field"].as_str().unwrap_or_default();
    if !defined.iter().any(|name| name == field) {
        return false;
    }
    let wanted = lower(properties["value"].as_str().unwrap_or_default());
    let held = record.get(field).filter(|value| !value.is_null());
    let held = held.map(|value| match (value.as_str(), value.as_f64()) {
        (Some(text), _) => lower(text),
        // JavaScript's form of a whole number.
        (None, Some(0.0)) => "0".to_owned(),
        (None, Some(double))
            if !value.is_u64() && !value.is_i64() && double % 1.0 == 0.0 && double.abs() < 1e21 =>
        {
            format!("{double}")
        }
        _ => lower(&value.to_string()),
    });
    match properties["operator"].as_str() {
        Some("!=") => held != Some(wanted),
        Some("contains") => held.is_some_and(|held| held.contains(&wanted)),
        _ => held == Some(wanted),
    }
}

/// C-44 literally: each condition is joined to the result of those before it.
fn reference(filters: &[Value], defined: &[String], record: &Map<String, Value>) -> bool {
    let mut result = None;
    for filter in filters.iter().filter(|filter| is_kept(filter)) {
        let met = is_met(filter, defined, record);
        let or = filter["operator"]
            .as_str()
            .is_some_and(|operator| operator.to_uppercase() == "OR");
        result = Some(match result {
            None => met,
            Some(before) if or => before || met,
            Some(before) => before && met,
        });
    }
    result.unwrap_or(true)
}

fn funnel(defined: &[String]) -> Option<Funnel> {
    let fields: Vec<_> = defined.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({"id": 1, "name": "", "fields": fields})).ok()
}

/// Conditions are discarded and evaluated as in C-44, and a discarded one has no effect. The input is an
/// object with `filters`, a list; `fields`, a record's; and `defined`, the names that the funnel defines.
///
/// # Panics
/// If any of this is violated.
pub fn conditions(data: &[u8]) {
    let Some(input) = crate::json(data) else { return };
    let (Some(filters), Some(record)) = (input["filters"].as_array(), input["fields"].as_object()) else {
        return;
    };
    let defined = input["defined"].as_array().into_iter().flatten();
    let defined: Vec<_> = defined.filter_map(Value::as_str).map(str::to_owned).collect();
    let Some(funnel) = funnel(&defined) else { return };
    let kept: Vec<_> = filters.iter().filter(|filter| is_kept(filter)).cloned().collect();
    let (conditions, discarded) = Conditions::read(filters);
    assert_eq!(discarded, filters.len() - kept.len(), "{input}");
    assert_eq!(conditions.is_empty(), kept.is_empty(), "{input}");
    assert_eq!(Conditions::read(&kept), (conditions.clone(), 0), "{input}");
    let holds = conditions.of(&funnel).are_met(record);
    assert_eq!(holds, reference(filters, &defined, record), "{input}");
}
