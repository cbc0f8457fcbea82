//! Conversion between records and items.
//!
//! Items are sparse: values that deserialization restores by default (nulls, empty lists, defaults) are not
//! stored, because DynamoDB bills by the byte. Free-form JSON is stored as text, because DynamoDB's numbers
//! and empty names differ from JSON's.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;

/// An item as in the SDK.
pub type Item = HashMap<String, AttributeValue>;

/// The attributes of `record`, without nulls and empty lists.
pub fn encode<T: Serialize>(kind: &'static str, record: &T) -> Result<Item, StoreError> {
    let mut item: Item = serde_dynamo::to_item(record).map_err(|cause| StoreError::Unstorable {
        kind,
        cause: cause.to_string(),
    })?;
    item.retain(|_, value| !is_empty(value));
    Ok(item)
}

/// The record of an item. Unknown attributes are ignored if the type ignores unknown fields.
pub fn decode<T: DeserializeOwned>(kind: &'static str, mut item: Item) -> Result<T, StoreError> {
    for own in ["pk", "sk", "ttl"] {
        item.remove(own);
    }
    serde_dynamo::from_item(item).map_err(|cause| corrupt(kind, cause))
}

/// Whether `item` has every attribute of `part`. Later builds may add attributes (C-88).
#[must_use]
pub fn contains(part: &Item, item: &Item) -> bool {
    part.iter().all(|(name, value)| item.get(name) == Some(value))
}

/// The item with only attribute `name`.
#[must_use]
pub fn part(item: &Item, name: &str) -> Item {
    let part = item.get_key_value(name);
    part.into_iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The number in attribute `name`. 0 if absent.
pub fn number(kind: &'static str, item: &Item, name: &str) -> Result<u64, StoreError> {
    match item.get(name) {
        None => Ok(0),
        Some(AttributeValue::N(digits)) => digits.parse().map_err(|cause| corrupt(kind, cause)),
        Some(_) => Err(corrupt(kind, format_args!("{name} is not a number"))),
    }
}

/// The number in attribute `name`, possibly negative. 0 if absent.
pub fn signed(kind: &'static str, item: &Item, name: &str) -> Result<i64, StoreError> {
    match item.get(name) {
        None => Ok(0),
        Some(AttributeValue::N(digits)) => digits.parse().map_err(|cause| corrupt(kind, cause)),
        Some(_) => Err(corrupt(kind, format_args!("{name} is not a number"))),
    }
}

/// Removes attribute `name` and parses it as JSON. Returns the default if absent.
pub fn take_json<T: DeserializeOwned + Default>(
    kind: &'static str,
    item: &mut Item,
    name: &str,
) -> Result<T, StoreError> {
    match item.remove(name) {
        None => Ok(T::default()),
        Some(value) => json(kind, name, &value),
    }
}

/// The JSON in the required attribute `name`.
pub fn need_json<T: DeserializeOwned>(kind: &'static str, item: &Item, name: &str) -> Result<T, StoreError> {
    match item.get(name) {
        None => Err(corrupt(kind, format_args!("it has no {name}"))),
        Some(value) => json(kind, name, value),
    }
}

fn json<T: DeserializeOwned>(
    kind: &'static str,
    name: &str,
    value: &AttributeValue,
) -> Result<T, StoreError> {
    let AttributeValue::S(text) = value else {
        return Err(corrupt(kind, format_args!("{name} is not text")));
    };
    serde_json::from_str(text).map_err(|cause| corrupt(kind, cause))
}

/// Whether the request with this nonce wrote the item, in an attempt that seemed to fail.
#[must_use]
pub fn is_own(item: &Item, nonce: &str) -> bool {
    let mark = item.get("nonce").and_then(|mark| mark.as_s().ok());
    mark.is_some_and(|mark| mark == nonce)
}

/// The error of an item that this program cannot have written.
pub fn corrupt(kind: &'static str, cause: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        key: kind,
        cause: cause.to_string(),
    }
}

/// A number attribute.
pub fn n(number: impl std::fmt::Display) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A text attribute.
pub fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// Approximate size in bytes: names, texts and digits, and a few bytes for each structure.
#[must_use]
pub fn bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + weight(value)).sum()
}

fn weight(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
        AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + weight(value)).sum::<usize>(),
        AttributeValue::M(map) => 3 + bytes(map) + map.len(),
        _ => 1,
    }
}

fn is_empty(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::Null(_) => true,
        AttributeValue::L(list) => list.is_empty(),
        _ => false,
    }
}
