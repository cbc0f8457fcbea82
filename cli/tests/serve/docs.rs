//! `/openapi.yaml` and `/docs`: the interface as a document and as an interactive page.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::booking_page::browser::{Browser, Visitor};
use crate::running::Running;

/// Head and body of a response.
pub fn fetch(url: &str, path: &str) -> (String, Vec<u8>) {
    send(url, "GET", path, "")
}

fn headers(url: &str, method: &str, path: &str) -> String {
    send(url, method, path, "").0
}

/// Head and body of the answer to a request with these header lines.
pub fn send(url: &str, method: &str, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{headers}\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    (String::from_utf8(answer).unwrap(), body)
}

/// Whether `gzip` accepts the bytes; true if it is not installed.
fn is_gzip(bytes: &[u8]) -> bool {
    let gzip = Command::new("gzip").arg("-t").stdin(Stdio::piped()).spawn();
    let Ok(mut gzip) = gzip else { return true };
    let written = gzip.stdin.take().unwrap().write_all(bytes);
    gzip.wait().unwrap().success() && written.is_ok()
}

#[test]
fn the_document_names_its_own_address() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let (head, body) = fetch(&running.url, "/openapi.yaml");
    assert!(
        head.contains("\r\ncontent-type: application/yaml; charset=utf-8\r\n"),
        "{head}"
    );
    assert!(head.contains("\r\naccess-control-allow-origin: *\r\n"), "{head}");
    let expected = documents::TEXT.replace("http://127.0.0.1:3000", "/");
    assert_eq!(String::from_utf8(body).unwrap(), expected);
    // The service has its own routes, and rejects unknown paths.
    assert_eq!(running.get("/leads", &[]).0, 400);
    assert_eq!(
        running.get("/openapi.json", &[]),
        (
            404,
            json!({ "error": "Not found", "details": "no such route" }).to_string()
        )
    );
}

#[test]
fn the_health_check_needs_no_credentials() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let expected = json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") });
    let (head, body) = fetch(&running.url, "/health");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(String::from_utf8(body).unwrap(), expected.to_string());
    assert!(head.contains("\r\ncache-control: no-store\r\n"), "{head}");
}

/// C-5: also those of pages, and of methods that they lack.
#[test]
fn every_document_has_the_headers_of_responses() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    for (path, method, status) in documents::PATHS
        .into_iter()
        .chain(["/panel"])
        .flat_map(|path| [(path, "GET", 200), (path, "OPTIONS", 204), (path, "DELETE", 405)])
    {
        let head = headers(&running.url, method, path);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {head}");
        let media_type = if status == 405 {
            "content-type: application/json; charset=utf-8"
        } else {
            ""
        };
        for line in [
            "x-request-id: ",
            "access-control-allow-origin: *",
            "x-content-type-options: nosniff",
            media_type,
        ] {
            assert!(
                head.lines().any(|sent| sent.starts_with(line)),
                "{method} {path} {line}: {head}"
            );
        }
    }
}

/// The service serves every file of the page. The page's policy permits no inline code, no other origin and no frame.
#[test]
fn the_page_loads_nothing_from_other_origins() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let (_, page) = running.get("/docs", &[]);
    assert!(!page.contains("//"), "{page}");
    let named = page
        .split("=\"/")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0);
    let mut paths: Vec<_> = named.collect();
    assert_eq!(paths.len(), 3, "{page}");
    paths.push("docs");
    for path in paths {
        let (head, body) = fetch(&running.url, &format!("/{path}"));
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        assert!(
            head.contains("\r\nx-content-type-options: nosniff\r\n"),
            "{path}: {head}"
        );
        let policy = head.split_once("\r\ncontent-security-policy: ").unwrap().1;
        let policy = policy.split_once("\r\n").unwrap().0;
        assert!(policy.starts_with("default-src 'none'; "), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        for wide in ["unsafe", "//", "*", "https:"] {
            assert!(!policy.contains(wide), "{path}: {policy}");
        }
        let is_packed = head.contains("\r\ncontent-encoding: gzip\r\n");
        assert!(!is_packed || is_gzip(&body), "{path}");
    }
}

/// Enters the demo's credentials in the page's dialog.
fn authorize(browser: &mut Browser, running: &Running) {
    browser.click(".authorize", 1);
    browser.until("document.querySelector('.auth-container')");
    for (scheme, credential) in [
        ("apiKeyHeader", "API key"),
        ("apiKeyQuery", "API key"),
        ("accessToken", "access token"),
    ] {
        let field = format!(
            "[...document.querySelectorAll('.auth-container')]
                .find(one => one.innerText.startsWith('{scheme}')).querySelector('input').focus()"
        );
        browser.evaluate(&field);
        browser.write(&running.word(credential));
        browser.press(&["Enter"]);
    }
    browser.click(".btn-done", 1);
}

/// The page sends a prefilled read, a write with a body, and a request without credentials.
#[test]
fn operations_can_be_tried_in_the_page() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let visitor = Visitor {
        languages: "en",
        zone: "UTC",
    };
    let page = format!("{}/docs", running.url);
    browser.open(visitor, &page, "document.querySelector('.opblock')");
    authorize(&mut browser, &running);
    let operations = browser.evaluate("[...document.querySelectorAll('.opblock')].map(one => one.id)");
    let operations: Vec<String> = serde_json::from_value(operations).unwrap();
    let described = documents::TEXT.matches("\n      operationId: ").count();
    assert_eq!(operations.len(), described);
    let tried = ["getLead", "createOpportunity", "listFreeSlots"];
    let chosen = |id: &&String| {
        tried
            .iter()
            .any(|operation| id.ends_with(&format!("-{operation}")))
    };
    let chosen: Vec<_> = operations.iter().filter(chosen).collect();
    assert_eq!(chosen.len(), tried.len(), "{operations:?}");
    for id in chosen {
        let toggle = format!("document.querySelector('#{id} .opblock-summary-control').click()");
        browser.evaluate(&toggle);
        // The form appears first, then its values.
        let fields = format!(
            "[...document.querySelectorAll('#{id} [data-param-in=path] input, #{id} [data-param-name=i] input, #{id} textarea')]"
        );
        browser.until(&format!(
            "{fields}.length && {fields}.every(field => field.value)"
        ));
        browser.evaluate(&format!("document.querySelector('#{id} .execute').click()"));
        let status =
            format!("document.querySelector('#{id} .live-responses-table .response .response-col_status')");
        browser.until(&status);
        let status = browser.evaluate(&format!("{status}.innerText.trim()"));
        browser.evaluate(&toggle);
        assert!(status == "200" || status == "201", "{id}: {status}");
    }
    assert_eq!(browser.faults(), Vec::<Value>::new());
}
