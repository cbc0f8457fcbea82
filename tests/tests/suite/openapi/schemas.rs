//! The schemas are closed, so that undeclared properties are detected.

use serde_json::Value;
use tests::openapi::{INTERFACE, members};

/// Bodies of requests that ignore unknown properties (C-4), or that spec.md leaves open.
const OPEN: [&str; 10] = [
    "ArchiveRequest",
    "Booking",
    "BookingProperties",
    "DateRange",
    "FilterCondition",
    "LeadChanges",
    "LeadIds",
    "NamedLeadChanges",
    "NewOpportunity",
    "OpportunityPatch",
];

fn visit(value: &Value, look: &mut impl FnMut(&Value)) {
    look(value);
    members(value).for_each(|(_, value)| visit(value, look));
    value
        .as_array()
        .into_iter()
        .flatten()
        .for_each(|value| visit(value, look));
}

fn schemas() -> impl Iterator<Item = (&'static str, &'static Value)> {
    members(&INTERFACE.document()["components"]["schemas"])
}

#[test]
fn objects_declare_additional_properties() {
    // A part is closed by the schema that includes it.
    fn look(name: &str, schema: &Value, is_part: bool) {
        let says = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some());
        let lists = schema["properties"].is_object() || schema["allOf"].is_array();
        assert!(is_part || says || !lists, "{name}: {schema}");
        for (keyword, value) in members(schema) {
            let listed = value.as_array().into_iter().flatten();
            match keyword {
                "properties" => members(value).for_each(|(_, value)| look(name, value, false)),
                "items" | "additionalProperties" => look(name, value, false),
                "allOf" => listed.for_each(|value| look(name, value, true)),
                "anyOf" | "oneOf" => listed.for_each(|value| look(name, value, false)),
                _ => {}
            }
        }
    }
    for (name, schema) in schemas().filter(|(name, _)| !OPEN.contains(name)) {
        look(name, schema, name.ends_with("Fields"));
    }
    for name in OPEN {
        assert!(schemas().any(|(schema, _)| schema == name), "{name} is gone");
    }
}

#[test]
fn composed_parts_are_used_only_in_compositions() {
    let text = INTERFACE.document().to_string();
    for (name, _) in schemas().filter(|(name, _)| name.ends_with("Fields")) {
        let reference = format!("{{\"$ref\":\"#/components/schemas/{name}\"}}");
        let uses = text.matches(&reference).count();
        let within = text.matches(&format!("\"allOf\":[{reference}")).count();
        assert!(uses > 0 && uses == within, "{name}");
    }
}

#[test]
fn every_schema_is_used_and_every_reference_resolves() {
    let mut references = Vec::new();
    visit(INTERFACE.document(), &mut |value| {
        references.extend(value["$ref"].as_str().map(str::to_owned));
    });
    for reference in &references {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| INTERFACE.document().pointer(pointer));
        assert!(target.is_some(), "{reference}");
    }
    for kind in ["parameters", "headers", "responses", "schemas"] {
        for (name, _) in members(&INTERFACE.document()["components"][kind]) {
            // Described in words at `filters`, which accept anything (C-44).
            let used =
                references.contains(&format!("#/components/{kind}/{name}")) || name == "FilterCondition";
            assert!(used, "{kind}/{name} is used by nobody");
        }
    }
}

/// Client generators name a value that is no identifier after its position: `VALUE_1`. A numeric `const` among alternatives
/// makes some of them refuse the other alternatives.
#[test]
fn numeric_values_are_named_truthfully() {
    let mut numeric = 0;
    visit(INTERFACE.document(), &mut |value| {
        assert!(!value["const"].is_number(), "{value}");
        for (at, value) in value["enum"].as_array().into_iter().flatten().enumerate() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if let Ok(number) = text.parse::<usize>() {
                assert_eq!(number, at, "{text} would be called VALUE_{at}");
                numeric += 1;
            }
        }
    });
    assert!(numeric > 3, "{numeric}");
}

/// Unknown keywords have no effect and are usually typing errors.
#[test]
fn schemas_have_known_keywords_only() {
    const KNOWN: [&str; 27] = [
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "example",
        "examples",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minLength",
        "minProperties",
        "minimum",
        "oneOf",
        "pattern",
        "properties",
        "propertyNames",
        "required",
        "title",
        "type",
        "unevaluatedProperties",
    ];
    fn look(place: &str, schema: &Value) {
        for (keyword, value) in members(schema) {
            assert!(KNOWN.contains(&keyword), "{place}: {keyword}");
            match keyword {
                "properties" => {
                    members(value).for_each(|(name, value)| look(&format!("{place}.{name}"), value));
                }
                "items" | "additionalProperties" | "propertyNames" => look(place, value),
                "allOf" | "anyOf" | "oneOf" => value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|value| look(place, value)),
                _ => {}
            }
        }
    }
    schemas().for_each(|(name, schema)| look(name, schema));
    visit(INTERFACE.document(), &mut |value| {
        if let Some(schema) = value.get("schema") {
            look("a schema in place", schema);
        }
    });
}
