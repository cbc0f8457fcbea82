//! One operation: what it takes, what it answers, and how to try it.

use std::fmt::Write as _;

use serde_json::Value;

use super::curl;
use super::document::{Document, text};
use super::html::{code, escape, line, prose};
use super::schema::{entry, kind, name_of, properties, told};

/// The section of an operation.
pub fn section(document: &Document<'_>, method: &str, path: &str, operation: &Value) -> String {
    let (id, summary) = (text(&operation["operationId"]), text(&operation["summary"]));
    let mut shown = format!(
        "<article id=\"{}\">\n<h3>{}</h3>\n<p class=\"route\"><b class=\"{}\">{method}</b> {}</p>\n",
        escape(id),
        escape(summary),
        method.to_lowercase(),
        code(path),
    );
    shown.push_str(&prose(text(&operation["description"])));
    let _ = writeln!(
        shown,
        "<h4>Credentials</h4>\n<p>{}</p>",
        credentials(document, operation)
    );
    shown.push_str(&parameters(document, path, operation));
    shown.push_str(&body(document, operation));
    shown.push_str(&answers(document, operation));
    let command = curl::line(document, method, path, operation);
    let _ = writeln!(
        shown,
        "<h4>Try it</h4>\n<pre tabindex=\"0\">{}</pre>\n</article>",
        escape(&command)
    );
    shown
}

/// Where the credentials of an operation stand.
fn credentials(document: &Document<'_>, operation: &Value) -> String {
    let alternatives: Vec<_> = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|needed| {
            let needed = needed.as_object().into_iter().flatten();
            let places: Vec<_> = needed.map(|(name, _)| place(document, name)).collect();
            if places.is_empty() {
                "none".to_owned()
            } else {
                places.join(" and ")
            }
        })
        .collect();
    if alternatives.is_empty() {
        "None: this is public.".to_owned()
    } else {
        format!("{}.", alternatives.join(", or "))
    }
}

fn place(document: &Document<'_>, name: &str) -> String {
    let scheme = &document.value["components"]["securitySchemes"][name];
    let (kind, place) = (text(&scheme["type"]), text(&scheme["in"]));
    let shown = match (kind, place) {
        ("http", _) => "the header <code>Authorization: Bearer</code>".to_owned(),
        (_, "query") => format!("the query parameter {}", code(text(&scheme["name"]))),
        _ => format!("the header {}", code(text(&scheme["name"]))),
    };
    format!("<a href=\"#credential-{}\">{shown}</a>", escape(name))
}

fn parameters(document: &Document<'_>, path: &str, operation: &Value) -> String {
    let parameters = document.parameters(path, operation);
    if parameters.is_empty() {
        return String::new();
    }
    let mut shown = "<h4>Parameters</h4>\n<dl>\n".to_owned();
    for parameter in parameters {
        let example = match &parameter["example"] {
            Value::Null => String::new(),
            Value::String(text) => format!("<p>Such as {}</p>", code(text)),
            other => format!("<p>Such as {}</p>", code(&other.to_string())),
        };
        let place = text(&parameter["in"]);
        let inner = format!(
            "<p><small>in the {place}.</small> {}</p>{example}",
            line(text(&parameter["description"]))
        );
        let (name, required) = (text(&parameter["name"]), parameter["required"] == true);
        shown.push_str(&entry(name, required, &parameter["schema"], &inner));
    }
    shown + "</dl>\n"
}

fn body(document: &Document<'_>, operation: &Value) -> String {
    let Some(content) = operation.pointer("/requestBody/content/application~1json") else {
        return String::new();
    };
    let schema = document.resolve(&content["schema"]);
    format!(
        "<h4>Body</h4>\n<p>{}</p>\n{}{}{}",
        kind(&content["schema"]),
        told(schema),
        properties(schema),
        examples(content)
    )
}

fn answers(document: &Document<'_>, operation: &Value) -> String {
    let mut shown = "<h4>Answers</h4>\n".to_owned();
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        shown.push_str(&answer(document, status, document.resolve(response)));
    }
    shown
}

/// An answer; a success is open, the errors are closed.
pub fn answer(document: &Document<'_>, status: &str, response: &Value) -> String {
    let open = if status.starts_with('2') { " open" } else { "" };
    let mut shown = format!(
        "<details{open}><summary><b>{}</b> {}</summary>\n",
        escape(status),
        line(text(&response["description"]))
    );
    for (media, content) in response["content"].as_object().into_iter().flatten() {
        let schema = &content["schema"];
        let _ = writeln!(shown, "<p>{}: {}</p>", code(media), kind(schema));
        // A named schema has a place of its own, unless it is the short body of an error.
        let named = document.resolve(schema);
        if open.is_empty() || name_of(schema).is_none() {
            shown.push_str(&properties(named));
        }
        shown.push_str(&examples(content));
    }
    let headers = response["headers"].as_object();
    let names: Vec<_> = headers
        .into_iter()
        .flatten()
        .map(|(name, _)| code(name))
        .collect();
    if !names.is_empty() {
        let _ = writeln!(shown, "<p class=\"headers\">Headers: {}</p>", names.join(" "));
    }
    shown + "</details>\n"
}

/// The examples of a body, each with what it is one of.
fn examples(content: &Value) -> String {
    let pretty = |value: &Value| escape(&serde_json::to_string_pretty(value).unwrap_or_default());
    let mut shown = String::new();
    if let Some(example) = content.get("example") {
        let example = example.as_str().map_or_else(|| pretty(example), escape);
        let _ = writeln!(shown, "<pre tabindex=\"0\">{example}</pre>");
    }
    for (name, example) in content["examples"].as_object().into_iter().flatten() {
        let about = example["summary"].as_str().unwrap_or(name);
        let value = pretty(&example["value"]);
        let _ = writeln!(shown, "<p>{}</p>\n<pre tabindex=\"0\">{value}</pre>", line(about));
    }
    shown
}
