//! Schemas in words: what a value may be, and the properties that an object has.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::html::{code, escape, line};

/// So many levels of objects within objects are shown. None of the document's has more.
const DEEPEST: usize = 6;

/// The name of a schema that is referred to.
pub fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

/// What a value may be, in a few words; a named schema is a link to itself.
pub fn kind(schema: &Value) -> String {
    if let Some(name) = name_of(schema) {
        return format!("<a href=\"#schema-{0}\">{0}</a>", escape(name));
    }
    for alternatives in ["oneOf", "anyOf"] {
        // Beside a type, alternatives say which properties go together.
        if let Some(items) = schema[alternatives]
            .as_array()
            .filter(|_| schema["type"].is_null())
        {
            return items.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    if !schema["const"].is_null() {
        return code(&schema["const"].to_string());
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .map(|value| code(&value.to_string()))
            .collect::<Vec<_>>()
            .join(" or ");
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => vec![one.as_str()],
        _ => vec![],
    };
    if types.is_empty() {
        return if schema["allOf"].is_array() {
            "object".to_owned()
        } else {
            "anything".to_owned()
        };
    }
    let words: Vec<_> = types.into_iter().map(|one| word(one, schema)).collect();
    format!("{}{}", words.join(" or "), limits(schema))
}

fn word(one: &str, schema: &Value) -> String {
    match (one, schema["format"].as_str()) {
        ("array", _)
            if schema
                .get("items")
                .is_some_and(|items| *items != Value::Object(Map::new())) =>
        {
            format!("array of {}", kind(&schema["items"]))
        }
        ("string", Some("date-time")) => "date-time".to_owned(),
        ("string", Some("date")) => "date".to_owned(),
        _ => escape(one),
    }
}

/// The limits of a value, in words.
fn limits(schema: &Value) -> String {
    let mut said = Vec::new();
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " properties"),
    ] {
        match (&schema[least], &schema[most]) {
            (Value::Null, Value::Null) => {}
            (least, Value::Null) => said.push(format!("at least {least}{unit}")),
            (Value::Null, most) => said.push(format!("at most {most}{unit}")),
            (least, most) => said.push(format!("{least} to {most}{unit}")),
        }
    }
    said.extend(schema["pattern"].as_str().map(|pattern| match pattern {
        r"\S" => "not blank".to_owned(),
        pattern => format!("like {}", code(pattern)),
    }));
    said.iter().fold(String::new(), |text, limit| text + ", " + limit)
}

/// A line below the kind: the description and the default.
pub fn told(schema: &Value) -> String {
    let mut text = String::new();
    if let Some(description) = schema["description"].as_str() {
        let _ = write!(text, "<p>{}</p>", line(description.trim()));
    }
    if let Some(default) = schema.get("default") {
        let _ = write!(text, "<p>Default: {}</p>", code(&default.to_string()));
    }
    text
}

/// The properties of an object, and those of objects within it; what it takes from another schema is a link to that.
pub fn properties(schema: &Value) -> String {
    below(schema, DEEPEST)
}

fn below(schema: &Value, levels: usize) -> String {
    let mut text = String::new();
    let Some(levels) = levels.checked_sub(1) else {
        return text;
    };
    for part in schema["allOf"].as_array().into_iter().flatten() {
        if name_of(part).is_some() {
            let _ = writeln!(text, "<p>All of {}.</p>", kind(part));
        } else {
            text.push_str(&below(part, levels));
        }
    }
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    let listed = schema["properties"].as_object();
    if listed.is_some_and(|listed| !listed.is_empty()) {
        text.push_str("<dl>\n");
        for (name, property) in listed.into_iter().flatten() {
            let must = required.iter().any(|required| *required == name);
            text.push_str(&entry(name, must, property, &below(property, levels)));
        }
        text.push_str("</dl>\n");
    }
    if let Some(rest @ Value::Object(_)) = schema.get("additionalProperties") {
        let _ = writeln!(text, "<p>Any other property: {}.</p>", kind(rest));
    } else if schema["additionalProperties"] == true {
        text.push_str("<p>Any other property: anything.</p>\n");
    }
    text
}

/// A name with what stands behind it.
pub fn entry(name: &str, required: bool, schema: &Value, inner: &str) -> String {
    let must = if required { " <em>required</em>" } else { "" };
    let (name, kind, told) = (escape(name), kind(schema), told(schema));
    format!("<div><dt><code>{name}</code>{must}</dt><dd><span>{kind}</span>{told}{inner}</dd></div>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_are_told_in_words() {
        for (schema, expected) in [
            (
                json!({ "$ref": "#/components/schemas/Lead" }),
                "<a href=\"#schema-Lead\">Lead</a>",
            ),
            (
                json!({ "type": ["string", "null"], "maxLength": 5 }),
                "string or null, at most 5 characters",
            ),
            (
                json!({ "type": "integer", "minimum": 0, "maximum": 9 }),
                "integer, 0 to 9",
            ),
            (json!({ "type": "integer", "minimum": 1 }), "integer, at least 1"),
            (json!({ "type": "string", "format": "date-time" }), "date-time"),
            (
                json!({ "type": "string", "pattern": "<" }),
                "string, like <code>&lt;</code>",
            ),
            (
                json!({ "type": "array", "items": { "type": "string" } }),
                "array of string",
            ),
            (json!({ "type": "string", "pattern": r"\S" }), "string, not blank"),
            (json!({ "type": "array", "items": {} }), "array"),
            (json!({ "const": "deleted" }), "<code>&quot;deleted&quot;</code>"),
            (
                json!({ "enum": [1, "a"] }),
                "<code>1</code> or <code>&quot;a&quot;</code>",
            ),
            (
                json!({ "anyOf": [{ "type": "number" }, { "type": "null" }] }),
                "number or null",
            ),
            (
                json!({ "type": "object", "oneOf": [{ "required": ["a"] }] }),
                "object",
            ),
            (json!({}), "anything"),
        ] {
            assert_eq!(kind(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn properties_are_told_with_those_within() {
        let inner = json!({ "type": "object", "properties": { "b": { "type": "string" } } });
        let schema = json!({
            "allOf": [{ "$ref": "#/components/schemas/A" }], "required": ["a"],
            "properties": { "a": inner, "c": { "description": "`x`", "default": 1 } }, "additionalProperties": true,
        });
        let expected = "<p>All of <a href=\"#schema-A\">A</a>.</p>\n\
            <dl>\n<div><dt><code>a</code> <em>required</em></dt><dd><span>object</span>\
            <dl>\n<div><dt><code>b</code></dt><dd><span>string</span></dd></div>\n</dl>\n</dd></div>\n\
            <div><dt><code>c</code></dt><dd><span>anything</span><p><code>x</code></p><p>Default: <code>1</code></p></dd></div>\n\
            </dl>\n<p>Any other property: anything.</p>\n";
        assert_eq!(properties(&schema), expected);
    }
}
