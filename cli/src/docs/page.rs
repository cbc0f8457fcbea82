//! The whole page: what holds for all operations, the operations by tag, and the schemas.

use std::fmt::Write as _;

use serde_json::Value;

use super::document::{Document, text};
use super::html::{code, escape, line, prose};
use super::operation::{answer, section};
use super::schema::{kind, properties, told};

/// The page's style. The policy admits it by its digest.
pub const STYLE: &str = include_str!("style.css");

/// The page of a document.
pub fn of(value: &Value, url: &str) -> String {
    let document = Document { value, url };
    let info = &value["info"];
    let title = escape(text(&info["title"]));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title} <small>{}</small></h1>\n\
         <p>{}</p>\n<p>The same for programs: <a href=\"/openapi.yaml\">openapi.yaml</a></p>\n</header>\n",
        escape(text(&info["version"])),
        line(text(&info["summary"])),
    );
    page.push_str(&contents(&document));
    let _ = writeln!(
        page,
        "<main>\n<section id=\"rules\">\n<h2>For all operations</h2>\n{}",
        prose(text(&info["description"]))
    );
    page.push_str(&trying());
    page.push_str(&credentials(&document));
    page.push_str(&elsewhere(&document));
    page.push_str("</section>\n");
    for tag in value["tags"].as_array().into_iter().flatten() {
        page.push_str(&tagged(&document, tag));
    }
    page.push_str(&schemas(&document));
    page + "</main>\n</body>\n</html>\n"
}

/// Links to everything on the page.
fn contents(document: &Document<'_>) -> String {
    let mut shown =
        "<nav aria-label=\"Contents\">\n<ul>\n<li><a href=\"#rules\">For all operations</a></li>\n"
            .to_owned();
    for tag in document.value["tags"].as_array().into_iter().flatten() {
        let name = text(&tag["name"]);
        let _ = writeln!(shown, "<li><a href=\"#tag-{0}\">{0}</a>\n<ul>", escape(name));
        for (_, _, operation) in document.operations(name) {
            let (id, summary) = (
                escape(text(&operation["operationId"])),
                escape(text(&operation["summary"])),
            );
            let _ = writeln!(shown, "<li><a href=\"#{id}\">{summary}</a></li>");
        }
        shown.push_str("</ul></li>\n");
    }
    shown + "<li><a href=\"#schemas\">Schemas</a></li>\n</ul>\n</nav>\n"
}

/// How the command lines below are tried.
fn trying() -> String {
    "<p><strong>Command lines.</strong> Those below take the API key and the access token from variables of the shell:</p>\n\
     <pre tabindex=\"0\">KEY=fk_…\nTOKEN=fa_…</pre>\n"
        .to_owned()
}

fn credentials(document: &Document<'_>) -> String {
    let mut shown = "<h3>Credentials</h3>\n<dl>\n".to_owned();
    let schemes = document.value["components"]["securitySchemes"].as_object();
    for (name, scheme) in schemes.into_iter().flatten() {
        let _ = writeln!(
            shown,
            "<div id=\"credential-{0}\"><dt>{1}</dt><dd>{2}</dd></div>",
            escape(name),
            code(name),
            line(text(&scheme["description"]))
        );
    }
    shown + "</dl>\n"
}

/// The answers to what belongs to no operation.
fn elsewhere(document: &Document<'_>) -> String {
    let mut shown = "<h3>Beside the operations</h3>\n".to_owned();
    let other_methods = document.value["paths"]
        .as_object()
        .and_then(|paths| paths.values().next());
    for (about, status, response) in [
        (
            "A path that is not here",
            "404",
            Some(&document.value["x-unknown-path"]),
        ),
        (
            "A method that the path does not have",
            "405",
            other_methods.map(|item| &item["x-other-methods"]),
        ),
        (
            "A preflight, <code>OPTIONS</code> on any path",
            "204",
            Some(&document.value["x-preflight"]),
        ),
    ] {
        if let Some(response) = response {
            let _ = writeln!(
                shown,
                "<p>{about}:</p>\n{}",
                answer(document, status, document.resolve(response))
            );
        }
    }
    shown
}

fn tagged(document: &Document<'_>, tag: &Value) -> String {
    let name = text(&tag["name"]);
    let mut shown = format!(
        "<section id=\"tag-{0}\">\n<h2>{0}</h2>\n<p>{1}</p>\n",
        escape(name),
        line(text(&tag["description"]))
    );
    for (method, path, operation) in document.operations(name) {
        shown.push_str(&section(document, &method, path, operation));
    }
    shown + "</section>\n"
}

fn schemas(document: &Document<'_>) -> String {
    let mut shown = "<section id=\"schemas\">\n<h2>Schemas</h2>\n".to_owned();
    for (name, schema) in document.value["components"]["schemas"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let _ = writeln!(
            shown,
            "<article id=\"schema-{0}\">\n<h3>{0}</h3>\n<p>{1}</p>\n{2}{3}</article>",
            escape(name),
            kind(schema),
            told(schema),
            properties(schema)
        );
    }
    shown + "</section>\n"
}
