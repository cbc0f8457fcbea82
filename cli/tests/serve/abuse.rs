//! Misuse of the ports of `funil serve`: too many connections, slow ones, large requests, and other
//! protocols.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::running::{Running, raw};

/// More connections than either port accepts, for a process with a lower limit of open files.
const CONNECTIONS: usize = 600;
const PLAIN: &str = "content-type: application/json";

fn connect(url: &str, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream
}

/// Idle connections are closed after 10 s, the limit of open files is raised, and a stop waits at most 10 s
/// for incomplete requests.
#[cfg(unix)]
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how long a stop takes is what is tested"
)]
fn idle_and_incomplete_requests_block_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -S -n 256; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_funil"),
    ]);
    command.args([
        "serve",
        "--empty",
        "--port",
        "0",
        "--dynamodb-port",
        "0",
        "--data",
    ]);
    command.arg(home.path().join("data"));
    let running = Running::run(command, "");
    let idle: Vec<_> = (0..CONNECTIONS).map(|_| connect(&running.url, "")).collect();
    let _half = connect(running.endpoint(), "POST / HTTP/1.1\r\nhost: localhost\r\nx-");
    assert_eq!(running.get("/leads?i=demo", &[]).0, 401);
    drop(idle);
    let body = "HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    let _halves = [
        connect(&running.url, &format!("POST /voip/webhook?i=demo {body}")),
        connect(running.endpoint(), &format!("POST / {body}")),
        connect(running.endpoint(), "POST / HT"),
    ];
    assert_eq!(
        running.get("/leads?i=demo", &[]).0,
        401,
        "they were accepted before"
    );
    let asked = Instant::now();
    let log = running.stop();
    assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
    assert!(!log.contains("could not be accepted"), "{log}");
}

/// Requires that the response to the shown request has this status and body, a request id and CORS headers.
fn assert_is_ours(answer: &str, status: u16, body: &str, shown: &str) {
    let (head, answered) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(
        head.starts_with(&format!("HTTP/1.1 {status} ")),
        "{shown}: {head}"
    );
    assert_eq!(answered, body, "{shown}");
    let length = format!("content-length: {}", body.len());
    for header in [
        PLAIN,
        "access-control-allow-origin: *",
        "connection: close",
        &length,
    ] {
        assert!(
            head.lines().any(|line| line == header),
            "{shown}: {header} in {head}"
        );
    }
    let id = head.lines().find_map(|line| line.strip_prefix("x-request-id: "));
    assert_eq!(id.map(str::len), Some(32), "{head}");
}

/// C-5: errors of the HTTP library have the common format too.
#[test]
fn invalid_http_gets_the_common_error_format() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let get = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let invalid = r#"{"error":"Invalid request","details":"the request is not HTTP/1.1"}"#;
    let search = "x".repeat(70_000);
    // Twice hyper's buffer, because a smaller head may arrive between two checks of its size.
    let huge = format!("x-filler: {}\r\n", "x".repeat(2_000_000));
    let many = "x-y: 1\r\n".repeat(200);
    let too_large = r#"{"error":"Request header fields too large"}"#;
    for (request, status, body) in [
        (
            get(&format!("/leads?i=demo&search={search}"), ""),
            414,
            r#"{"error":"URI too long"}"#,
        ),
        (get("/leads", &huge), 431, too_large),
        (get("/leads", &many), 431, too_large),
        (
            get("/leads", "content-length: 1\r\ncontent-length: 2\r\n"),
            400,
            invalid,
        ),
        (get("/leads", "no header\r\n"), 400, invalid),
        ("\u{16}\u{3}\u{1}\0\0\r\n\r\n".to_owned(), 400, invalid),
    ] {
        let answer = raw(&running.url, request.as_bytes());
        let shown = &request[..request.len().min(80)];
        assert_is_ours(&answer, status, body, shown);
    }
    let log = running.stop();
    assert_eq!(log.matches("\"status\":414").count(), 1, "{log}");
}

/// Bytes that are invalid in a URI have the same meaning as in the cloud, in the first request of a connection and in
/// later ones.
#[test]
fn raw_bytes_in_the_query_are_encoded() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let (key, token) = (running.word("API key"), running.word("access token"));
    let headers = format!("host: localhost\r\napitoken: {key}\r\nauthorization: Bearer {token}\r\n");
    let query = "search=maria silva&limit=1&query={leads{fullname}}&x=<\"#\">";
    let first = format!("GET /leads?i=demo&{query} HTTP/1.1\r\n{headers}\r\n");
    let last = format!("GET /leads?i=demo&{query} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n");
    let mut stream = connect(&running.url, &first);
    let found = r#"{"data":{"leads":[{"fullname":"Maria Silva"}]}}"#;
    let mut answer = [0; 4096];
    let length = stream.read(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]);
    assert!(answer.ends_with(found), "{answer}");
    stream.write_all(last.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(found), "{answer}");
}

/// The service rejects a body by its declared length, before the body is sent.
#[test]
fn too_large_bodies_are_rejected_at_once() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    for headers in [
        "content-length: 1000000000\r\n",
        "content-length: 99999999999999999999\r\n",
        "content-length: 300000\r\nexpect: 100-continue\r\n",
    ] {
        let request = format!("POST /voip/webhook?i=demo HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        let answer = raw(&running.url, request.as_bytes());
        let status = if headers.contains("99999999") {
            "400"
        } else {
            "413"
        };
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{headers}{answer}"
        );
        assert!(answer.contains("x-request-id: "), "{answer}");
    }
}
