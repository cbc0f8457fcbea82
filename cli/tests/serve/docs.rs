//! `/openapi.yaml` and `/docs`: the interface as a document and as a page.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use crate::booking_page::browser::{Browser, Visitor};
use crate::running::Running;

/// An element's text as the page has it, read back.
fn plain(html: &str) -> String {
    let quotes = html.replace("&quot;", "\"").replace("&#39;", "'");
    quotes
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// The texts between two marks.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts
        .filter_map(|part| part.split_once(close).map(|(inner, _)| inner))
        .collect()
}

/// The head of an answer.
fn head(url: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    format!("{head}\r\n")
}

#[test]
fn the_document_is_served_as_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    assert_eq!(
        running.get("/openapi.yaml", &[]),
        (200, funil::docs::TEXT.to_owned())
    );
    let head = head(&running.url, "/openapi.yaml");
    assert!(head.contains("\r\ncontent-type: application/yaml\r\n"), "{head}");
    assert!(head.contains("\r\naccess-control-allow-origin: *\r\n"), "{head}");
    // The service's own routes are there beside it, and what is nowhere is still answered by the service.
    assert_eq!(running.get("/leads", &[]).0, 400);
    assert_eq!(
        running.get("/openapi.json", &[]),
        (404, json!({ "error": "Not found" }).to_string())
    );
}

#[test]
fn the_page_shows_every_operation_and_every_schema() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let (status, page) = running.get("/docs", &[]);
    assert_eq!(status, 200);
    let document = funil::docs::document().unwrap();
    let ids: Vec<_> = between(&page, " id=\"", "\"");
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "an id is there twice"
    );
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "delete"] {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let id = operation["operationId"].as_str().unwrap();
            let section = between(&page, &format!("<article id=\"{id}\">"), "</article>");
            let section = section.first().expect(id);
            assert!(
                section.contains(&format!("{}</b> <code>{path}</code>", method.to_uppercase())),
                "{id}"
            );
            for status in operation["responses"].as_object().unwrap().keys() {
                assert!(section.contains(&format!("<b>{status}</b>")), "{id} {status}");
            }
            let beginning = format!("\"{}{}", running.url, path.split('{').next().unwrap());
            assert!(plain(section).contains(&beginning), "{id}");
        }
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(ids.contains(&format!("schema-{name}").as_str()), "{name}");
    }
    for link in between(&page, "href=\"#", "\"") {
        assert!(ids.contains(&link), "{link} leads nowhere");
    }
}

/// It is one text, without code and without a reference to anything else; nothing of its notation is left in it.
#[test]
fn the_page_fetches_nothing_and_runs_nothing() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let (_, page) = running.get("/docs", &[]);
    for text in [
        "<script",
        "src=",
        "style=",
        "http://www",
        "@import",
        "url(",
        "<link",
        "onclick",
        "`",
        "**",
    ] {
        assert!(!page.contains(text), "{text}");
    }
}

/// Each command line of the page, typed into a shell with the demo's credentials, is answered with a success.
#[test]
fn the_command_lines_work() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: there is no curl here to try the page's lines with");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &[]);
    let (key, token) = (running.word("API key"), running.word("access token"));
    let (_, page) = running.get("/docs", &[]);
    let mut count = 0;
    for line in between(&page, "<pre tabindex=\"0\">curl", "</pre>") {
        let line = format!("curl -sS -o /dev/null -w '%{{http_code}}'{}", plain(line));
        let shell = Command::new("sh")
            .args(["-c", &line])
            .env("KEY", &key)
            .env("TOKEN", &token)
            .output()
            .unwrap();
        let status = String::from_utf8(shell.stdout).unwrap();
        // The one that books names a day, and some day that is past.
        let booking = line.contains("/calendarmeeting?") && status == "409";
        assert!(
            ["200", "201"].contains(&status.as_str()) || booking,
            "{status}: {line}"
        );
        count += 1;
    }
    assert_eq!(count, 20);
}

/// Narrow, wide, light and dark: nothing is cut off, nothing is refused by the page's own policy, and its style applies.
#[test]
fn the_page_fits_every_screen() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let visitor = Visitor {
        languages: "en",
        zone: "UTC",
    };
    for (width, scheme, ground) in [
        (360, "light", "rgb(242, 246, 245)"),
        (360, "dark", "rgb(15, 21, 22)"),
        (1200, "light", "rgb(242, 246, 245)"),
    ] {
        browser.open(
            visitor,
            &format!("{}/docs", running.url),
            "document.readyState === 'complete'",
        );
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.command("Emulation.setEmulatedMedia", &media);
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": true });
        browser.command("Emulation.setDeviceMetricsOverride", &size);
        let seen = browser.evaluate(
            "[document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor, violations.length]",
        );
        assert_eq!(seen, json!([width, ground, 0]), "{width} {scheme}");
        assert_eq!(browser.faults(), Vec::<Value>::new(), "{width} {scheme}");
    }
}
