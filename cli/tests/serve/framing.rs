//! Framing of requests on every route (C-85): no byte of a body, and nothing behind an ambiguous head, is read as a
//! request.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::Running;

/// A request hidden in a body. No other request of these tests gets its answer.
const HIDDEN: &str = "GET /docs/start.js HTTP/1.1\r\nhost: localhost\r\nx-filler: ";
/// The last request of a connection, which is answered if the connection is still open.
const LAST: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/// Bytes that the library reads at once from a new connection. It may answer before it reads the others.
const FIRST_READ: usize = 8192;

/// Status and body of an answer.
type Answer = (u16, String);

/// Method and path of every route, of unknown paths, of wrong methods, and of preflights.
fn routes() -> Vec<(&'static str, String)> {
    let mut paths: Vec<_> = documents::PATHS.map(str::to_owned).into();
    for path in ["/panel", "/book/demo/demo", "/book/demo/demo/", "/", "/nowhere"] {
        paths.push(path.to_owned());
    }
    let mut routes: Vec<_> = paths.iter().map(|path| ("GET", path.clone())).collect();
    for line in documents::TEXT.lines() {
        let line = line.trim_end_matches(':');
        if line.starts_with("  /") {
            paths.push(line.trim().replace(['{', '}'], ""));
        }
        let methods = ["    get", "    post", "    put", "    delete"];
        if let Some(at) = methods.iter().position(|method| *method == line) {
            let path = paths.last().unwrap().clone();
            routes.push((["GET", "POST", "PUT", "DELETE"][at], path));
        }
    }
    assert!(
        routes.len() > 40 && routes.contains(&("PUT", "/leads".to_owned())),
        "{routes:?}"
    );
    for path in paths {
        routes.extend([("PATCH", path.clone()), ("OPTIONS", path)]);
    }
    routes
}

/// A hidden request with this length.
fn hidden(length: usize) -> String {
    let filler = "x".repeat(length - HIDDEN.len() - 4);
    format!("{HIDDEN}{filler}\r\n\r\n")
}

fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

/// Bodies that have a request in them.
fn bodies() -> Vec<String> {
    let mut bodies = Vec::new();
    for half in [100, 3000] {
        // Encoding of its spaces would lengthen the first line by the length of the hidden request.
        let line = format!("GET /{}x HTTP/1.1\r\n", " ".repeat(half));
        let end = "\r\n0\r\n\r\n";
        bodies.push(line.clone() + &hidden(2 * half));
        bodies.push(line + end + &hidden(2 * half - end.len()));
        bodies.push("\n".repeat(2 * half) + &hidden(2 * half));
    }
    bodies
}

/// Head and body of a request whose body consists of a filler and `body`. `room` is the length of head and filler; `None`
/// for no filler.
fn framed(start: &str, body: &str, is_chunked: bool, room: Option<usize>) -> (String, String) {
    if is_chunked {
        let head = format!("{start}transfer-encoding: chunked\r\n\r\n");
        let filler = room.map(|room| chunk(&"x".repeat(room - head.len() - chunk("").len() - 3)));
        return (head, filler.unwrap_or_default() + &chunk(body) + "0\r\n\r\n");
    }
    let head = |length| format!("{start}content-length: {length:08}\r\n\r\n");
    let filler = "x".repeat(room.map_or(0, |room| room - head(0).len()));
    (head(filler.len() + body.len()), filler + body)
}

/// Headers with lengths that contradict each other or are invalid, and bodies that are a request by one of them.
fn ambiguous() -> Vec<(String, String)> {
    let inside = chunk(&hidden(200)) + "0\r\n\r\n";
    let behind = format!("0\r\n\r\n{}", hidden(200));
    let length = format!("content-length: {}\r\n", behind.len());
    let chunked = "transfer-encoding: chunked\r\n";
    let mut heads = vec![
        (format!("{length}{chunked}"), behind.clone()),
        (format!("{chunked}{length}"), behind.clone()),
        (format!("content-length: 4\r\n{chunked}"), inside.clone()),
        (format!("{chunked}content-length: 4\r\n"), inside.clone()),
        (format!("content-length: x\r\n{chunked}"), inside.clone()),
        (format!("{chunked}content-length: x\r\n"), behind.clone()),
        (format!("content-length: 5\r\n{length}"), behind.clone()),
        (format!("{length}content-length: 5\r\n"), behind.clone()),
        (format!("{length}{length}"), behind.clone()),
    ];
    for wrong in ["5, 5", "+5", "-5", "0x5", "5 5", "5;", "", "99999999999999999999"] {
        heads.push((format!("content-length: {wrong}\r\n"), behind.clone()));
    }
    for wrong in [
        "transfer-encoding: identity",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: xchunked",
        "transfer-encoding: \"chunked\"",
        "transfer-encoding : chunked",
        "transfer-encoding:\r\n chunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        " transfer-encoding: chunked",
    ] {
        heads.push((format!("{wrong}\r\n{length}"), behind.clone()));
    }
    heads
}

