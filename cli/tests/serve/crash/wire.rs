//! HTTP requests on persistent connections, and responses with the one relevant header.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Timeout of a response.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A request. Its repetitions have the same bytes.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// Whether it is a replay (C-10).
    pub replayed: bool,
    pub body: Value,
}

/// A connection to a service.
#[derive(Debug)]
pub struct Wire {
    stream: BufReader<TcpStream>,
}

impl Ask {
    pub fn new(method: &'static str, path: impl Into<String>, body: &Value) -> Self {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body,
        }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl Wire {
    /// Connects to `http://host:port`; `None` without a listener.
    pub fn to(url: &str) -> Option<Self> {
        let stream = TcpStream::connect(url.strip_prefix("http://")?).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a request; `None` if the service died before the response was complete.
    pub fn send(&mut self, ask: &Ask) -> Option<Answer> {
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
        self.answer()
    }

    fn answer(&mut self) -> Option<Answer> {
        let status = self.line()?.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut replayed) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().ok()?,
                Some(("idempotent-replayed", value)) => replayed = value == "true",
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).expect("an answer is JSON");
        Some(Answer {
            status,
            replayed,
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
