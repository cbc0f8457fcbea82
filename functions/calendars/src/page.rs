//! `GET /book/{instance}/{keyName}`: the booking page for anyone with a calendar's link.
//!
//! The page is the same for every link: its script reads instance and name from its own address and calls endpoint 13
//! like any client. So it needs no table, reveals nothing before the service has checked the link, and can be cached.
//! It is this function's only response that is not JSON (C-5).

use std::sync::LazyLock;

use axum::response::Response;
use shared::http::page::SelfContainedPage;

/// One self-contained text, assembled from one file per language.
static PAGE: LazyLock<SelfContainedPage> = LazyLock::new(|| {
    let text = concat!(
        include_str!("page/head.html"),
        "<style>\n",
        include_str!("page/style.css"),
        "</style>\n",
        include_str!("page/body.html"),
        "<script>\n",
        include_str!("page/texts.js"),
        "\n",
        include_str!("page/page.js"),
        "</script>\n</body>\n</html>\n",
    );
    SelfContainedPage::new(text.to_owned())
});

/// The page.
pub async fn page() -> Response {
    PAGE.response()
}
