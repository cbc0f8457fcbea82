//! The bodies of endpoints 10 and 19 equal the service's schemas (C-41, C-70).

use std::fs;

use serde_json::{Map, Value};
use tests::openapi::INTERFACE;

const BODIES: [(&str, &str); 2] = [
    ("OpportunityListRequest", "list-opportunities"),
    ("CallReport", "call-webhook"),
];

fn shared(path: &str) -> Value {
    let path = format!("{}/../shared/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// A schema without annotations, with references resolved and required names sorted.
fn meaning(schema: &Value) -> Value {
    match INTERFACE.resolve(schema) {
        Value::Object(members) => {
            let explains = ["$schema", "title", "description", "examples"];
            let asked = members
                .iter()
                .filter(|(name, value)| !explains.contains(&name.as_str()) || value.is_object());
            asked
                .map(|(name, value)| {
                    let mut value = meaning(value);
                    if let ("required", Some(names)) = (name.as_str(), value.as_array_mut()) {
                        names.sort_by_key(ToString::to_string);
                    }
                    (name.clone(), value)
                })
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(meaning).collect(),
        plain => plain.clone(),
    }
}

#[test]
fn both_schemas_are_equal() {
    for (name, file) in BODIES {
        let declared = &INTERFACE.document()["components"]["schemas"][name];
        let judged_by = shared(&format!("schemas/{file}.schema.json"));
        assert_eq!(meaning(declared), meaning(&judged_by), "{name}");
    }
}

#[test]
fn both_schemas_reject_the_same_bodies() {
    for (name, file) in BODIES {
        let validator = INTERFACE.validator(&format!("/components/schemas/{name}"));
        let vectors = shared(&format!("vectors/ajv-{file}.json"));
        let vectors = vectors.as_array().expect("a list");
        assert!(vectors.len() > 50, "{}", vectors.len());
        for vector in vectors {
            assert_eq!(
                validator.is_valid(&vector["body"]),
                vector["valid"] == true,
                "{vector}"
            );
        }
    }
}
