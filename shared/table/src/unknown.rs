//! Keeps attributes of later builds, which this build does not know, through a rewrite (C-88).
//!
//! A record keeps the item that it was read from. On a write, that item is decoded and encoded again. Attributes lost
//! by this are unknown. They are added to the new item if their parent object still exists. Reads only keep the item
//! and do not compare.
//!
//! The functions of this module merge three versions of a value: `raw` as stored, `known` after decoding and encoding,
//! and `new` to be written. The difference of the first two is unknown to this build.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::StoreError;
use crate::item::{self, Item};

/// The item that a record was read from, if any. Ignored by comparisons of records.
#[derive(Clone, Default)]
pub struct Raw(Option<Arc<Item>>);

impl Raw {
    /// Keeps an item without its key.
    #[must_use]
    pub fn of(item: &Item) -> Self {
        let mut item = item.clone();
        item.retain(|name, _| name != "pk" && name != "sk");
        Self(Some(Arc::new(item)))
    }

    /// The item, if there is any.
    #[must_use]
    pub fn item(&self) -> Option<&Item> {
        self.0.as_deref()
    }

    /// Adds to `new` the attributes of the item that `recode` loses. `recode` decodes and encodes an item.
    pub fn carry(&self, new: Item, recode: impl FnOnce(&Item) -> Option<Item>) -> Item {
        let Some(raw) = self.0.as_deref() else { return new };
        match recode(raw) {
            Some(known) if known != *raw => merge_items(raw, &known, new),
            _ => new,
        }
    }
}

/// The item of a record in its serialized form, with the unknown attributes of the item `stored`. Like
/// [`Raw::carry_typed`].
pub fn rewritten<T: Serialize + DeserializeOwned>(
    kind: &'static str,
    stored: Option<&Item>,
    record: &T,
) -> Result<Item, StoreError> {
    let raw = stored.map(Raw::of).unwrap_or_default();
    raw.carry_typed(kind, record)
}

impl Raw {
    /// The item of a record in its serialized form, with the unknown attributes of the raw item.
    pub fn carry_typed<T: Serialize + DeserializeOwned>(
        &self,
        kind: &'static str,
        record: &T,
    ) -> Result<Item, StoreError> {
        let recode = |raw: &Item| item::encode(kind, &item::decode::<T>(kind, raw.clone()).ok()?).ok();
        Ok(self.carry(item::encode(kind, record)?, recode))
    }
}

