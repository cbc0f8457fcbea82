//! Keeps attributes of later builds, which this build does not know, through a rewrite (C-88).
//!
//! A record keeps the item that it was read from. On a write, that item is decoded and encoded again. Attributes lost
//! by this are unknown. They are added to the new item if their parent object still exists. Reads only keep the item
//! and do not compare.

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
            Some(known) if known != *raw => items(raw, &known, new),
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

fn items(raw: &Item, known: &Item, mut new: Item) -> Item {
    for (name, value) in raw {
        let carried = match (known.get(name), new.remove(name)) {
            (None, None) => Some(value.clone()),
            // The rewrite removes it.
            (Some(_), None) => None,
            (known, Some(new)) => Some(attributes(value, known, new)),
        };
        new.extend(carried.map(|value| (name.clone(), value)));
    }
    new
}

fn attributes(raw: &AttributeValue, known: Option<&AttributeValue>, new: AttributeValue) -> AttributeValue {
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
            AttributeValue::M(if same(known, &new, |item| item.get("id")) {
                items(raw, known.unwrap_or(&HashMap::new()), new)
            } else {
                new
            })
        }
        (AttributeValue::L(raw), Some(AttributeValue::L(known)), AttributeValue::L(new)) => {
            let id = |value: &AttributeValue| value.as_m().ok()?.get("id").cloned();
            AttributeValue::L(elements(raw, known, new, id, attributes))
        }
        (AttributeValue::S(raw), Some(AttributeValue::S(known)), AttributeValue::S(new)) => {
            AttributeValue::S(text(raw, known, &new).unwrap_or(new))
        }
        (_, _, new) => new,
    }
}

/// Like the merge of items, for JSON text; `None` if any text is not JSON.
fn text(raw: &str, known: &str, new: &str) -> Option<String> {
    let [raw, known, new] = [raw, known, new].map(|text| serde_json::from_str::<Value>(text).ok());
    Some(values(&raw?, Some(&known?), new?).to_string())
}

fn values(raw: &Value, known: Option<&Value>, new: Value) -> Value {
    if Some(raw) == known {
        return new;
    }
    if Some(&new) == known {
        return raw.clone();
    }
    match (raw, known, new) {
        (Value::Object(raw), known, Value::Object(new)) => {
            let known = known.and_then(Value::as_object);
            Value::Object(if same(known, &new, |object| object.get("id")) {
                objects(raw, known.unwrap_or(&Map::new()), new)
            } else {
                new
            })
        }
        (Value::Array(raw), Some(Value::Array(known)), Value::Array(new)) => {
            let id = |value: &Value| value.get("id").cloned();
            Value::Array(elements(raw, known, new, id, values))
        }
        (_, _, new) => new,
    }
}

fn objects(
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
            (known, Some(place)) => *place = values(value, known, place.take()),
        }
    }
    new
}

/// Whether two objects have the same id, or both have none. Also true if there is no known object.
fn same<'o, O, I: PartialEq + 'o>(
    known: Option<&'o O>,
    new: &'o O,
    id: impl Fn(&'o O) -> Option<&'o I>,
) -> bool {
    known.is_none_or(|known| id(known) == id(new))
}

/// Matches list elements by id, or by index if they have no ids and the lists have equal length.
fn elements<V: Clone, I: PartialEq>(
    raw: &[V],
    known: &[V],
    new: Vec<V>,
    id: impl Fn(&V) -> Option<I>,
    carry: impl Fn(&V, Option<&V>, V) -> V,
) -> Vec<V> {
    let aligned = raw.len() == known.len() && known.len() == new.len();
    let find = |list: &[V], wanted: &I| list.iter().position(|value| id(value).as_ref() == Some(wanted));
    let carried = new.into_iter().enumerate().map(|(at, value)| {
        let places = match id(&value) {
            Some(wanted) => find(raw, &wanted).zip(find(known, &wanted)),
            None => aligned.then_some((at, at)),
        };
        let found = places.and_then(|(old, read)| Some((raw.get(old)?, known.get(read))));
        match found {
            Some((raw, known)) => carry(raw, known, value),
            None => value,
        }
    });
    carried.collect()
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
            values(&raw, Some(&known), new),
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
        assert_eq!(values(&raw, Some(&known), new.clone()), new);
    }

    #[test]
    fn changed_attributes_keep_their_new_values() {
        let raw = json!({ "level": "team", "off": false, "x": { "later": 1 } });
        let known = json!({ "level": "none", "x": {} });
        let new = json!({ "level": "all", "off": true });
        assert_eq!(values(&raw, Some(&known), new.clone()), new);
    }
}
