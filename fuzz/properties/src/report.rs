//! Definitions of reports (C-60, C-81).

use serde_json::{Value, json};
use shared::report::Definition;
use shared::time::Zone;

/// A definition round-trips, complete or sparse; equal queries have equal digests, and other zones other
/// digests. An error of an invalid definition names its field.
///
/// # Panics
/// If any of this is violated.
pub fn report(data: &[u8]) {
    let Some(input) = crate::json(data) else { return };
    let definition = match serde_json::from_value::<Definition>(input.clone()) {
        Ok(definition) => definition,
        Err(error) => return refused(&error.to_string()),
    };
    let sparse = Value::Object(definition.sparse());
    for written in [json!(definition), sparse] {
        let read = serde_json::from_value::<Definition>(written.clone());
        assert_eq!(read.ok().as_ref(), Some(&definition), "{input} {written}");
        assert!(
            written.to_string().len() <= input.to_string().len() + 300,
            "{input} {written}"
        );
    }
    let zones = ["UTC", "America/Sao_Paulo"]
        .map(|name| Zone::parse(name).map(|zone| definition.question.digest(zone)));
    assert_ne!(zones[0], zones[1], "{input}");
    let digest = zones[0].clone().unwrap_or_default();
    assert!(
        digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{digest}"
    );
}

/// Errors of the rules begin with the field; others are the JSON parser's.
fn refused(error: &str) {
    let own = [": must be ", ": is unknown; "]
        .iter()
        .any(|rule| error.contains(rule));
    let fields = ["field", "measure", "groupBy", "filters."];
    let json = [
        "invalid ",
        "missing field ",
        "unknown field ",
        "unknown variant ",
        "duplicate field ",
    ];
    let named = own && fields.iter().any(|field| error.starts_with(field));
    let theirs = json.iter().any(|start| error.starts_with(start)) || error.starts_with("must be ");
    assert!(named || theirs, "{error:?}");
}
