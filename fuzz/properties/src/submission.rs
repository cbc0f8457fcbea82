//! Submissions of forms: fields in the query, in JSON and form-encoded (C-101).

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use shared::form::Form;

static FORM: LazyLock<Option<Form>> = LazyLock::new(|| {
    let fields = json!([{ "name": "nome", "to": "firstname", "required": true }, { "name": "email" },
        { "name": "telefone", "to": "phone" }, { "name": "cargo" }]);
    let form = json!({ "id": 1, "name": "contact", "tokenHash": "0".repeat(64), "fields": fields });
    serde_json::from_value(form).ok()
});

/// The first line is the query, the rest the body. Only declared fields are accepted, none is blank, each is within its limit,
/// and the accepted values are accepted again from JSON, unchanged.
///
/// # Panics
/// If any of this is violated.
pub fn submission(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (query, body) = data.split_at(end);
    let form = FORM.as_ref();
    assert!(form.is_some(), "the form is one");
    let Some((query, form)) = crate::text(query).zip(form) else {
        return;
    };
    let Ok(read) = call_webhook::fuzzing::submitted(query, body, form) else {
        return;
    };
    let mut sent = Map::new();
    for (name, field, limit) in [
        ("nome", "firstname", 255),
        ("email", "email", 255),
        ("telefone", "phone", 1000),
    ] {
        if let Some(value) = read.fields.get(field) {
            let text = value.as_str().unwrap_or_default();
            assert!(
                !text.trim().is_empty() && text.chars().count() <= limit,
                "{field}: {text:?}"
            );
            sent.insert(name.to_owned(), value.clone());
        }
    }
    assert!(sent.contains_key("nome"), "what is required is there");
    for (name, value) in read.custom.iter().chain(&read.utm) {
        let short = value.as_str().is_none_or(|text| text.chars().count() <= 10_000);
        assert!(short && !value.is_null() && !value.is_array(), "{name}: {value}");
        assert!(name == "cargo" || name.starts_with("utm_"), "{name}");
        sent.insert(name.clone(), value.clone());
    }
    assert_eq!(sent.len(), read.fields.len() + read.custom.len() + read.utm.len());
    let again = Value::Object(sent).to_string();
    let kept = shared::form::Submitted { ignored: 0, ..read };
    assert_eq!(
        call_webhook::fuzzing::submitted("", again.as_bytes(), form),
        Ok(kept)
    );
}
