//! A recorder between service and emulator: every call with request, response, and the size of each written item before
//! and after it. It adds its own reads, which the service does not see.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that meets what nobody thought of must stop, and say where"
)]

use std::sync::{Arc, Mutex, PoisonError};

use dynamodb::{Api, Emulator};
use futures_util::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::item;
use crate::world::TABLE;

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

/// The recorder.
#[derive(Debug)]
pub struct Wire {
    emulator: Emulator,
    seen: Mutex<Vec<Exchange>>,
}

impl Wire {
    /// A recorder of calls to an emulator.
    #[must_use]
    pub fn before(emulator: &Emulator) -> Arc<Self> {
        Arc::new(Self {
            emulator: emulator.clone(),
            seen: Mutex::default(),
        })
    }

    /// The calls since the last `take`.
    #[must_use]
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hand_on(&self, operation: String, body: &[u8]) -> (u16, String) {
        let request: Value = serde_json::from_slice(body).expect("a request is JSON");
        let deeds = Self::deeds(&operation, &request);
        let before = self.sizes(&deeds);
        let (status, answer) = self.emulator.answer(&operation, body);
        if status == 200 {
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
                answer: serde_json::from_str(&answer).expect("the answer is JSON"),
            };
            let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(seen);
        }
        (status, answer)
    }

    /// The keys that a call writes, and whether each is only checked.
    fn deeds(operation: &str, request: &Value) -> Vec<(Value, bool)> {
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
            other => panic!("nobody told how {other} is billed"),
        }
    }

    /// Sizes of the items in bytes, 0 if absent.
    fn sizes(&self, deeds: &[(Value, bool)]) -> Vec<usize> {
        if deeds.is_empty() {
            return Vec::new();
        }
        let keys: Vec<_> = deeds.iter().map(|(key, _)| key).collect();
        let request = json!({ "RequestItems": { TABLE: { "Keys": keys, "ConsistentRead": true } } });
        let (_, answer) = self
            .emulator
            .answer("BatchGetItem", request.to_string().as_bytes());
        let answer: Value = serde_json::from_str(&answer).expect("the answer is JSON");
        let items = answer["Responses"][TABLE].as_array().expect("items");
        let of = |key: &Value| {
            let found = items
                .iter()
                .find(|item| item["pk"] == key["pk"] && item["sk"] == key["sk"]);
            found.map_or(0, item::bytes)
        };
        keys.into_iter().map(of).collect()
    }
}

impl Api for Wire {
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, (u16, String)> {
        Box::pin(ready(self.hand_on(operation, &body)))
    }
}
