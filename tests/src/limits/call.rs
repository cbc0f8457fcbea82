//! The items and units of a call, and DynamoDB's rejections.

use serde_json::{Value, json};

use super::{Response, Stop};
use crate::bench::item;

/// Key of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    pub partition: String,
    pub sort: String,
}

/// An item that a call reads, writes or checks.
#[derive(Debug)]
pub struct Touch {
    pub at: Address,
    /// Units as far as the request or the response shows the item, at least those of an empty one.
    pub units: f64,
    /// Whether it shows all of the item.
    pub is_whole: bool,
}

impl Address {
    pub fn of(item: &Value) -> Self {
        let part = |name: &str| item[name]["S"].as_str().expect("a key").to_owned();
        Self {
            partition: part("pk"),
            sort: part("sk"),
        }
    }

    /// The kind of item in its key, such as `board-total`; of a counter with the sequence.
    pub fn kind(&self) -> String {
        let kind = self.partition.split('#').nth(1).unwrap_or_default();
        if kind == "counter" {
            return format!("counter {}", self.sort);
        }
        kind.to_owned()
    }
}

fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("a request is JSON")
}

/// The items of a transaction.
pub fn transaction(body: &[u8]) -> Vec<Touch> {
    let request = parsed(body);
    let items = request["TransactItems"].as_array().expect("items").iter();
    let writes = items.filter_map(|item| item.as_object()?.values().next());
    let writes = writes.map(written);
    let twice = writes.map(|touch| Touch {
        units: 2.0 * touch.units,
        ..touch
    });
    twice.collect()
}

/// The item of a plain write.
pub fn write(body: &[u8]) -> Touch {
    written(&parsed(body))
}

fn written(write: &Value) -> Touch {
    let item = write.get("Item");
    Touch {
        at: Address::of(item.unwrap_or(&write["Key"])),
        units: item::write_units(item.map_or(0, item::bytes)),
        is_whole: item.is_some(),
    }
}

/// The item of a get, or the first one of a query.
pub fn read(body: &[u8], response: &Response) -> Touch {
    let request = parsed(body);
    let answer: Value = serde_json::from_str(&response.1).expect("a response is JSON");
    let at = match (request.get("Key"), answer["Items"].get(0)) {
        (Some(key), _) => Address::of(key),
        (None, Some(first)) => Address::of(first),
        (None, None) => {
            let values = &request["ExpressionAttributeValues"];
            let text = |name: &str| values[name]["S"].as_str().unwrap_or_default().to_owned();
            Address {
                partition: text(":pk"),
                sort: text(":after"),
            }
        }
    };
    Touch {
        at,
        units: billed(response),
        is_whole: true,
    }
}

/// The items of a batch of gets with their keys.
pub fn batch(body: &[u8], answer: &Value) -> Vec<(Value, Touch)> {
    let request = parsed(body);
    let (table, asked) = only(&request["RequestItems"]);
    let items = answer["Responses"][table].as_array().expect("items");
    let keys = asked["Keys"].as_array().expect("keys").iter();
    let touched = keys.map(|key| {
        let item = items.iter().find(|item| is_at(item, key));
        let touch = Touch {
            at: Address::of(key),
            units: item::read_units(item.map_or(0, item::bytes)),
            is_whole: true,
        };
        (key.clone(), touch)
    });
    touched.collect()
}

/// Moves an item of a batch's response to the unprocessed keys.
pub fn leave(answer: &mut Value, key: &Value) {
    let (table, _) = only(&answer["Responses"]);
    let table = table.to_owned();
    let items = answer["Responses"][&table].as_array_mut().expect("items");
    items.retain(|item| !is_at(item, key));
    let unprocessed = &mut answer["UnprocessedKeys"];
    if unprocessed[&table].is_null() {
        unprocessed[&table] = json!({ "Keys": [], "ConsistentRead": true });
    }
    let keys = unprocessed[&table]["Keys"].as_array_mut();
    keys.expect("keys").push(key.clone());
}

fn is_at(item: &Value, key: &Value) -> bool {
    item["pk"] == key["pk"] && item["sk"] == key["sk"]
}

fn only(map: &Value) -> (&str, &Value) {
    let entry = map.as_object().and_then(|map| map.iter().next());
    entry
        .map(|(name, value)| (name.as_str(), value))
        .expect("one table")
}

/// The units of a response; none of an error.
pub fn billed(response: &Response) -> f64 {
    let answer: Value = serde_json::from_str(&response.1).expect("a response is JSON");
    let capacity = &answer["ConsumedCapacity"];
    let one = capacity.get(0).unwrap_or(capacity);
    one["CapacityUnits"].as_f64().unwrap_or_default()
}

/// The rejection of a call of one item.
pub fn rejected(stop: Stop) -> Response {
    let name = match stop {
        Stop::Conflict => "TransactionConflictException",
        Stop::Writes | Stop::Reads => "ThrottlingException",
    };
    (400, error(name, "rejected by the model").to_string())
}

/// The rejection of a transaction of too many items.
pub fn too_long() -> Response {
    let answer = error("ValidationException", "a transaction has at most 100 items");
    (400, answer.to_string())
}

/// The cancellation of a transaction, with the reason of each item.
pub fn cancelled(stops: &[Option<Stop>]) -> Response {
    let codes = stops.iter().map(|stop| match stop {
        None => "None",
        Some(Stop::Conflict) => "TransactionConflict",
        Some(_) => "ThrottlingError",
    });
    let codes: Vec<_> = codes.collect();
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    let mut body = error("TransactionCanceledException", &message);
    let reasons = codes.into_iter().map(|code| json!({ "Code": code }));
    body["CancellationReasons"] = reasons.collect();
    (400, body.to_string())
}

fn error(name: &str, message: &str) -> Value {
    json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{name}"), "message": message })
}
