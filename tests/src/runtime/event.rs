//! Recorded events of API Gateway's HTTP API (payload version 2.0), of the table's stream and of the
//! schedule, with the responses that tests/events/README.md lists.

use std::fs;
use std::path::PathBuf;

use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};

/// A recorded event.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Name in the function's file.
    pub name: String,
    /// The function's name in the template.
    pub function: String,
    /// The response in README.md.
    pub answer: Expected,
    text: String,
}

/// An expected response; for HTTP, the status before the body. `…` at its end matches the rest.
#[derive(Debug, Clone)]
pub struct Expected(String);

/// Directory of the events.
pub fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/events"))
}

/// The events in a function's file by name.
pub fn packed(function: &str) -> Map<String, Value> {
    let text = fs::read_to_string(directory().join(format!("{function}.json"))).expect("a file of events");
    serde_json::from_str(&text).expect("events by name")
}

impl Recorded {
    /// All events, in the order of README.md.
    pub fn all() -> Vec<Self> {
        let readme = fs::read_to_string(directory().join("README.md")).expect("the list of events");
        let rows = readme.lines().filter(|line| line.starts_with("| `"));
        let events: Vec<_> = rows.map(Self::read).collect();
        assert!(!events.is_empty(), "README.md lists events");
        events
    }

    /// The events of a function.
    pub fn of(function: &str) -> Vec<Self> {
        let mut events = Self::all();
        events.retain(|event| event.function == function);
        assert!(!events.is_empty(), "{function} has events");
        events
    }

    /// The event in a file.
    pub fn named(name: &str) -> Self {
        let mut events = Self::all().into_iter();
        events
            .find(|event| event.name == name)
            .expect("an event of this name")
    }

    /// Parses ``| `<name>` | `<function>` | <answer> | <what it shows> |``.
    fn read(row: &str) -> Self {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, function, answer, _] = cells[..] else {
            panic!("not a row of four cells: {row}");
        };
        let plain = |cell: &str| cell.replace('`', "");
        let (name, function) = (plain(name), plain(function));
        let event = packed(&function).remove(&name);
        Self {
            text: event
                .unwrap_or_else(|| panic!("{function}.json has no {name}"))
                .to_string(),
            function,
            answer: Expected(plain(answer)),
            name,
        }
    }

    /// The event with these credentials instead of `API_KEY` and `ACCESS_TOKEN`.
    pub fn with(&self, key: &str, token: &str) -> Value {
        let text = self.text.replace("API_KEY", key).replace("ACCESS_TOKEN", token);
        serde_json::from_str(&text).expect("the event is JSON")
    }

    /// The event with a change.
    #[must_use]
    pub fn changed(self, change: impl FnOnce(&mut Value)) -> Self {
        let mut event = self.raw();
        change(&mut event);
        let text = event.to_string();
        Self { text, ..self }
    }

    /// The event as recorded.
    pub fn raw(&self) -> Value {
        serde_json::from_str(&self.text).expect("the event is JSON")
    }
}

impl Expected {
    /// Whether a response matches.
    pub fn is(&self, told: &str) -> bool {
        match self.0.strip_suffix('…') {
            Some(beginning) => told.starts_with(beginning),
            None => told == self.0,
        }
    }
}

/// The client's request, derived from API Gateway's event by its documentation, not by the runtime's library.
pub fn request(event: &Value) -> Request<Body> {
    let text = |path: &str| event.pointer(path).and_then(Value::as_str);
    let path = path(text("/rawPath").expect("a path"), text("/requestContext/stage"));
    let query = text("/rawQueryString").filter(|query| !query.is_empty());
    // Encoded like a client does; the library accepts nothing else.
    let encoded = |query: &str| query.replace('<', "%3C").replace('>', "%3E").replace(' ', "%20");
    let query = query.map_or(String::new(), |query| format!("?{}", encoded(query)));
    let mut request = Request::builder()
        .method(text("/requestContext/http/method").expect("a method"))
        .uri(format!("{path}{query}"));
    for (name, value) in event["headers"].as_object().expect("headers") {
        request = request.header(name, value.as_str().expect("a header's text"));
    }
    if let Some(cookies) = event["cookies"].as_array() {
        let cookies: Vec<_> = cookies.iter().filter_map(Value::as_str).collect();
        request = request.header("cookie", cookies.join("; "));
    }
    let body = text("/body").unwrap_or_default();
    let body = if event["isBase64Encoded"] == true {
        STANDARD.decode(body).expect("base64")
    } else {
        body.as_bytes().to_vec()
    };
    request.body(Body::from(body)).expect("a request")
}

/// API Gateway decodes the path and adds the stage's name as prefix.
fn path(raw: &str, stage: Option<&str>) -> String {
    if let Some(stage) = stage.filter(|stage| *stage != "$default") {
        assert!(
            raw.starts_with(&format!("/{stage}/")),
            "{raw} begins with its stage"
        );
    }
    let encode = |byte: u8| match byte {
        b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    raw.bytes().map(encode).collect()
}

/// A response of the router in API Gateway's format.
pub async fn answered(response: Response) -> Value {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("the answer is whole").to_bytes();
    let mut headers = Map::new();
    for name in parts.headers.keys() {
        let values = parts.headers.get_all(name).iter();
        let values: Vec<_> = values.map(|value| value.to_str().expect("text")).collect();
        headers.insert(name.to_string(), json!(values.join(", ")));
    }
    let text = String::from_utf8(body.to_vec());
    let is_binary = text.is_err();
    json!({
        "statusCode": parts.status.as_u16(),
        "headers": headers,
        "multiValueHeaders": {},
        "body": text.unwrap_or_else(|_| STANDARD.encode(&body)),
        "isBase64Encoded": is_binary,
        "cookies": [],
    })
}
