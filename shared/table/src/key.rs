use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::error::StoreError;
use crate::item::{self, Item};

/// The primary key of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The partition key.
    pub pk: String,
    /// The sort key.
    pub sk: String,
}

impl Key {
    /// A key of partition key and sort key.
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self {
            pk: pk.into(),
            sk: sk.into(),
        }
    }

    /// The key as attributes of the SDK.
    #[must_use]
    pub fn attributes(&self) -> HashMap<String, AttributeValue> {
        HashMap::from([
            ("pk".to_owned(), AttributeValue::S(self.pk.clone())),
            ("sk".to_owned(), AttributeValue::S(self.sk.clone())),
        ])
    }

    /// The item with this key's attributes added.
    #[must_use]
    pub fn complete(&self, mut item: Item) -> Item {
        item.extend(self.attributes());
        item
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.pk, self.sk)
    }
}

/// The key of an item that was read.
///
/// # Errors
/// [`StoreError::Corrupt`] if a part of the key is absent.
pub fn key_of(item: &Item) -> Result<Key, StoreError> {
    let part = |name: &str| match item.get(name) {
        Some(AttributeValue::S(text)) => Ok(text.clone()),
        _ => Err(item::corrupt("key", format_args!("an item has no {name}"))),
    };
    Ok(Key::new(part("pk")?, part("sk")?))
}
