//! `/openapi.yaml` and `/docs` of `funil serve`: the interface as a document and as a page with examples to send.
//!
//! The page is Swagger UI. A crate contains its release as a zip archive, so neither the build nor the page downloads anything.
//! Both routes are outside the interface: no function serves them, and they need no credentials.

use std::io;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use rawzip::ZipArchive;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

/// The text of `openapi.yaml`.
pub const TEXT: &str = include_str!("../../../openapi.yaml");

/// The default server in the document; the served document has its own origin instead.
const DEFAULT_ADDRESS: &str = r#"default: "http://127.0.0.1:3000""#;
const SAME_ORIGIN: &str = r#"default: "/""#;

/// The page runs and fetches only content of this origin. Swagger UI's style sheet has icons in `data:` URLs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// An empty gzip header, without time and system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// The routes of the document and the page.
pub fn routes() -> Router {
    // Viewers in browsers may read the document from any origin.
    let document = (
        [
            ("content-type", "application/yaml"),
            ("access-control-allow-origin", "*"),
            ("x-content-type-options", "nosniff"),
        ],
        TEXT.replace(DEFAULT_ADDRESS, SAME_ORIGIN),
    );
    Router::new()
        .route("/openapi.yaml", get(document))
        .route(
            "/docs",
            file("text/html; charset=utf-8", include_str!("page.html")),
        )
        .route(
            "/docs/start.js",
            file("text/javascript; charset=utf-8", include_str!("start.js")),
        )
        .route(
            "/docs/swagger-ui.css",
            packed("text/css; charset=utf-8", "swagger-ui.css"),
        )
        .route(
            "/docs/swagger-ui-bundle.js",
            packed("text/javascript; charset=utf-8", "swagger-ui-bundle.js"),
        )
}

/// A file of the page, with its headers.
fn file(media_type: &'static str, body: impl IntoResponse + Clone + Send + Sync + 'static) -> MethodRouter {
    let headers = [
        ("content-type", media_type),
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    get((headers, body))
}

/// A file of Swagger UI.
fn packed(media_type: &'static str, name: &str) -> MethodRouter {
    match gzip(name) {
        Ok(bytes) => file(media_type, ([("content-encoding", "gzip")], bytes)),
        Err(cause) => get((StatusCode::INTERNAL_SERVER_ERROR, cause.to_string())),
    }
}

/// A file of Swagger UI, compressed. The archive contains it deflated, so adding a header and a trailer makes it gzip
/// without decompressing.
fn gzip(name: &str) -> Result<Vec<u8>, rawzip::Error> {
    let path = format!("/dist/{name}");
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED)?;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry()? {
        if entry.file_path().as_ref().ends_with(path.as_bytes()) {
            let mut bytes = GZIP_HEADER.to_vec();
            bytes.extend(archive.get_entry(entry.wayfinder())?.data());
            bytes.extend(entry.crc32().to_le_bytes());
            bytes.extend(&entry.uncompressed_size_hint().to_le_bytes()[..4]);
            return Ok(bytes);
        }
    }
    Err(io::Error::from(io::ErrorKind::NotFound).into())
}
