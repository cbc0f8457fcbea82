//! Conditions of writes.

use crate::item::Item;

/// A precondition on an item. If it fails, the whole transaction fails.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// No condition.
    Always,
    /// The item does not exist.
    Absent,
    /// The item exists.
    Present,
    /// The item has this version.
    Version(u64),
    /// Number `name` of the item is `value`. An absent attribute counts as 0.
    Number {
        /// The attribute.
        name: &'static str,
        /// The value.
        value: u64,
    },
    /// The item does not exist, or its text attribute `name` is `value`.
    AbsentOrText {
        /// The attribute.
        name: &'static str,
        /// The value.
        value: String,
    },
    /// The item does not exist, or its number `name` is at most `value`, such as an expiry in the past.
    AbsentOrUpTo {
        /// The attribute.
        name: &'static str,
        /// The maximum.
        value: i64,
    },
    /// The item has the attributes `has` and none of `lacks`. For records without a version.
    Exactly {
        /// The attributes and values.
        has: Item,
        /// Names of absent attributes.
        lacks: Vec<&'static str>,
    },
}
