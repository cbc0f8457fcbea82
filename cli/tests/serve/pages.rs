//! The self-contained pages: the booking page, and the panel (C-107) with its copy for other hosts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::docs::{fetch, send};
use crate::running::Running;

const BOOKING: &str = "/book/demo/demo";
const PANEL: &str = "/panel";
const COPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/panel.html");

const DISABLED_FEATURES: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), \
                        midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=()";

/// Head and text of each page.
fn pages() -> Vec<(&'static str, String, String)> {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let read = |path| {
        let (head, body) = fetch(&running.url, path);
        (path, head, String::from_utf8(body).unwrap())
    };
    [BOOKING, PANEL].map(read).into()
}

/// The contents of the elements with this name.
fn blocks<'page>(page: &'page str, element: &str) -> Vec<&'page str> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let opened = page.split(&open).skip(1);
    opened.map(|rest| rest.split_once(&close).unwrap().0).collect()
}

fn sources(blocks: &[&str]) -> String {
    let digest = |block: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(block)));
    blocks.iter().map(digest).collect::<Vec<_>>().join(" ")
}

/// The markup of head and body, and the project's own script.
fn own(page: &str) -> (&str, &str) {
    let (markup, _) = page.split_once("<script>").unwrap();
    let markup = markup.split_once("<!--").map_or(markup, |(own, _)| own);
    (markup, blocks(page, "script").pop().unwrap())
}

fn directives(page: &str, connect: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src {connect}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        sources(&blocks(page, "script")),
        sources(&blocks(page, "style"))
    )
}

/// The policy permits the blocks by their digests, and nothing else.
#[test]
fn the_headers() {
    for (path, head, page) in pages() {
        let lines: Vec<_> = head.lines().collect();
        assert_eq!(lines[0], "HTTP/1.1 200 OK", "{path}");
        let policy = format!("{}; frame-ancestors 'none'", directives(&page, "'self'"));
        for (name, value) in [
            ("cache-control", "public, max-age=300"),
            ("content-security-policy", policy.as_str()),
            ("content-type", "text/html; charset=utf-8"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", DISABLED_FEATURES),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ] {
            let line = format!("{name}: {value}");
            assert!(lines.contains(&line.as_str()), "{path} lacks {line}: {head}");
        }
    }
}

/// Browsers normalise carriage returns, which would change the digest. The policy has no digests of tags with
/// attributes.
#[test]
fn every_block_is_plain() {
    for (path, _, page) in pages() {
        for (element, expected) in [("style", 1), ("script", if path == PANEL { 2 } else { 1 })] {
            assert_eq!(blocks(&page, element).len(), expected, "{path}");
            for text in [format!("<{element}"), format!("</{element}")] {
                assert_eq!(page.matches(&text).count(), expected, "{path}: {text}");
            }
        }
        let (_, script) = own(&page);
        assert!(script.starts_with("\n\"use strict\";\n"), "{path}");
        assert!(!page.contains('\r'), "{path}");
    }
}

#[test]
fn the_pages_load_nothing_and_keep_nothing() {
    for (path, _, page) in pages() {
        let (markup, script) = own(&page);
        for text in [
            "src=",
            "@import",
            "import(",
            "url(",
            "<link",
            "<img",
            "<iframe",
            "http-equiv=\"refresh",
            "cookie",
            "indexedDB",
            "caches.",
            "serviceWorker",
            "sendBeacon",
        ] {
            assert!(!markup.contains(text) && !script.contains(text), "{path}: {text}");
        }
        // The panel keeps its session and its place for the tab, and its views in the address.
        for text in ["localStorage", "sessionStorage", "pushState"] {
            assert!(path == PANEL || !script.contains(text), "{path}: {text}");
        }
        assert!(path == PANEL || !page.contains("http"), "{path}");
        // Beyond the tab it keeps the language alone.
        let kept: Vec<_> = script.split("localStorage").skip(1).collect();
        let is_language = |rest: &&str| {
            [".getItem(\"funil.language\")", ".setItem(\"funil.language\","]
                .iter()
                .any(|call| rest.starts_with(call))
        };
        assert!(kept.iter().all(is_language), "{path}: {kept:?}");
    }
}

#[test]
fn the_pages_make_no_code_and_no_markup_of_text() {
    for (path, _, page) in pages() {
        // The libraries can, but the policy forbids it.
        for script in [own(&page).1] {
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
                assert!(!script.contains(text), "{path}: {text}");
            }
        }
    }
}

