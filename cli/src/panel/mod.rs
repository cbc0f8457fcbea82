//! `/panel` of `funil serve`: boards that people work in, leads and reports in a browser (C-107).
//!
//! The page calls documented endpoints with the credentials that its visitor enters or that a sign-in link has, and keeps
//! them for its tab only. It is not part of the interface, and no function serves it. `examples/panel.html` is the same
//! text, for any static host.
//!
//! Views are drawn by Preact with its hooks and htm: published releases without their references to source maps.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::response::{Redirect, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, header};
use shared::http::page::{SelfContainedPage, policy};
use shared::http::{accepts_gzip, documents};

const HEAD: &str = include_str!("head.html");
const STYLE: &str = include_str!("style.css");
const BODY: &str = include_str!("body.html");
/// The libraries and their licences, by name.
const LIBRARIES: [(&str, &str, &str); 3] = [
    ("Preact", PREACT_LICENCE, include_str!("vendor/preact.min.js")),
    ("Preact hooks", "as Preact", include_str!("vendor/hooks.umd.js")),
    (
        "htm",
        include_str!("vendor/htm.LICENSE"),
        include_str!("vendor/htm.umd.js"),
    ),
];
const PREACT_LICENCE: &str = include_str!("vendor/preact.LICENSE");
const SOURCE_MAP: &str = "//# sourceMappingURL";
/// The parts of the page's own script, in the order in which they need each other.
const SCRIPTS: [&str; 12] = [
    include_str!("texts.js"),
    include_str!("base.js"),
    include_str!("service.js"),
    include_str!("address.js"),
    include_str!("board.js"),
    include_str!("drag.js"),
    include_str!("cards.js"),
    include_str!("dialog.js"),
    include_str!("deal.js"),
    include_str!("leads.js"),
    include_str!("reports.js"),
    include_str!("main.js"),
];

/// The text contains a policy for hosts that send no headers. That policy allows calls to any service, because the
/// visitor names it. Under `funil serve` the header restricts calls to this origin.
static PAGE: LazyLock<SelfContainedPage> = LazyLock::new(|| {
    let licences = LIBRARIES.map(|(name, licence, _)| format!("{name}:\n{}\n\n", licence.trim()));
    let libraries = LIBRARIES.map(|(_, _, text)| text.split(SOURCE_MAP).next().unwrap_or_default());
    let (licences, libraries) = (licences.concat(), libraries.join("\n"));
    let script = SCRIPTS.join("\n");
    let rest = format!(
        "<style>\n{STYLE}</style>\n{BODY}<!--\n{licences}-->\n<script>\n{libraries}</script>\n<script>\n{script}</script>\n\
         </body>\n</html>\n"
    );
    let policy = policy(&rest, "https: http:");
    SelfContainedPage::new(format!(
        "{HEAD}<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n{rest}"
    ))
});

/// The page, compressed once at the best level.
static PACKED: LazyLock<Option<Vec<u8>>> = LazyLock::new(|| {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text().as_bytes()).ok()?;
    packed.finish().ok()
});

/// The page's route, and addresses that lead to pages: `/` to the panel, and those with a slash at the end.
pub fn routes() -> Router {
    let mut routes = Router::new().route("/panel", get(page));
    for (from, to) in [("/", "/panel"), ("/panel/", "/panel"), ("/docs/", "/docs")] {
        routes = routes.route(from, get(async move || Redirect::temporary(to)));
    }
    documents(routes)
}

async fn page(request: HeaderMap) -> Response {
    let mut answer = PAGE.response();
    let accepted = HeaderValue::from_static("accept-encoding");
    answer.headers_mut().insert(header::VARY, accepted);
    if let Some(packed) = PACKED.as_deref().filter(|_| accepts_gzip(&request)) {
        let gzip = HeaderValue::from_static("gzip");
        answer.headers_mut().insert(header::CONTENT_ENCODING, gzip);
        answer.headers_mut().remove(header::CONTENT_LENGTH);
        *answer.body_mut() = Body::from(packed);
    }
    answer
}

/// The page's text.
#[must_use]
pub fn text() -> &'static str {
    PAGE.text()
}
