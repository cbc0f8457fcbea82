//! Finds all faults of a line, and the field that a misspelt name may mean (C-105).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::RecordKind;
use super::fields::example;
use crate::line::Fields;

/// Maximum named faults of a line.
const MAX_FAULTS: usize = 20;
/// Maximum edits between a field and a misspelt name.
const MAX_EDITS: usize = 2;

/// Maximum elements of a list that are judged one by one.
const MAX_JUDGED: usize = 50;
/// The days of a calendar's hours.
const WEEK: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The faults of a line that can be found, at most [`MAX_FAULTS`], beginning with `first`. Each element of a list is also
/// judged without the others, because a fault of the first one hides those of the others.
pub(super) fn all<K: RecordKind>(fields: &Fields, first: String) -> String {
    let mut reasons = found::<K>(fields.clone(), first);
    for (name, value) in fields {
        let Value::Array(elements) = value else { continue };
        if elements.len() < 2 {
            continue;
        }
        for (at, element) in elements.iter().enumerate().take(MAX_JUDGED) {
            let mut alone = fields.clone();
            alone.insert(name.clone(), json!([element]));
            let Err(first) = K::parse(alone.clone()) else {
                continue;
            };
            let own = found::<K>(alone, first);
            let own = own
                .iter()
                .filter_map(|reason| reason.strip_prefix(&format!("{name}[0]")));
            for reason in own.map(|rest| format!("{name}[{at}]{rest}")) {
                if !reasons.contains(&reason) && reasons.len() < MAX_FAULTS {
                    reasons.push(reason);
                }
            }
        }
    }
    reasons.join("; ")
}

/// The faults of a line that can be found one after the other, beginning with `first`. A parser stops at the first
/// fault, so the field at fault is mended and the line is parsed again. The first mend removes the field. While the
/// same field is still at fault, the next mend sets a value of another type. Only the first fault of a field is
/// reported, because later ones come from its mends.
fn found<K: RecordKind>(mut fields: Fields, first: String) -> Vec<String> {
    // Tried in this order on a field: its removal, then values.
    let mends = [
        None,
        Some(json!(1)),
        Some(json!("x")),
        Some(json!([])),
        Some(json!({})),
        Some(json!(true)),
        Some(json!("2026-01-01T00:00:00.000Z")),
        Some(json!("UTC")),
    ];
    let mut reasons = Vec::new();
    // The number of mends tried on each field.
    let mut attempts = BTreeMap::<String, usize>::new();
    let mut current = Some(first);
    while let Some(reason) = current.take() {
        // A reason begins with the path of a field, if it has one.
        let path = reason.split_once(": ").map(|(path, _)| path.to_owned());
        let Some(path) = path else {
            // There is no field to mend.
            reasons.push(reason);
            break;
        };
        let is_first_of_field = !attempts.contains_key(&path);
        if is_first_of_field {
            if attempts.keys().any(|mended| may_result(&reason, &path, mended)) {
                // The mend of another field may have caused it, so it is not reported, and the search ends.
                break;
            }
            reasons.push(with_advice::<K>(&path, reason));
            if reasons.len() >= MAX_FAULTS {
                break;
            }
        }
        let attempt = attempts.entry(path.clone()).or_default();
        let Some(mend) = mends.get(*attempt) else {
            // No mend helped.
            break;
        };
        *attempt += 1;
        let has_parent = set_or_remove(&mut fields, &path, mend.clone());
        if !has_parent {
            break;
        }
        current = K::parse(fields.clone()).err();
    }
    reasons
}

/// Whether a fault may result from the replacement of the field `mended`, because that field is inside the field of the
/// fault or the text of the fault names it.
fn may_result(reason: &str, path: &str, mended: &str) -> bool {
    let is_inside =
        |rest: &str| rest.starts_with(|next: char| matches!(next, '.' | '[') || next.is_uppercase());
    // Names of types are not fields.
    let fault = reason[path.len()..].replace("an id", "").replace("date-time", "");
    let mut words = fault.split(|c: char| !c.is_alphanumeric() && c != '_');
    mended.strip_prefix(path).is_some_and(is_inside) || words.any(|word| word == mended)
}

/// Sets the field at a path such as `actions[0].user`, or removes it if `value` is `None`. An index at the end of the
/// path is ignored, so the whole list is set. A top-level field named like the whole path takes precedence. Returns
/// whether the parent exists.
fn set_or_remove(fields: &mut Fields, path: &str, value: Option<Value>) -> bool {
    if let Some((parent, name)) = path.rsplit_once('.').filter(|_| !fields.contains_key(path)) {
        let pointer = format!("/{}", parent.replace(['.', '['], "/").replace(']', ""));
        let mut whole = Value::Object(std::mem::take(fields));
        let parent = whole.pointer_mut(&pointer).and_then(Value::as_object_mut);
        let name = name.split('[').next().unwrap_or(name);
        let has_parent = parent.map(|parent| put(parent, name, value)).is_some();
        if let Value::Object(whole) = whole {
            *fields = whole;
        }
        return has_parent;
    }
    let name = path
        .split_once('[')
        .filter(|_| !fields.contains_key(path))
        .map_or(path, |(name, _)| name);
    put(fields, name, value);
    true
}

