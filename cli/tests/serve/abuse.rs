//! Misuse of the ports of `funil serve`: too many connections, slow ones, large requests, and other
//! protocols.

use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::running::{Running, raw};

/// More connections than the process's first limit of open files.
const CONNECTIONS: usize = 600;

fn connect(url: &str, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream
}

/// Idle connections make nobody wait, the limit of open files is raised, and a stop waits at most 10 s for incomplete
/// requests.
#[cfg(unix)]
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how long an answer and a stop take is what is tested"
)]
fn idle_and_incomplete_requests_block_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -S -n 256; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_funil"),
    ]);
    command.args(["serve", "--empty", "--port", "0", "--data"]);
    command.arg(home.path().join("data"));
    let running = Running::run(command, home.path());
    let idle: Vec<_> = (0..CONNECTIONS).map(|_| connect(&running.url, "")).collect();
    let _half = connect(&running.url, "POST / HTTP/1.1\r\nhost: localhost\r\nx-");
    let asked = Instant::now();
    assert_eq!(running.get("/leads?i=demo", &[]).0, 401);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    drop(idle);
    let body = "HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    let _halves = [
        connect(&running.url, &format!("POST /voip/webhook?i=demo {body}")),
        connect(&running.url, "POST / HT"),
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

/// C-5: what is not HTTP gets the library's answer without a body, and is never changed into HTTP.
#[test]
fn what_is_not_http_gets_an_empty_answer() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let get = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let huge = "x".repeat(200_000);
    for (request, status) in [
        (get(&format!("/leads?i=demo&search={huge}"), ""), 431),
        (get("/leads", &format!("x-filler: {huge}\r\n")), 431),
        (get("/leads", &"x-y: 1\r\n".repeat(200)), 431),
        (get("/leads", "content-length: 1\r\ncontent-length: 2\r\n"), 400),
        (get("/leads", "no header\r\n"), 400),
        (get("/leads?i=demo&search=maria silva", ""), 400),
        (get("/leads?i=demo&search=\"maria\"", ""), 400),
        (get("/leads?i=demo&search=<maria>", ""), 400),
        (get("/leads?i=demo&search=Jo\u{e3}o", ""), 400),
        ("\u{16}\u{3}\u{1}\0\0\r\n\r\n".to_owned(), 400),
    ] {
        // In Latin-1.
        let bytes: Vec<_> = request
            .chars()
            .map(|character| u8::try_from(character).unwrap())
            .collect();
        let answer = raw(&running.url, &bytes);
        let shown: String = request.chars().take(80).collect();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{shown}: {answer}"
        );
        assert!(answer.contains("\r\ncontent-length: 0\r\n"), "{shown}: {answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{shown}: {answer}");
    }
    let raw_text = "/leads?i=demo&search=Jo\u{e3}o&query={leads{id}}";
    assert_eq!(
        running.get(raw_text, &[]).0,
        401,
        "UTF-8 and braces need no encoding"
    );
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
        assert_eq!(answer.contains("x-request-id: "), status == "413", "{answer}");
    }
}
