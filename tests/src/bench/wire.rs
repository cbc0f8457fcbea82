//! A proxy between service and engine that records every call: request, response, and the size of each
//! written item before and after it.
//!
//! It forwards calls unchanged and adds its own reads, which the service does not see. Works only with an
//! embedded engine, because calls are not signed.

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

/// A completed call.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The API operation, such as `Query`.
    pub operation: String,
    /// Request body.
    pub request: Value,
    /// Response body.
    pub answer: Value,
    /// Items written or checked; none if the call was rejected.
    pub written: Vec<Written>,
}

/// An item that a call wrote or checked.
#[derive(Debug, Clone)]
pub struct Written {
    /// Whether it was only checked.
    pub is_check: bool,
    /// The larger of the sizes before and after the call, in bytes, which DynamoDB bills.
    pub bytes: usize,
}

/// The proxy.
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
    /// Starts a proxy for the engine at `http://…`, which has one table. It runs as long as the runtime.
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

    /// Address for the service.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    /// Name of the engine's table.
    #[must_use]
    pub fn table(&self) -> String {
        self.relay.table.clone()
    }

    /// The calls since the last `take`.
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

    /// The keys that a call writes, and whether each is only checked.
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

    /// Sizes of the items in bytes, 0 if absent.
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

/// One call to an engine, on a new connection.
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