/// Sets a field, or removes it if `value` is `None`.
fn put(fields: &mut Fields, name: &str, value: Option<Value>) {
    match value {
        Some(value) => _ = fields.insert(name.to_owned(), value),
        None => _ = fields.shift_remove(name),
    }
}

/// The reason, with the field that an unknown one may mean, or with an example of the field.
fn with_advice<K: RecordKind>(path: &str, reason: String) -> String {
    if reason.ends_with(": unknown field") {
        let day = path.strip_prefix("hours.").and_then(weekday);
        return match day.or_else(|| nearest(path, &K::KIND.field_names())) {
            Some(name) => format!("{reason}, did you mean {name}?"),
            None => reason,
        };
    }
    let rule = reason.get(path.len() + 2..).unwrap_or_default();
    let is_of_form = [
        "must be a list",
        "must be an object",
        "must be an array",
        "must be a whole number",
    ]
    .iter()
    .any(|start| rule.starts_with(start));
    let field = path.split(['.', '[']).next().unwrap_or(path);
    match example(K::FIELDS, field) {
        example if is_of_form && !example.is_empty() => format!("{reason}, such as {field}: {example}"),
        _ => reason,
    }
}

/// The day of a calendar's hours that a longer name or one in capitals means.
fn weekday(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    WEEK.into_iter().find(|day| name.starts_with(day))
}

/// The name that is nearest to a misspelt one, if one is near. `email_2` is a further field and not misspelt.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let numbered = name
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .strip_suffix('_');
    if numbered.is_some_and(|name| known.contains(&name)) {
        return None;
    }
    // A short name differs from every other one by a few edits.
    let max_edits = MAX_EDITS.min(name.chars().count() / 3);
    let edits = known.iter().map(|known| (edits(name, known), *known));
    edits
        .filter(|(edits, _)| (1..=max_edits).contains(edits))
        .min()
        .map(|(_, known)| known)
}

/// The number of characters to insert, delete or replace, ignoring case (Damerau-Levenshtein distance). An exchange of
/// two neighbours counts once.
fn edits(from: &str, to: &str) -> usize {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (from, to) = (letters(from), letters(to));
    // `rows[i][j]` is the distance between the first `i` letters of one text and the first `j` of the other.
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (at, letter) in from.iter().enumerate() {
        let mut row = vec![at + 1];
        for (other, wanted) in to.iter().enumerate() {
            let replaced = rows[at][other] + usize::from(letter != wanted);
            let mut least = replaced.min(rows[at][other + 1] + 1).min(row[other] + 1);
            if at > 0 && other > 0 && *letter == to[other - 1] && from[at - 1] == *wanted {
                least = least.min(rows[at - 1][other - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{Kind, check_line};

    #[test]
    fn near_names() {
        let known = Kind::Users.field_names();
        assert!(known.contains(&"lastName") && known.len() > 15, "{known:?}");
        for (name, meant) in [
            ("emial", Some("email")),
            ("lastname", None),
            ("lastNme", Some("lastName")),
            ("actve", Some("active")),
            ("x", None),
            ("colour", None),
            ("email_2", None),
        ] {
            assert_eq!(nearest(name, &known), meant, "{name}");
        }
    }

    #[test]
    fn all_faults_are_named() {
        for (line, faults) in [
            (
                r#"{"kind":"user","id":0,"nmae":"Ana","admin":"yes","emial":"a"}"#,
                "id: must be an id from 1 to 999999999999999; admin: must be true or false; name: is missing; \
                 nmae: unknown field, did you mean name?; emial: unknown field, did you mean email?",
            ),
            (
                r#"{"kind":"opportunity","id":1,"value":-1,"status":"won"}"#,
                "title: is missing; value: must be an amount from 0 to 9999999999999.99 with at most two decimals; \
                 crm_column: is missing; crm_id: is missing; status: must be open or gain or lost; user: is missing",
            ),
            (
                r#"{"kind":"department","id":1,"name":"A","parnet":2}"#,
                "parnet: unknown field, did you mean parent?",
            ),
            (
                r#"{"kind":"funnel","id":1,"columns":[{"id":1},{"name":"a","colour":1}]}"#,
                "columns[0].name: is missing; columns[1].id: is missing; columns[1].colour: unknown field; name: is missing",
            ),
        ] {
            let mut named: Vec<_> = match check_line(line) {
                Ok(_) => panic!("{line}"),
                Err(reason) => reason.split("; ").map(str::to_owned).collect(),
            };
            named.sort_unstable();
            let mut expected: Vec<_> = faults.split("; ").map(str::trim).map(str::to_owned).collect();
            expected.sort_unstable();
            assert_eq!(named, expected, "{line}");
        }
    }
}
