//! The reasons for refusing a line, which name the field at fault.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Error;

use super::lenient::Lenient;

/// Reads a value and refuses fields that its type does not have. Stored items are read without this function, so that
/// fields of a later build are ignored (C-88).
pub fn strict<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    let mut unknown = None;
    let mut ignored = |path: serde_ignored::Path<'_>| {
        unknown.get_or_insert_with(|| written(&path));
    };
    let reader = serde_ignored::Deserializer::new(Lenient(value), &mut ignored);
    let read = serde_path_to_error::deserialize(reader).map_err(|error| reason(&error))?;
    match unknown {
        Some(path) => Err(format!("{path}: unknown field")),
        None => Ok(read),
    }
}

/// A path as reasons name it, such as `actions[0].user`.
fn written(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", written(parent)),
        Path::Map { parent, key } => join(&written(parent), key),
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            written(parent)
        }
    }
}

/// The reason of a deserializer's error, beginning with the field's path.
pub fn reason(error: &Error<serde_json::Error>) -> String {
    let message = error.inner().to_string();
    let path = error.path().to_string();
    let path = if path == "." { "" } else { &path };
    let (field, fault) = split(&message);
    let at = match field {
        Some(field) if path != field && !path.ends_with(&format!(".{field}")) => join(path, field),
        _ => path.to_owned(),
    };
    if at.is_empty() {
        fault
    } else {
        format!("{at}: {fault}")
    }
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() {
        field.to_owned()
    } else {
        format!("{path}.{field}")
    }
}

/// The field that the deserializer names, and the fault.
fn split(message: &str) -> (Option<&str>, String) {
    if let Some(rest) = message.strip_prefix("missing field ") {
        return (quoted(rest), "is missing".to_owned());
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return (quoted(rest), "unknown field".to_owned());
    }
    // The text of the line comes first, and may look like the text that follows it.
    if message.starts_with("unknown variant ") {
        let allowed = message
            .rsplit_once("`, expected ")
            .map_or("", |(_, allowed)| allowed);
        let allowed = allowed.trim_start_matches("one of ").replace('`', "");
        return (None, format!("must be {}", allowed.replace(", ", " or ")));
    }
    if message.starts_with("data did not match any variant of untagged enum ") {
        return (None, "must be a number or text".to_owned());
    }
    let expected = message
        .strip_prefix("invalid ")
        .and_then(|rest| rest.rsplit_once(", expected "));
    let fault = expected.map_or_else(
        || message.to_owned(),
        |(_, expected)| format!("must be {}", kind(expected)),
    );
    (None, fault)
}

/// A name between backticks, which may contain backticks itself.
fn quoted(text: &str) -> Option<&str> {
    let text = text.strip_prefix('`')?;
    let ends = ["`, expected ", "`, there are no fields"];
    let name = ends.iter().find_map(|end| text.rsplit_once(end));
    name.map_or_else(|| text.strip_suffix('`'), |(name, _)| Some(name))
}

/// The type that the deserializer expected, in the terms of JSON.
fn kind(expected: &str) -> &str {
    match expected {
        "a JSON number" | "f64" => "a number",
        "u64" => "a whole number that is not negative",
        "i64" => "a whole number",
        "a string" => "text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        other if other.starts_with("struct ") => "an object",
        // Enums are written as the text of their variants.
        other if other.starts_with("enum ") || other.contains("variant") => "text",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;
    use shared::lead::{Channel, ChannelRestrictions};
    use shared::people::{Company, User};

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        All,
        None,
    }

    #[derive(Deserialize)]
    struct Choice {
        #[serde(rename = "leads")]
        _leads: Level,
    }

    fn refused<T: DeserializeOwned>(value: &Value) -> String {
        strict::<T>(value.clone()).map_or_else(|reason| reason, |_| "accepted".to_owned())
    }

    #[test]
    fn every_reason_names_its_field() {
        let user = |value| refused::<User>(&value);
        assert_eq!(user(json!({ "name": "Ana" })), "id: is missing");
        assert_eq!(user(json!({ "id": 1, "name": 5 })), "name: must be text");
        assert_eq!(
            user(json!({ "id": 0, "name": "Ana" })),
            "id: must be an id from 1 to 999999999999999"
        );
        assert_eq!(
            user(json!({ "id": -1, "name": "Ana" })),
            "id: must be a whole number that is not negative"
        );
        assert_eq!(
            user(json!({ "id": 1, "name": "Ana", "nick": "A" })),
            "nick: unknown field"
        );
        assert_eq!(
            user(json!({ "id": 1, "name": "Ana", "admin": "yes" })),
            "admin: must be true or false"
        );
        assert_eq!(user(json!([])), "must be an object");
    }

    #[test]
    fn choices_and_mixed_types_are_told() {
        assert_eq!(
            refused::<Choice>(&json!({ "leads": "some" })),
            "leads: must be all or none"
        );
        assert_eq!(
            refused::<ChannelRestrictions>(&json!({ "email": { "disabled": true, "off": 1 } })),
            "email.off: unknown field"
        );
        assert_eq!(
            refused::<Channel>(&json!({ "frequencyValue": 1.5 })),
            "frequencyValue: must be a whole number"
        );
        let company = json!({ "id": 1, "companyname": "A", "companynemployees": [] });
        assert_eq!(
            refused::<Company>(&company),
            "companynemployees: must be a number or text"
        );
        let company = json!({ "id": 1, "companyname": "A", "points": "many", });
        assert_eq!(refused::<Company>(&company), "points: must be a number");
    }

    #[test]
    fn what_a_line_says_is_not_taken_for_the_readers_words() {
        let leads = "leads: must be all or none";
        for text in [
            "expected one",
            "`, expected `x",
            "untagged enum x",
            "missing field `x`",
        ] {
            assert_eq!(refused::<Choice>(&json!({ "leads": text })), leads, "{text}");
            let id = refused::<User>(&json!({ "id": text, "name": "Ana" }));
            assert_eq!(id, "id: must be a whole number that is not negative", "{text}");
            let unknown = refused::<User>(&json!({ "id": 1, "name": "Ana", text: 1 }));
            assert_eq!(unknown, format!("{text}: unknown field"));
        }
    }
}
