//! HTML pages without external files. Their content security policy allows only their own blocks of script and style.

use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, header};
use sha2::{Digest as _, Sha256};

/// Disabled browser features. Writing to the clipboard remains allowed, because a page may copy a link.
const DISABLED_FEATURES: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), \
                        midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=()";

/// A page without external files.
#[derive(Debug)]
pub struct SelfContainedPage {
    text: String,
    policy: String,
}

impl SelfContainedPage {
    /// A page that may call only its own origin.
    #[must_use]
    pub fn new(text: String) -> Self {
        let policy = format!("{}; frame-ancestors 'none'", policy(&text, "'self'"));
        Self { text, policy }
    }

    /// The HTML text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The response with the page.
    #[must_use]
    pub fn response(&'static self) -> Response {
        let headers: [(HeaderName, &str); 7] = [
            (header::CONTENT_SECURITY_POLICY, &self.policy),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "public, max-age=300"),
            (
                HeaderName::from_static("cross-origin-opener-policy"),
                "same-origin",
            ),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "same-origin",
            ),
            (HeaderName::from_static("permissions-policy"), DISABLED_FEATURES),
        ];
        (headers, Html(self.text.as_str())).into_response()
    }
}

/// The content security policy of a page. Allows its blocks of script and style by their digests, and calls to
/// `connect`. The digests are computed from the text, so they cannot become outdated.
#[must_use]
pub fn policy(text: &str, connect: &str) -> String {
    let digests = |element| inline(text, element).map(digest).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src {connect}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        digests("script"),
        digests("style")
    )
}

/// The contents of the elements with this name. Their tags have no attributes.
fn inline<'text>(text: &'text str, element: &str) -> impl Iterator<Item = &'text str> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let after_open_tags: Vec<_> = text.split(&open).skip(1).collect();
    after_open_tags
        .into_iter()
        .filter_map(move |rest| rest.split_once(&close).map(|(inner, _)| inner))
}

/// A policy source that allows only this text.
fn digest(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_admits_every_block_and_nothing_else() {
        let page = "<style>s</style><script>a</script>b<script></script>";
        assert_eq!(inline(page, "script").collect::<Vec<_>>(), ["a", ""]);
        // SHA-256 of the empty text.
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert_eq!(digest(""), empty);
        let expected = format!(
            "default-src 'none'; script-src {} {empty}; style-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            digest("a"),
            digest("s")
        );
        assert_eq!(policy(page, "'self'"), expected);
    }
}
