//! Digests of items: equal contents have equal digests.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use table::AttributeValue;
use table::item::Item;

/// The digest of a value.
pub fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The digest of some attributes of an item, in any order. Items with equal attributes have equal digests.
pub fn content_digest<'a>(attributes: impl IntoIterator<Item = (&'a String, &'a AttributeValue)>) -> u32 {
    let digests = attributes
        .into_iter()
        .map(|(name, value)| attribute_digest(name, value));
    #[expect(clippy::cast_possible_truncation, reason = "a shorter digest")]
    (digests.fold(0, u64::wrapping_add) as u32)
}

/// The digest of a named value. Maps have no order, so the digests of their entries are added.
fn attribute_digest(name: &str, value: &AttributeValue) -> u64 {
    match value {
        AttributeValue::S(text) => digest(&(name, 0, text)),
        AttributeValue::N(digits) => digest(&(name, 1, digits)),
        AttributeValue::L(list) => {
            let values: Vec<_> = list.iter().map(|value| attribute_digest("", value)).collect();
            digest(&(name, 2, values))
        }
        AttributeValue::M(map) => {
            let values = map.iter().map(|(name, value)| attribute_digest(name, value));
            digest(&(name, 3, values.fold(0, u64::wrapping_add)))
        }
        AttributeValue::Bool(flag) => digest(&(name, 4, flag)),
        // No derived item has such a value.
        other => digest(&(name, 5, format!("{other:?}"))),
    }
}

/// The attributes of an item without its key.
pub fn body(item: &Item) -> impl Iterator<Item = (&String, &AttributeValue)> {
    item.iter().filter(|(name, _)| *name != "pk" && *name != "sk")
}

#[cfg(test)]
mod tests {
    use table::item::{n, s};

    use super::*;

    /// The digest depends on every value and its name.
    #[test]
    fn different_contents_have_different_digests() {
        let list = |values: &[&str]| AttributeValue::L(values.iter().map(|text| s(*text)).collect());
        let values = [
            s("1"),
            s("2"),
            n(1),
            list(&["1", "2"]),
            list(&["2", "1"]),
            list(&[]),
            AttributeValue::Bool(true),
            AttributeValue::Bool(false),
            AttributeValue::M(Item::from([("a".to_owned(), s("1"))])),
            AttributeValue::M(Item::from([("b".to_owned(), s("1"))])),
            AttributeValue::Null(true),
        ];
        let items = ["x", "y"].map(|name| {
            values
                .clone()
                .map(|value| Item::from([(name.to_owned(), value), ("z".to_owned(), s("3"))]))
        });
        let digests: std::collections::BTreeSet<_> = items
            .iter()
            .flatten()
            .map(|item| content_digest(body(item)))
            .collect();
        assert_eq!(digests.len(), 2 * values.len());
        let mut item = items[0][0].clone();
        item.extend([("pk".to_owned(), s("p")), ("sk".to_owned(), s("q"))]);
        assert_eq!(content_digest(body(&item)), content_digest(body(&items[0][0])));
    }
}
