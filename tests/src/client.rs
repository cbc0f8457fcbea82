//! HTTP requests on persistent connections to a service that may die.

#![expect(
    clippy::expect_used,
    reason = "a test must fail on a response that is no JSON"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Timeout of a response.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A request. Its repetitions have the same bytes.
#[derive(Debug, Clone)]
pub struct Ask {
    /// In upper case.
    pub method: String,
    /// With the query.
    pub path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Whether it is a replay (C-10).
    pub replayed: bool,
    /// Number of conditions that it ignored (C-44).
    pub ignored: Option<usize>,
    /// The body.
    pub body: Value,
}

/// A connection to a service.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Ask {
    /// A request without headers; `null` is no body.
    #[must_use]
    pub fn new(method: &str, path: impl Into<String>, body: &Value) -> Self {
        Self {
            method: method.to_owned(),
            path: path.into(),
            headers: Vec::new(),
            body: if body.is_null() {
                String::new()
            } else {
                body.to_string()
            },
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl Connection {
    /// Connects to `http://host:port`; `None` without a listener.
    #[must_use]
    pub fn to(url: &str) -> Option<Self> {
        let stream = TcpStream::connect(url.strip_prefix("http://")?).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a request; `None` if the service died before the response was complete.
    pub fn send(&mut self, ask: &Ask) -> Option<Reply> {
        let Ask {
            method, path, body, ..
        } = ask;
        let length = body.len();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\ncontent-length: {length}\r\n"
        );
        for (name, value) in &ask.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let text = format!("{head}\r\n{body}");
        self.stream.get_mut().write_all(text.as_bytes()).ok()?;
        self.reply()
    }

    fn reply(&mut self) -> Option<Reply> {
        let status = self.line()?.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut replayed, mut ignored) = (0, false, None);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().ok()?,
                Some(("idempotent-replayed", value)) => replayed = value == "true",
                Some(("x-filters-ignored", value)) => ignored = Some(value.parse().ok()?),
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).expect("an answer is JSON");
        Some(Reply {
            status,
            replayed,
            ignored,
            body,
        })
    }

    /// A complete line without its terminator.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        line.strip_suffix("\r\n").map(str::to_owned)
    }
}
