//! A command line for an operation: its path, what it requires, and its first example, with the credentials in variables.

use std::fmt::Write as _;

use serde_json::Value;

use super::document::Document;

/// Where credentials come from: variables of the shell.
const KEY: &str = "$KEY";
const TOKEN: &str = "$TOKEN";

/// The line.
pub fn line(document: &Document<'_>, method: &str, path: &str, operation: &Value) -> String {
    let mut url = format!("{}{path}", document.url);
    let (mut query, mut headers) = (Vec::new(), Vec::new());
    for parameter in document.parameters(path, operation) {
        let name = parameter["name"].as_str().unwrap_or_default();
        let example = text(&parameter["example"]);
        match parameter["in"].as_str() {
            Some("path") => url = url.replace(&format!("{{{name}}}"), &encode(&example)),
            Some("query") if parameter["required"] == true => {
                query.push(format!("{name}={}", encode(&example)));
            }
            _ => {}
        }
    }
    // Of alternatives the first; none where the first asks for nothing.
    for (name, _) in operation["security"][0].as_object().into_iter().flatten() {
        let scheme = &document.value["components"]["securitySchemes"][name];
        let place = scheme["name"].as_str().unwrap_or_default();
        match (scheme["type"].as_str(), scheme["in"].as_str()) {
            (Some("http"), _) => headers.push(format!("Authorization: Bearer {TOKEN}")),
            (_, Some("header")) => headers.push(format!("{place}: {KEY}")),
            _ => query.push(format!("{place}={KEY}")),
        }
    }
    if !query.is_empty() {
        let _ = write!(url, "?{}", query.join("&"));
    }
    written(method, &url, &headers, body(operation))
}

fn written(method: &str, url: &str, headers: &[String], body: Option<String>) -> String {
    let mut line = "curl".to_owned();
    if method != if body.is_some() { "POST" } else { "GET" } {
        let _ = write!(line, " -X {method}");
    }
    let _ = write!(line, " \"{url}\"");
    for header in headers {
        let _ = write!(line, " \\\n  -H \"{header}\"");
    }
    if let Some(body) = body {
        let body = body.replace('\'', r"'\''");
        let _ = write!(
            line,
            " \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'"
        );
    }
    line
}

/// The first example of a body, in one line.
fn body(operation: &Value) -> Option<String> {
    let content = operation.pointer("/requestBody/content/application~1json")?;
    let named = content["examples"]
        .as_object()
        .and_then(|examples| examples.values().next());
    let example = named.map_or(&content["example"], |named| &named["value"]);
    (!example.is_null()).then(|| example.to_string())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn small() -> Value {
        json!({
            "paths": { "/leads/{id}": { "parameters": [{ "name": "id", "in": "path", "example": 7 }] } },
            "components": {
                "parameters": { "I": { "name": "i", "in": "query", "required": true, "example": "a b" } },
                "securitySchemes": {
                    "key": { "type": "apiKey", "in": "header", "name": "apitoken" },
                    "query": { "type": "apiKey", "in": "query", "name": "apitoken" },
                    "token": { "type": "http", "scheme": "bearer" },
                },
            },
        })
    }

    #[test]
    fn a_line_has_what_is_required() {
        let value = small();
        let document = Document {
            value: &value,
            url: "http://h",
        };
        let operation = |security: Value, body: Value| {
            json!({
                "parameters": [{ "$ref": "#/components/parameters/I" }, { "name": "page", "in": "query", "example": 1 }],
                "security": security,
                "requestBody": { "content": { "application/json": { "example": body } } },
            })
        };
        for (method, security, body, expected) in [
            (
                "GET",
                json!([{ "key": [], "token": [] }]),
                Value::Null,
                "curl \"http://h/leads/7?i=a%20b\" \\\n  -H \"apitoken: $KEY\" \\\n  -H \"Authorization: Bearer $TOKEN\"",
            ),
            (
                "DELETE",
                json!([{ "query": [] }]),
                Value::Null,
                "curl -X DELETE \"http://h/leads/7?i=a%20b&apitoken=$KEY\"",
            ),
            (
                "POST",
                json!([]),
                json!({ "a": "it's" }),
                "curl \"http://h/leads/7?i=a%20b\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{\"a\":\"it'\\''s\"}'",
            ),
            (
                "GET",
                json!([{}, { "key": [] }]),
                Value::Null,
                "curl \"http://h/leads/7?i=a%20b\"",
            ),
        ] {
            assert_eq!(
                line(&document, method, "/leads/{id}", &operation(security, body)),
                expected
            );
        }
    }
}