/// The answers on a connection that receives these parts one after the other, until it is closed.
fn answers(url: &str, parts: &[&str]) -> Vec<Answer> {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for part in parts {
        // The service may have closed the connection.
        let _ = stream.write_all(part.as_bytes());
        // The service may answer before the next part.
        thread::sleep(Duration::from_millis(20));
    }
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the connection is closed");
    let mut rest = &bytes[..];
    let mut answers = Vec::new();
    while let Some(end) = rest.windows(4).position(|end| end == b"\r\n\r\n") {
        let head = String::from_utf8(rest[..end].to_vec()).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let (body, after) = rest[end + 4..].split_at(length.map_or(0, |length| length.parse().unwrap()));
        answers.push((
            head[9..12].parse().unwrap(),
            String::from_utf8_lossy(body).into_owned(),
        ));
        rest = after;
    }
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&bytes));
    answers
}

/// Runs `ask` with every route of a service, several at once.
fn on_every_route(ask: impl Fn(&str, &str, &str) + Sync) {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let routes = routes();
    thread::scope(|scope| {
        for routes in routes.chunks(4) {
            let (ask, url) = (&ask, &running.url);
            scope.spawn(move || routes.iter().for_each(|(method, path)| ask(url, method, path)));
        }
    });
}

/// Requires an answer to the first request, and to nothing else but the last one.
fn assert_one_answer(answers: &[Answer], sent: &str) {
    let healthy = |answer: &Answer| answer.0 == 200 && answer.1.starts_with(r#"{"status":"ok""#);
    let is_right = match answers {
        [_] => true,
        [_, last] => healthy(last),
        _ => false,
    };
    assert!(is_right, "{sent}: {answers:?}");
}

#[test]
fn no_body_is_read_as_a_request() {
    on_every_route(|url, method, path| {
        let start = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
        for (body, is_chunked) in bodies().iter().flat_map(|body| [(body, false), (body, true)]) {
            let (head, text) = framed(&start, body, is_chunked, None);
            let (full_head, full_text) = framed(&start, body, is_chunked, Some(FIRST_READ));
            for parts in [
                &[&format!("{full_head}{full_text}{LAST}")[..]][..],
                &[&format!("{head}{text}{LAST}")],
                &[&head, &text, LAST],
                &[&head, &text[..text.len() / 2], &text[text.len() / 2..], LAST],
            ] {
                assert_one_answer(&answers(url, parts), &head);
            }
        }
    });
}

#[test]
fn nothing_behind_an_ambiguous_length_is_read_as_a_request() {
    on_every_route(|url, method, path| {
        for (headers, body) in ambiguous() {
            for version in ["1.1", "1.0"] {
                let head = format!("{method} {path} HTTP/{version}\r\nhost: localhost\r\n{headers}\r\n");
                for parts in [&[&format!("{head}{body}{LAST}")[..]][..], &[&head, &body, LAST]] {
                    assert_one_answer(&answers(url, parts), &head);
                }
            }
        }
    });
}

#[test]
fn a_request_names_one_host() {
    let refused = json!({ "error": "Invalid request", "details": "host: must be sent once" });
    on_every_route(|url, method, path| {
        let ask = |version: &str, hosts: &str| {
            let request = format!("{method} {path} HTTP/{version}\r\n{hosts}connection: close\r\n\r\n");
            answers(url, &[&request]).remove(0)
        };
        let (status, body) = ask("1.1", "host: localhost\r\n");
        assert_eq!(ask("1.0", ""), (status, body), "{method} {path}");
        for (version, hosts) in [
            ("1.1", ""),
            ("1.1", "host: localhost\r\nhost: localhost\r\n"),
            ("1.1", "host: localhost\r\nx-y: 1\r\nhost: other\r\n"),
            ("1.0", "host: localhost\r\nhost: other\r\n"),
        ] {
            let (status, body) = ask(version, hosts);
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            assert_eq!((status, &body), (400, &refused), "{method} {path} {hosts}");
        }
    });
}

/// A client may close its sending side after the request.
#[test]
fn a_closed_sending_side_is_answered() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let (key, token) = (running.word("API key"), running.word("access token"));
    for number in 0..40 {
        let body = json!({ "firstname": format!("Ana {number}") }).to_string();
        let mut stream = TcpStream::connect(running.url.strip_prefix("http://").unwrap()).unwrap();
        write!(
            stream,
            "POST /leads?i=demo HTTP/1.1\r\nhost: localhost\r\napitoken: {key}\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let created = format!(r#""firstname":"Ana {number}""#);
        assert!(
            answer.starts_with("HTTP/1.1 200 ") && answer.contains(&created),
            "{answer}"
        );
    }
}
