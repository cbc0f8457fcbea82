//! `/openapi.yaml` and `/docs` of `funil serve`: the interface as a document, for programs, and as a page, for people.
//!
//! The page is made from the document when the service starts, so the two never differ. It is one text: it fetches nothing,
//! runs no script, and its policy admits the one style in it by its digest. Neither belongs to the interface itself: no
//! function serves them, and no credential is asked for.

mod curl;
mod document;
mod html;
mod operation;
mod page;
mod schema;
mod yaml;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The document as it is written.
pub const TEXT: &str = include_str!("../../../openapi.yaml");

static DOCUMENT: LazyLock<Result<Value, yaml::BadYaml>> = LazyLock::new(|| yaml::read(TEXT));

/// The document that is no document. It is a part of the program, and a test reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("openapi.yaml cannot be read")]
pub struct BadDocument;

/// The document, read once in a process.
///
/// # Errors
/// [`BadDocument`] where the text of this program is none.
pub fn document() -> Result<&'static Value, BadDocument> {
    DOCUMENT.as_ref().map_err(|_| BadDocument)
}

/// The two routes, of a service that answers at `url`.
pub fn routes(url: &str) -> Router {
    let page = document().map(|document| Arc::<str>::from(page::of(document, url)));
    let docs = async move || page.map_or_else(IntoResponse::into_response, |page| shown(&page));
    Router::new()
        .route("/openapi.yaml", get(text))
        .route("/docs", get(docs))
}

/// Tools that show documents run in browsers, and may read this one from anywhere.
async fn text() -> Response {
    let headers = [
        ("content-type", "application/yaml"),
        ("access-control-allow-origin", "*"),
        ("x-content-type-options", "nosniff"),
    ];
    (headers, TEXT).into_response()
}

fn shown(page: &str) -> Response {
    let style = format!("'sha256-{}'", STANDARD.encode(Sha256::digest(page::STYLE)));
    let policy = format!(
        "default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        ("content-security-policy", policy.as_str()),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    (headers, Html(page.to_owned())).into_response()
}

impl IntoResponse for BadDocument {
    fn into_response(self) -> Response {
        (axum::http::StatusCode::INTERNAL_SERVER_ERROR, self.to_string()).into_response()
    }
}
