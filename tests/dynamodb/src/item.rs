//! Items in DynamoDB's JSON form.

use serde_json::Value;
use table::Item;

/// An item of its JSON form: each value in an object with its type.
#[must_use]
pub fn from_json(item: &Value) -> Item {
    let item: serde_dynamo::Item = serde_json::from_value(item.clone()).expect("an item");
    item.into()
}

/// The JSON form of an item.
#[must_use]
pub fn to_json(item: Item) -> Value {
    let item: serde_dynamo::Item = item.into();
    serde_json::to_value(item).expect("an item")
}
