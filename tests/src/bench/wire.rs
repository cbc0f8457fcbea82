//! A wire between a service and its engine on which every call can be seen: what was asked, what was answered, and how
//! large each written item was before and behind it.
//!
//! It hands calls on as they are and adds reads of its own that the service does not see. Only before an engine of the
//! process's own: no call is signed.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a measurement that meets what nobody thought of must stop, and say where"
)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::item;

/// A call that was answered.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The API operation, such as `Query`.
    pub operation: String,
    /// What was asked.
    pub request: Value,
    /// What was answered.
    pub answer: Value,
    /// The items that it wrote or checked; none where it was refused.
    pub written: Vec<Written>,
}

/// An item that a call wrote or checked.
#[derive(Debug, Clone)]
pub struct Written {
    /// It was the condition of others and stays as it was.
    pub is_check: bool,
    /// Bytes before or behind the call, whichever are more: by them DynamoDB bills.
    pub bytes: usize,
}

/// The wire.
#[derive(Debug, Clone)]
pub struct Wire {
    endpoint: String,
    relay: Arc<Relay>,
}

#[derive(Debug)]
struct Relay {
    engine: String,
    table: String,
    seen: Mutex<Vec<Exchange>>,
}

impl Wire {
    /// Lays a wire before the engine at `http://…`, which has one table. It lies as long as the runtime runs.
    pub async fn before(engine: &str) -> Self {
        let engine = engine.trim_start_matches("http://").to_owned();
        let (_, tables) = exchange(&engine, "ListTables", "{}");
        let table = tables["TableNames"][0].as_str().expect("a table").to_owned();
        let relay = Arc::new(Relay {
            engine,
            table,
            seen: Mutex::default(),
        });
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let listener = listener.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(hand_on).with_state(Arc::clone(&relay));
        tokio::spawn(axum::serve(listener, router).into_future());
        Self { endpoint, relay }
    }

    /// Where the service has to call.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    /// The name of the engine's table.
    #[must_use]
    pub fn table(&self) -> String {
        self.relay.table.clone()
    }

    /// The calls since this was asked the last time.
    #[must_use]
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.relay.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn hand_on(State(relay): State<Arc<Relay>>, headers: HeaderMap, body: String) -> Response {
    let target = headers["x-amz-target"].to_str().expect("an operation");
    let operation = target.rsplit('.').next().expect("an operation").to_owned();
    let answered = tokio::task::spawn_blocking(move || relay.hand_on(operation, &body)).await;
    let (status, answer) = answered.expect("the engine answers");
    let kind = [("content-type", "application/x-amz-json-1.0")];
    (status, kind, answer.to_string()).into_response()
}

impl Relay {
    fn hand_on(&self, operation: String, body: &str) -> (StatusCode, Value) {
        let request: Value = serde_json::from_str(body).expect("a request is JSON");
        let deeds = self.deeds(&operation, &request);
        let before = self.sizes(&deeds);
        let (status, answer) = exchange(&self.engine, &operation, body);
        if status == StatusCode::OK {
            let after = self.sizes(&deeds);
            let larger = before
                .into_iter()
                .zip(after)
                .map(|(before, after)| before.max(after));
            let written = deeds.iter().zip(larger).map(|((_, is_check), bytes)| Written {
                is_check: *is_check,
                bytes,
            });
            let seen = Exchange {
                written: written.collect(),
                operation,
                request,
                answer: answer.clone(),
            };
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(seen);
        }
        (status, answer)
    }

    /// The keys of what a call writes, and whether it only checks them.
    fn deeds(&self, operation: &str, request: &Value) -> Vec<(Value, bool)> {
        let key = |item: &Value| json!({ "pk": item["pk"], "sk": item["sk"] });
        match operation {
            "TransactWriteItems" => {
                let items = request["TransactItems"].as_array().expect("items");
                let deeds = items.iter().filter_map(|item| item.as_object()?.iter().next());
                let deeds = deeds.map(|(deed, what)| match what.get("Item") {
                    Some(item) => (key(item), false),
                    None => (key(&what["Key"]), deed == "ConditionCheck"),
                });
                deeds.collect()
            }
            "PutItem" => vec![(key(&request["Item"]), false)],
            "UpdateItem" | "DeleteItem" => vec![(key(&request["Key"]), false)],
            "Query" | "GetItem" | "BatchGetItem" => Vec::new(),
            other => panic!("nobody told how {other} is billed, on {}", self.table),
        }
    }

    /// The bytes of the items, 0 where there is none, in the order of the deeds.
    fn sizes(&self, deeds: &[(Value, bool)]) -> Vec<usize> {
        if deeds.is_empty() {
            return Vec::new();
        }
        let keys: Vec<_> = deeds.iter().map(|(key, _)| key).collect();
        let request = json!({ "RequestItems": { &self.table: { "Keys": keys, "ConsistentRead": true } } });
        let (_, answer) = exchange(&self.engine, "BatchGetItem", &request.to_string());
        let items = answer["Responses"][&self.table].as_array().expect("items");
        let of = |key: &Value| {
            let found = items
                .iter()
                .find(|item| item["pk"] == key["pk"] && item["sk"] == key["sk"]);
            found.map_or(0, item::bytes)
        };
        keys.into_iter().map(of).collect()
    }
}

/// One call to an engine, on a connection of its own.
fn exchange(engine: &str, operation: &str, body: &str) -> (StatusCode, Value) {
    let mut stream = TcpStream::connect(engine).expect("the engine listens");
    write!(
        stream,
        "POST / HTTP/1.0\r\nhost: {engine}\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n\
         content-type: application/x-amz-json-1.0\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=00\r\nx-amz-date: 20261121T000000Z\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .expect("the engine reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the engine answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = serde_json::from_str(body).expect("the answer is JSON");
    (status.expect("a status"), body)
}