/// The policy forbids such attributes, so they would have no effect.
#[test]
fn no_attribute_is_a_style_or_a_handler() {
    for (path, _, page) in pages() {
        let (markup, script) = own(&page);
        let (head, body) = markup.split_once("</style>").unwrap();
        assert!(!head.split_once("<style>").unwrap().0.contains("style="));
        let tags = body.split('<').filter_map(|rest| rest.split_once('>'));
        let attributes: Vec<_> = tags.flat_map(|(tag, _)| tag.split_whitespace().skip(1)).collect();
        assert!(attributes.contains(&"lang=\"en\""), "{path}: {attributes:?}");
        for attribute in attributes {
            assert!(
                !attribute.starts_with("on") && !attribute.starts_with("style"),
                "{path}: {attribute}"
            );
        }
        for text in ["\"style\"", "cssText", "\"on", ".onclick", ".onsubmit"] {
            assert!(!script.contains(text), "{path}: {text}");
        }
        // The panel moves the card that is held.
        assert!(path == PANEL || !script.contains(".style"), "{path}");
    }
}

/// Both languages have the same texts, including those that the markup names.
#[test]
fn both_languages_have_every_text() {
    for (path, _, page) in pages() {
        let table = |language: &str| {
            let (_, rest) = page.split_once(&format!("\n  {language}: {{\n")).unwrap();
            let (table, _) = rest.split_once("\n  },\n").unwrap();
            let lines = table.lines().flat_map(|line| line.split(", "));
            let entries = lines.filter_map(|entry| entry.trim().split_once(": ").map(|(name, _)| name));
            let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphabetic());
            entries.filter(is_name).collect::<Vec<_>>()
        };
        let names = table("pt");
        assert_eq!(names, table("en"), "{path}");
        let (markup, _) = own(&page);
        let used: Vec<_> = ["data-text=\"", "data-label=\""]
            .into_iter()
            .flat_map(|attribute| markup.split(attribute).skip(1))
            .filter_map(|rest| rest.split_once('"'))
            .collect();
        assert!(path == PANEL || !used.is_empty(), "{path}");
        for (name, _) in used {
            assert!(names.contains(&name), "{path}: {name}");
        }
    }
}

/// With `KEEP_PANEL=1` the test writes the copy. The copy's own policy allows calls to any service, because the visitor
/// names it.
#[test]
fn the_copy_is_the_panel() {
    let (_, _, page) = pages().pop().unwrap();
    if std::env::var_os("KEEP_PANEL").is_some() {
        std::fs::write(COPY, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(COPY).unwrap() == page,
        "KEEP_PANEL=1 with this test writes examples/panel.html"
    );
    let (head, _) = page.split_once("<style>").unwrap();
    let policy = directives(&page, "https: http:");
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n");
    assert!(head.ends_with(&meta), "{head}");
    // Every copy contains the licences of the libraries.
    for licence in ["Permission is hereby granted, free of charge", "Apache License"] {
        assert!(page.contains(licence), "{licence}");
    }
}

/// C-107: `/` leads to the panel, and a slash at the end of a page's address does not matter.
#[test]
fn the_ways_to_the_pages() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    for (from, to) in [("/", "/panel"), ("/panel/", "/panel"), ("/docs/", "/docs")] {
        let (head, _) = fetch(&running.url, from);
        assert!(head.starts_with("HTTP/1.1 307"), "{from}: {head}");
        let location = format!("location: {to}");
        assert!(head.lines().any(|line| line == location), "{from}: {head}");
    }
}

/// The whole panel takes at most 60 KB on the wire.
#[test]
fn the_panel_is_small() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let (head, packed) = send(&running.url, "GET", PANEL, "accept-encoding: gzip\r\n");
    assert!(
        head.lines().any(|line| line == "content-encoding: gzip"),
        "{head}"
    );
    assert!(packed.len() <= 60_000, "{}", packed.len());
}