impl PartialEq for Raw {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Raw {}

/// Omits the item, which may contain personal data or a secret.
impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Adds the unknown attributes of an item, and of the objects in it, to the new item.
fn merge_items(raw: &Item, known: &Item, mut new: Item) -> Item {
    for (name, value) in raw {
        let carried = match (known.get(name), new.remove(name)) {
            // Unknown.
            (None, None) => Some(value.clone()),
            // The rewrite removes it.
            (Some(_), None) => None,
            (known, Some(new)) => Some(merge_attributes(value, known, new)),
        };
        new.extend(carried.map(|value| (name.clone(), value)));
    }
    new
}

/// The new value with the unknown parts of the stored one. `known` is `None` if this build does not know the attribute.
fn merge_attributes(
    raw: &AttributeValue,
    known: Option<&AttributeValue>,
    new: AttributeValue,
) -> AttributeValue {
    // Nothing is unknown.
    if Some(raw) == known {
        return new;
    }
    // No known attribute changes.
    if Some(&new) == known {
        return raw.clone();
    }
    match (raw, known, new) {
        (AttributeValue::M(raw), known, AttributeValue::M(new)) => {
            let known = known.and_then(|known| known.as_m().ok());
            AttributeValue::M(if has_same_id(known, &new, |item| item.get("id")) {
                merge_items(raw, known.unwrap_or(&HashMap::new()), new)
            } else {
                new
            })
        }
        (AttributeValue::L(raw), Some(AttributeValue::L(known)), AttributeValue::L(new)) => {
            let id = |value: &AttributeValue| value.as_m().ok()?.get("id").cloned();
            AttributeValue::L(merge_elements(raw, known, new, id, merge_attributes))
        }
        (AttributeValue::S(raw), Some(AttributeValue::S(known)), AttributeValue::S(new)) => {
            AttributeValue::S(merge_json_text(raw, known, &new).unwrap_or(new))
        }
        (_, _, new) => new,
    }
}

/// Like [`merge_attributes`], for JSON text; `None` if any text is not JSON.
fn merge_json_text(raw: &str, known: &str, new: &str) -> Option<String> {
    let [raw, known, new] = [raw, known, new].map(|text| serde_json::from_str::<Value>(text).ok());
    Some(merge_values(&raw?, Some(&known?), new?).to_string())
}

/// Like [`merge_attributes`], for JSON values.
fn merge_values(raw: &Value, known: Option<&Value>, new: Value) -> Value {
    if Some(raw) == known {
        return new;
    }
    if Some(&new) == known {
        return raw.clone();
    }
    match (raw, known, new) {
        (Value::Object(raw), known, Value::Object(new)) => {
            let known = known.and_then(Value::as_object);
            Value::Object(if has_same_id(known, &new, |object| object.get("id")) {
                merge_objects(raw, known.unwrap_or(&Map::new()), new)
            } else {
                new
            })
        }
        (Value::Array(raw), Some(Value::Array(known)), Value::Array(new)) => {
            let id = |value: &Value| value.get("id").cloned();
            Value::Array(merge_elements(raw, known, new, id, merge_values))
        }
        (_, _, new) => new,
    }
}

/// Like [`merge_items`], for JSON objects.
fn merge_objects(
    raw: &Map<String, Value>,
    known: &Map<String, Value>,
    mut new: Map<String, Value>,
) -> Map<String, Value> {
    for (name, value) in raw {
        match (known.get(name), new.get_mut(name)) {
            (None, None) => {
                new.insert(name.clone(), value.clone());
            }
            (Some(_), None) => {}
            (known, Some(slot)) => *slot = merge_values(value, known, slot.take()),
        }
    }
    new
}

/// Whether two objects have the same id, or both have none. Also true if there is no known object. Unknown attributes
/// of one object are not given to another.
fn has_same_id<'o, O, I: PartialEq + 'o>(
    known: Option<&'o O>,
    new: &'o O,
    id: impl Fn(&'o O) -> Option<&'o I>,
) -> bool {
    known.is_none_or(|known| id(known) == id(new))
}

/// Merges each new element with `merge` with its stored version. Elements match by id, or by index if they have no ids
/// and all lists have equal length. An element without a match is unchanged.
fn merge_elements<V: Clone, I: PartialEq>(
    raw: &[V],
    known: &[V],
    new: Vec<V>,
    id: impl Fn(&V) -> Option<I>,
    merge: impl Fn(&V, Option<&V>, V) -> V,
) -> Vec<V> {
    let have_equal_length = raw.len() == known.len() && known.len() == new.len();
    let find = |list: &[V], wanted: &I| list.iter().position(|value| id(value).as_ref() == Some(wanted));
    let merged = new.into_iter().enumerate().map(|(index, value)| {
        let indexes = match id(&value) {
            Some(wanted) => find(raw, &wanted).zip(find(known, &wanted)),
            None => have_equal_length.then_some((index, index)),
        };
        let stored = indexes.and_then(|(in_raw, in_known)| Some((raw.get(in_raw)?, known.get(in_known))));
        match stored {
            Some((raw, known)) => merge(raw, known, value),
            None => value,
        }
    });
    merged.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_attributes_survive_a_rewrite() {
        let raw = json!({ "id": 1, "a": 1, "gone": 1, "later": [1], "level": "team", "off": false,
            "sub": { "b": 1, "later": 2 }, "left": { "later": 3 },
            "list": [{ "id": 7, "n": 1, "later": 4 }, { "id": 8, "n": 2, "later": 5 }],
            "plain": [{ "n": 1, "later": 6 }] });
        let known = json!({ "id": 1, "a": 1, "gone": 1, "level": "none",
            "sub": { "b": 1 }, "left": {}, "list": [{ "id": 7, "n": 1 }, { "id": 8, "n": 2 }], "plain": [{ "n": 1 }] });
        let new = json!({ "id": 1, "a": 2, "level": "none", "new": 1, "sub": { "b": 2 },
            "list": [{ "id": 8, "n": 3 }, { "id": 9, "n": 4 }], "plain": [{ "n": 9 }] });
        assert_eq!(
            merge_values(&raw, Some(&known), new),
            json!({ "id": 1, "a": 2, "level": "team", "new": 1, "later": [1], "off": false,
                "sub": { "b": 2, "later": 2 },
                "list": [{ "id": 8, "n": 3, "later": 5 }, { "id": 9, "n": 4 }], "plain": [{ "n": 9, "later": 6 }] })
        );
    }

    #[test]
    fn unknown_attributes_are_not_given_to_other_objects() {
        let raw = json!({ "lead": { "id": 1, "later": 1 }, "plain": [{ "later": 1 }] });
        let known = json!({ "lead": { "id": 1 }, "plain": [{}] });
        let new = json!({ "lead": { "id": 2 }, "plain": [{ "n": 1 }, {}] });
        assert_eq!(merge_values(&raw, Some(&known), new.clone()), new);
    }

    #[test]
    fn changed_attributes_keep_their_new_values() {
        let raw = json!({ "level": "team", "off": false, "x": { "later": 1 } });
        let known = json!({ "level": "none", "x": {} });
        let new = json!({ "level": "all", "off": true });
        assert_eq!(merge_values(&raw, Some(&known), new.clone()), new);
    }
}
