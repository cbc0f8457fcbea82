//! `/panel` of `funil serve`: boards and reports in a browser, read-only (C-107).
//!
//! The page calls documented endpoints with the credentials that its visitor enters, and keeps them in memory only. It
//! is not part of the interface, and no function serves it. `examples/panel.html` is the same text, for any static
//! host.
//!
//! Charts are drawn by Chart.js: a published release without its reference to a source map.

use std::sync::LazyLock;

use axum::Router;
use axum::routing::get;
use shared::http::documents;
use shared::http::page::{SelfContainedPage, policy};

const HEAD: &str = include_str!("head.html");
const STYLE: &str = include_str!("style.css");
const BODY: &str = include_str!("body.html");
const LICENCE: &str = include_str!("chart.LICENSE.md");
const CHART: &str = include_str!("chart.umd.min.js");
const SOURCE_MAP: &str = "//# sourceMappingURL";
const SCRIPT: &str = concat!(
    include_str!("texts.js"),
    "\n",
    include_str!("base.js"),
    "\n",
    include_str!("board.js"),
    "\n",
    include_str!("details.js"),
    "\n",
    include_str!("reports.js"),
    "\n",
    include_str!("main.js"),
);

/// The text contains a policy for hosts that send no headers. That policy allows calls to any service, because the
/// visitor names it. Under `funil serve` the header restricts calls to this origin.
static PAGE: LazyLock<SelfContainedPage> = LazyLock::new(|| {
    let chart = CHART.split(SOURCE_MAP).next().unwrap_or_default();
    let rest = format!(
        "<style>\n{STYLE}</style>\n{BODY}<!--\nChart.js:\n{}\n-->\n<script>\n{chart}</script>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        LICENCE.trim()
    );
    let policy = policy(&rest, "https: http:");
    SelfContainedPage::new(format!(
        "{HEAD}<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n{rest}"
    ))
});

/// The page's route.
pub fn routes() -> Router {
    documents(Router::new().route("/panel", get(async || PAGE.response())))
}

/// The page's text.
#[must_use]
pub fn text() -> &'static str {
    PAGE.text()
}
