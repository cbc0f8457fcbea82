//! `GET /book/{instance}/{keyName}`: the booking page for anyone with a calendar's link.
//!
//! The page is the same for every link: its script reads instance and name from its own address and calls endpoint 13
//! like any client. So it needs no table, reveals nothing before the service has checked the link, and can be cached.
//! It is this function's only response that is not JSON (C-5).
//!
//! Its content security policy allows only the style and the script below, by their digests.

use std::sync::LazyLock;

use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, header};
use sha2::{Digest as _, Sha256};

/// One self-contained text, assembled from one file per language.
const PAGE: &str = concat!(
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

/// Computed from the text, so they cannot become outdated.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let (script, style) = (digest(inline("script")), digest(inline("style")));
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
});

/// Browser features that are disabled. The page only needs to copy a link.
const SHUT_OFF: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), \
                        midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=()";

/// The page.
pub async fn page() -> Response {
    let headers: [(HeaderName, &str); 7] = [
        (header::CONTENT_SECURITY_POLICY, &POLICY),
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
        (HeaderName::from_static("permissions-policy"), SHUT_OFF),
    ];
    (headers, Html(PAGE)).into_response()
}

/// The content of the page's only element with a name; empty if there is none.
fn inline(element: &str) -> &'static str {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let inner = PAGE
        .split_once(&open)
        .and_then(|(_, rest)| rest.split_once(&close));
    inner.map_or("", |(inner, _)| inner)
}

/// A policy source that allows only this text.
fn digest(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complete response except for its digests, which a browser recomputes.
    #[tokio::test]
    async fn the_answer() {
        let answer = page().await;
        assert_eq!(answer.status(), 200);
        let mut headers: Vec<_> = answer
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        headers.sort_unstable();
        let expected = [
            ("cache-control", "public, max-age=300"),
            ("content-security-policy", POLICY.as_str()),
            ("content-type", "text/html; charset=utf-8"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", SHUT_OFF),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ];
        assert_eq!(headers, expected);
        let body = axum::body::to_bytes(answer.into_body(), PAGE.len())
            .await
            .unwrap();
        assert_eq!(body, PAGE);
    }

    #[test]
    fn the_policy_admits_the_two_inline_blocks_and_nothing_else() {
        let (script, style) = (inline("script"), inline("style"));
        assert!(script.starts_with("\n\"use strict\";\n") && script.ends_with("begin(null);\n"));
        assert!(style.starts_with("\n:root {\n") && style.ends_with("}\n"));
        let directives: Vec<_> = POLICY.split("; ").collect();
        let expected = [
            "default-src 'none'",
            &format!("script-src {}", digest(script)),
            &format!("style-src {}", digest(style)),
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ];
        assert_eq!(directives, expected);
        // The digest of empty text, from the standard's examples.
        assert_eq!(
            digest(""),
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        );
    }

    /// A browser normalises a carriage return, so its digest would differ.
    #[test]
    fn the_page_has_one_of_each_block_and_no_carriage_return() {
        for element in ["script", "style"] {
            for text in [format!("<{element}"), format!("</{element}")] {
                assert_eq!(PAGE.matches(&text).count(), 1, "{text}");
            }
        }
        assert!(!PAGE.contains('\r'));
    }

    #[test]
    fn the_page_fetches_nothing_and_keeps_nothing() {
        for text in [
            "http:",
            "https:",
            "src=",
            "@import",
            "url(",
            "<link",
            "<img",
            "<iframe",
            "cookie",
            "localStorage",
            "sessionStorage",
            "indexedDB",
        ] {
            assert!(!PAGE.contains(text), "{text}");
        }
    }

    #[test]
    fn the_page_makes_no_code_and_no_markup_of_text() {
        for text in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "createContextualFragment",
            "DOMParser",
            "srcdoc",
            "javascript:",
            "eval(",
            "new Function",
        ] {
            assert!(!PAGE.contains(text), "{text}");
        }
    }

    /// The policy forbids all of them, so they would not work.
    #[test]
    fn no_attribute_is_a_style_or_a_handler() {
        let (markup, script) = PAGE.split_once("<script>").unwrap();
        let (head, body) = markup.split_once("</style>").unwrap();
        assert!(!head.split_once("<style>").unwrap().0.contains("style="));
        let tags = body.split('<').filter_map(|rest| rest.split_once('>'));
        let attributes: Vec<_> = tags.flat_map(|(tag, _)| tag.split_whitespace().skip(1)).collect();
        assert!(attributes.contains(&"role=\"status\""), "{attributes:?}");
        for attribute in attributes {
            assert!(
                !attribute.starts_with("on") && !attribute.starts_with("style"),
                "{attribute}"
            );
        }
        for text in [".style", "\"style\"", "cssText", "\"on", ".onclick", ".onsubmit"] {
            assert!(!script.contains(text), "{text}");
        }
    }

    /// Both languages have the same texts, including all that the markup names.
    #[test]
    fn both_languages_have_every_text() {
        let table = |language: &str| {
            let (_, rest) = PAGE.split_once(&format!("\n  {language}: {{\n")).unwrap();
            let (table, _) = rest.split_once("\n  },\n").unwrap();
            let lines = table.lines().flat_map(|line| line.split(", "));
            let entries = lines.filter_map(|entry| entry.trim().split_once(": ").map(|(name, _)| name));
            let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphabetic());
            entries.filter(is_name).collect::<Vec<_>>()
        };
        let names = table("pt");
        assert_eq!(names, table("en"));
        let (markup, _) = PAGE.split_once("<script>").unwrap();
        let used: Vec<_> = markup
            .split("data-text=\"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .collect();
        assert!(!used.is_empty());
        for (name, _) in used {
            assert!(names.contains(&name), "{name}");
        }
    }
}
