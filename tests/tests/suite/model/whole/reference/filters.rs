//! The date ranges and conditions of endpoint 10 (C-8, C-43, C-44).

use serde_json::{Value, json};
use tests::world::at;

use super::clock::{date, local_day, seconds};

/// The day that an end of a range names, or on which it lies.
pub fn day_of(end: &str) -> String {
    match end.len() {
        10 => end.to_owned(),
        _ => date(local_day(seconds(end))),
    }
}

/// Days begin at 03:00 UTC in São Paulo; times are compared as text.
pub fn covers(range: &Value, date: &Value) -> bool {
    let start = |day: &str| format!("{day}T03:00:00.000Z");
    let from = range["start"].as_str().map(|from| match from.len() {
        10 => start(from),
        _ => from.to_owned(),
    });
    let next = |day: String| at(&format!("{day}T00:00:00Z")).plus_days(1).to_string();
    let until = range["end"].as_str().map(|end| start(&next(day_of(end))[..10]));
    match date.as_str() {
        None => from.is_none() && until.is_none(),
        Some(date) => from.is_none_or(|from| *from <= *date) && until.is_none_or(|until| *date < *until),
    }
}

/// Whether a condition is one that counts; others are ignored.
pub fn is_good(condition: &Value) -> bool {
    let operator = condition["properties"]["operator"].as_str().unwrap_or("=");
    condition["filterType"] == json!("opField")
        && ["=", "!=", "contains"].contains(&operator)
        && condition
            .get("category")
            .is_none_or(|category| *category == json!("opportunity"))
}

/// Conditions are joined from left to right.
pub fn conditions_hold(conditions: &Value, defined: &Value, fields: &Value) -> bool {
    let good = conditions
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| is_good(one));
    let held = good.fold(None, |before: Option<bool>, condition| {
        let now = holds(condition, defined, fields);
        let or = condition["operator"]
            .as_str()
            .is_some_and(|operator| operator.eq_ignore_ascii_case("or"));
        Some(match before {
            None => now,
            Some(before) if or => before || now,
            Some(before) => before && now,
        })
    });
    held.unwrap_or(true)
}

fn holds(condition: &Value, defined: &Value, fields: &Value) -> bool {
    let properties = &condition["properties"];
    let name = properties["field"].as_str().expect("a name");
    let mut defined = defined.as_array().into_iter().flatten();
    if !defined.any(|field| field["name"] == name) {
        return false;
    }
    let wanted = properties["value"].as_str().expect("a value").to_lowercase();
    let value = fields.get(name).map(|value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.to_lowercase()
    });
    match (properties["operator"].as_str().unwrap_or("="), value) {
        ("!=", value) => value != Some(wanted),
        ("contains", Some(value)) => value.contains(&wanted),
        (_, value) => value == Some(wanted),
    }
}
