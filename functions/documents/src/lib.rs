//! `/openapi.yaml`, `/docs` and `/health`: the interface as a document and as a page with examples to send, and a
//! response without the table.
//!
//! The page is Swagger UI. A crate contains its files, so neither the build nor the page downloads anything. The routes
//! are outside the interface and need no credentials. `funil serve` has the same routes.

use std::fmt::Write as _;

use axum::Router;
use axum::http::HeaderMap;
use axum::middleware::from_fn;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use serde_json::json;
use shared::http::{accepts_gzip, documents, gunzip, gzipped};
use shared::release::release;

/// The text of `openapi.yaml`, with the headers and responses that build.rs adds.
pub const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.yaml"));

/// The page before its operations are added.
const PAGE: &str = include_str!("page.html");

/// The default server in the document; the served document has its own origin instead.
const DEFAULT_ADDRESS: &str = r#"default: "http://127.0.0.1:3000""#;
const SAME_ORIGIN: &str = r#"default: "/""#;

/// The page runs and fetches only content of this origin. Swagger UI's style sheet has icons in `data:` URLs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz"));
const SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz"));

/// All paths.
pub const PATHS: [&str; 6] = [
    "/openapi.yaml",
    "/docs",
    "/docs/start.js",
    "/docs/swagger-ui.css",
    "/docs/swagger-ui-bundle.js",
    "/health",
];

/// The routes, each of which answers GET.
pub fn routes() -> Router {
    let [document, page, start, style, script, health] = PATHS;
    let text = (
        [("content-type", "application/yaml; charset=utf-8")],
        TEXT.replace(DEFAULT_ADDRESS, SAME_ORIGIN),
    );
    let routes = Router::new()
        .route(document, get(text).layer(from_fn(gzipped)))
        .route(page, file("text/html; charset=utf-8", &with_operations(PAGE)))
        .route(
            start,
            file("text/javascript; charset=utf-8", include_str!("start.js")),
        )
        .route(style, packed("text/css; charset=utf-8", STYLE))
        .route(script, packed("text/javascript; charset=utf-8", SCRIPT))
        .route(health, get(async || healthy()));
    documents(routes)
}

/// The headers of a file of the page.
fn headers_of(media_type: &'static str) -> [(&'static str, &'static str); 5] {
    [
        ("content-type", media_type),
        ("content-security-policy", POLICY),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ]
}

/// A file of the page.
fn file(media_type: &'static str, text: &str) -> MethodRouter {
    get((headers_of(media_type), text.to_owned()))
}

/// The page with a list of the operations, which is on screen until Swagger UI has drawn them.
fn with_operations(page: &str) -> String {
    let (mut list, mut path, mut method) = (String::new(), "", "");
    for line in TEXT.lines() {
        if let Some(name) = line.strip_prefix("  ").and_then(|line| line.strip_suffix(':')) {
            match name.strip_prefix("  ") {
                None if name.starts_with('/') => path = name,
                Some(name) if !name.starts_with(' ') => method = name,
                _ => {}
            }
        } else if let Some(summary) = line.strip_prefix("      summary: ") {
            let method = method.to_uppercase();
            // Writing to a text never fails.
            let _ = writeln!(list, "<li><b>{method}</b> {path} <small>{summary}</small></li>");
        }
    }
    page.replace("<!-- operations -->", &list)
}

/// A file of Swagger UI, which the program holds compressed, and which a browser loads once a day.
fn packed(media_type: &'static str, compressed: &'static [u8]) -> MethodRouter {
    let kept = [("cache-control", "max-age=86400"), ("vary", "accept-encoding")];
    get(async move |request: HeaderMap| {
        let body = if accepts_gzip(&request) {
            ([("content-encoding", "gzip")], compressed).into_response()
        } else {
            gunzip(compressed).into_response()
        };
        (headers_of(media_type), kept, body)
    })
}

/// Returns the release, which shows that the service is reachable. Does not read the table, because strangers could
/// then cause cost.
fn healthy() -> impl IntoResponse {
    let headers = [
        ("content-type", "application/json; charset=utf-8"),
        ("cache-control", "no-store"),
    ];
    (
        headers,
        json!({ "status": "ok", "version": release() }).to_string(),
    )
}
