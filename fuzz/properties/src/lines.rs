//! Lines of an import (C-81).

use operator::fuzzing::FuzzedLine;
use serde_json::{Map, Value, json};
use shared::time::Timestamp;

/// A secret that must not occur in an error.
const SECRET: &str = "s3cr3t-8675309";
/// The same as a number.
const NUMBER: u64 = 8_675_309_867;
/// Fields with secret values (C-21, C-76).
const SECRETS: [&str; 2] = ["secret", "initial_password"];
/// Two texts that are not a valid date, number, zone, link name or choice of any field, and shorter than any
/// limit. The second resembles the parser's own messages.
const NONSENSE: [&str; 2] = ["z z", "untagged enum`, expected `z"];

/// A line is rejected with an error that names a field, contains no secret and no terminal control
/// characters, and does not depend on the invalid text. An accepted line round-trips through export.
///
/// # Panics
/// If any of this is violated.
pub fn lines(data: &[u8]) {
    let Some(text) = crate::text(data).filter(|text| !text.contains('\n')) else {
        return;
    };
    let read = FuzzedLine::read(text);
    let fields = match crate::json(data) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    match read {
        Ok(_) => written_and_read(text),
        Err(reason) => told(&reason, &fields, crate::json(data).is_some()),
    }
    no_secret(&fields);
    for at in 0..places(&fields).len() {
        nonsense(&fields, at);
    }
}

fn written_and_read(text: &str) {
    // Defaults of absent fields are recognised by parsing again at another time.
    let kept = |text: &str, millis| {
        let line = FuzzedLine::read(text).ok()?;
        line.kept(Timestamp::from_unix_millis(millis)?)
    };
    let Some(line) = kept(text, 1_800_000_000_000) else {
        return;
    };
    let written = line.written().unwrap_or_default();
    let again = kept(&written, 0);
    assert!(
        again.is_some(),
        "{text}\n{written}\n{:?}",
        FuzzedLine::read(&written)
    );
    assert_eq!(again, kept(text, 1_800_000_000_000), "{text}\n{written}");
    assert_eq!(again.map(FuzzedLine::written), Some(Ok(written)), "{text}");
}

fn told(reason: &str, fields: &Map<String, Value>, is_json: bool) {
    assert!(!reason.contains(char::is_control), "{reason:?}");
    if !is_json {
        // The parser may find an unknown field before the position where the text stops being JSON.
        assert!(!reason.is_empty());
        return;
    }
    let whole = [
        "not JSON: ",
        "must be a JSON object",
        "the record is ",
        "unknown kind ",
        "kind: ",
    ];
    // A name with control characters is escaped in the error.
    let escaped = |name: &String| name.chars().flat_map(escaped).collect::<String>();
    let named = fields.keys().any(|name| reason.starts_with(&escaped(name)));
    let missing = reason.ends_with(": is missing");
    assert!(
        whole.iter().any(|start| reason.starts_with(start)) || named || missing,
        "{reason:?} of {fields:?}"
    );
}

fn escaped(character: char) -> Vec<char> {
    if character.is_control() {
        return character.escape_default().collect();
    }
    vec![character]
}

fn line_of(fields: &Map<String, Value>) -> String {
    Value::Object(fields.clone()).to_string()
}

/// Errors never contain the value of a secret field.
fn no_secret(fields: &Map<String, Value>) {
    let told = |text: &str| text.contains(SECRET) || text.contains(&NUMBER.to_string());
    let Some(bare) = replaced(fields, &Value::Null) else {
        return;
    };
    if told(&line_of(&bare)) {
        // The value also occurs where errors may quote it.
        return;
    }
    for hidden in [
        json!(SECRET),
        json!(NUMBER),
        json!([SECRET]),
        json!({SECRET: SECRET}),
        json!({"a": SECRET}),
    ] {
        let line = replaced(fields, &hidden)
            .as_ref()
            .map(line_of)
            .unwrap_or_default();
        if let Err(reason) = FuzzedLine::read(&line) {
            // Names of unknown fields are quoted; they are not secret.
            let known = reason
                .split("; ")
                .filter(|fault| !fault.contains(": unknown field"));
            assert!(known.filter(|fault| told(fault)).count() == 0, "{reason}");
        }
    }
}

/// The fields with every secret replaced; `None` without secrets.
fn replaced(fields: &Map<String, Value>, hidden: &Value) -> Option<Map<String, Value>> {
    let mut fields = fields.clone();
    let own = hide_own(&mut fields, hidden);
    let below = fields.values_mut().filter(|value| *value != hidden);
    let below = below.map(|value| hide(value, hidden));
    let below = below.filter(|found| *found).count();
    (own || below > 0).then_some(fields)
}

fn hide_own(fields: &mut Map<String, Value>, hidden: &Value) -> bool {
    let mut any = false;
    for name in SECRETS {
        if let Some(value) = fields.get_mut(name) {
            *value = hidden.clone();
            any = true;
        }
    }
    any
}

/// Replaces every secret below a value. Returns whether there was one.
fn hide(value: &mut Value, hidden: &Value) -> bool {
    match value {
        Value::Array(items) => {
            let found = items.iter_mut().map(|item| hide(item, hidden));
            found.filter(|found| *found).count() > 0
        }
        Value::Object(fields) => {
            let own = hide_own(fields, hidden);
            fields
                .values_mut()
                .fold(own, |any, value| hide(value, hidden) || any)
        }
        _ => false,
    }
}

/// The positions of texts in a record, except those that errors quote: the kind, a setting's name, and
/// duplicates.
fn places(fields: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in fields {
        let repeated = name == "kind" || (fields.get("kind") == Some(&json!("funnel")) && name == "fields");
        if !repeated {
            texts(
                value,
                &format!("/{}", name.replace('~', "~0").replace('/', "~1")),
                &mut found,
            );
        }
    }
    // Hostile lines have few positions; more are not worth the time.
    found.truncate(8);
    found
}

fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                texts(item, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                texts(
                    value,
                    &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        _ => {}
    }
}

/// The error does not depend on which invalid text is at a position.
fn nonsense(fields: &Map<String, Value>, at: usize) {
    let Some(place) = places(fields).into_iter().nth(at) else {
        return;
    };
    let [one, other] = NONSENSE.map(|text| {
        let mut line = Value::Object(fields.clone());
        if let Some(value) = line.pointer_mut(&place) {
            *value = Value::from(text);
        }
        let read = FuzzedLine::read(&line.to_string());
        read.map(drop)
            .map_err(|reason| reason.replace(&json!(text).to_string(), "…"))
    });
    assert_eq!(one, other, "{place} of {fields:?}");
}
