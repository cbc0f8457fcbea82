//! Responses of calls with faults.

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};

use super::Fault;
use crate::http;

/// Replaces undecodable values: `corrupt!` in base64, as DynamoDB writes bytes.
const SPOILT: &str = "Y29ycnVwdCE=";

impl Fault {
    /// The response in place of the engine's.
    pub(super) fn answer(self, request: &HttpRequest) -> HttpResponse {
        let items = || {
            let request: Value = serde_json::from_slice(http::body(request)).unwrap_or_default();
            request["TransactItems"].as_array().map_or(0, Vec::len)
        };
        let is_transaction = http::operation(request) == "TransactWriteItems";
        let is_update = http::operation(request) == "UpdateItem";
        let (status, body) = match self {
            Self::Throttled => exception("ThrottlingException"),
            Self::Exception(name) => exception(name),
            Self::Cancelled(reason) => cancelled(reason, items().saturating_sub(1), 1),
            Self::Conflict if is_transaction => cancelled("TransactionConflict", 0, 1),
            Self::Crowded if is_transaction => cancelled("TransactionConflict", 0, items()),
            Self::Conflict | Self::Crowded if is_update => exception("TransactionConflictException"),
            Self::Unprocessed => {
                let request: Value = serde_json::from_slice(http::body(request)).unwrap_or_default();
                let body = json!({ "Responses": {}, "UnprocessedKeys": request["RequestItems"] });
                (200, body)
            }
            _ => exception("InternalServerError"),
        };
        http::response(status, SdkBody::from(body.to_string()))
    }
}

/// An exception, as DynamoDB sends it.
fn exception(name: &str) -> (u16, Value) {
    let status = if name == "InternalServerError" { 500 } else { 400 };
    let prefix = match name {
        "ThrottlingException" | "ValidationException" | "AccessDeniedException" => "com.amazon.coral.service",
        _ => "com.amazonaws.dynamodb.v20120810",
    };
    let body = json!({ "__type": format!("{prefix}#{name}"), "message": "injected" });
    (status, body)
}

/// The cancellation of a transaction for a reason at `count` items after the first `spared`.
fn cancelled(reason: &str, spared: usize, count: usize) -> (u16, Value) {
    let (status, mut body) = exception("TransactionCanceledException");
    let none = vec![json!({ "Code": "None" }); spared];
    let stopped = vec![json!({ "Code": reason, "Message": "injected" }); count];
    body["CancellationReasons"] = [none, stopped].concat().into();
    (status, body)
}

/// The items of a response.
pub fn items_of(answer: &mut Value) -> Vec<&mut Value> {
    let Some(answer) = answer.as_object_mut() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, value) in answer {
        match (name.as_str(), value) {
            ("Item" | "Attributes", item) => found.push(item),
            ("Items", Value::Array(items)) => found.extend(items),
            ("Responses", Value::Object(tables)) => {
                let items = tables.values_mut().filter_map(Value::as_array_mut);
                found.extend(items.flatten());
            }
            _ => {}
        }
    }
    found
}

/// Makes an item undecodable: keeps its key and replaces other attributes by bytes. If it has only a key, its
/// sort key becomes invalid.
pub fn corrupt_item(item: &mut Value) {
    let Some(item) = item.as_object_mut() else {
        return;
    };
    let mut is_changed = false;
    for (name, value) in item.iter_mut() {
        if name != "pk" && name != "sk" {
            *value = json!({ "B": SPOILT });
            is_changed = true;
        }
    }
    if !is_changed {
        item.insert("sk".to_owned(), json!({ "S": SPOILT }));
    }
}

/// Removes the last item of a batch's response and lists its key as unprocessed.
pub fn leave_last(answer: &mut Value) {
    let tables = answer["Responses"].as_object_mut().into_iter().flatten();
    let left = tables.filter_map(|(table, items)| Some((table.clone(), items.as_array_mut()?.pop()?)));
    let left: Vec<_> = left.collect();
    for (table, item) in left {
        let key = json!({ "pk": item["pk"], "sk": item["sk"] });
        answer["UnprocessedKeys"][table] = json!({ "Keys": [key], "ConsistentRead": true });
    }
}
