//! Every example is what it is an example of.

use serde_json::Value;
use tests::openapi::{INTERFACE, members};

/// Everything in the document that has a schema and examples of it, with its JSON Pointer.
fn exemplified() -> Vec<(String, &'static Value)> {
    fn walk(pointer: &str, value: &'static Value, found: &mut Vec<(String, &'static Value)>) {
        if value.get("schema").is_some() {
            found.push((pointer.to_owned(), value));
        }
        for (name, value) in members(value) {
            let name = name.replace('~', "~0").replace('/', "~1");
            walk(&format!("{pointer}/{name}"), value, found);
        }
        for (at, value) in value.as_array().into_iter().flatten().enumerate() {
            walk(&format!("{pointer}/{at}"), value, found);
        }
    }
    let mut found = Vec::new();
    walk("", INTERFACE.document(), &mut found);
    found
}

#[test]
fn examples_are_valid() {
    let mut count = 0;
    for (pointer, value) in exemplified() {
        let named = members(&value["examples"]).map(|(_, example)| &example["value"]);
        for example in value.get("example").into_iter().chain(named) {
            let validator = INTERFACE.validator(&format!("{pointer}/schema"));
            let breach = validator.validate(example).err().map(|error| error.to_string());
            assert_eq!(breach, None, "{pointer}: {example}");
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

/// Whoever makes a first request from the document needs them.
#[test]
fn whatever_is_sent_or_answered_has_an_example() {
    for (pointer, value) in exemplified() {
        let shown = value.get("example").is_some() || value.get("examples").is_some();
        let needed = pointer.contains("/content/") || value["required"] == true && value["in"].is_string();
        assert!(shown || !needed, "{pointer}");
    }
}
