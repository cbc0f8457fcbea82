//! DynamoDB's billing by its published rules: bytes of an item, and units for a number of bytes.
//!
//! Computed here, independently of the engine, and compared with it for every call
//! ([`Bill`](super::bill::Bill)).

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that meets what nobody thought of must stop, and say where"
)]

use serde_json::Value;

/// Bytes of a read unit: of one item by get, of all items of a query together.
const READ_UNIT: usize = 4096;
/// Bytes of a write unit, for one item.
const WRITE_UNIT: usize = 1024;

/// Bytes of an item in DynamoDB's JSON: names and values.
#[must_use]
pub fn bytes(item: &Value) -> usize {
    let attributes = item.as_object().into_iter().flatten();
    attributes
        .map(|(name, value)| name.len() + value_bytes(value))
        .sum()
}

fn value_bytes(value: &Value) -> usize {
    let (kind, value) = value
        .as_object()
        .and_then(|typed| typed.iter().next())
        .expect("a value has a type");
    let text = value.as_str().unwrap_or_default();
    let list = || value.as_array().into_iter().flatten();
    match kind.as_str() {
        "S" => text.len(),
        "N" => number_bytes(text),
        "BOOL" | "NULL" => 1,
        "SS" => list().filter_map(Value::as_str).map(str::len).sum(),
        "NS" => list().filter_map(Value::as_str).map(number_bytes).sum(),
        "L" => 3 + list().map(|element| 1 + value_bytes(element)).sum::<usize>(),
        "M" => {
            let entries = value.as_object().into_iter().flatten();
            3 + entries
                .map(|(name, value)| 1 + name.len() + value_bytes(value))
                .sum::<usize>()
        }
        other => panic!("the table has no attribute of type {other}"),
    }
}

/// A byte for each two digits before the decimal point and after it, without leading and trailing zeros, plus
/// one, and one for a minus sign.
fn number_bytes(text: &str) -> usize {
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if fraction.is_empty() {
        whole.trim_end_matches('0')
    } else {
        whole
    };
    let sign = usize::from(text.len() > digits.len());
    whole.len().div_ceil(2) + fraction.len().div_ceil(2) + 1 + sign
}

/// Units of a strongly consistent read; at least one.
#[must_use]
pub fn read_units(bytes: usize) -> f64 {
    units(bytes, READ_UNIT)
}

/// Units of a write outside a transaction.
#[must_use]
pub fn write_units(bytes: usize) -> f64 {
    units(bytes, WRITE_UNIT)
}

fn units(bytes: usize, unit: usize) -> f64 {
    let units = u32::try_from(bytes.div_ceil(unit)).expect("fewer than 16 TB");
    f64::from(units.max(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_values_count() {
        for (item, expected) in [
            (json!({ "pk": { "S": "é" } }), 4),
            (json!({ "n": { "N": "1200" } }), 3),
            (json!({ "n": { "N": "-12.345" } }), 6),
            (json!({ "n": { "N": "0" } }), 2),
            (json!({ "b": { "BOOL": true } }), 2),
            (json!({ "l": { "L": [{ "S": "ab" }, { "NULL": true }] } }), 9),
            (json!({ "m": { "M": { "ab": { "S": "c" } } } }), 8),
            (json!({ "s": { "NS": ["1", "234"] } }), 6),
        ] {
            assert_eq!(bytes(&item), expected, "{item}");
        }
    }

    #[test]
    fn started_units_count() {
        let near = |left: f64, right: f64| (left - right).abs() < f64::EPSILON;
        assert!(near(read_units(0), 1.0) && near(read_units(4096), 1.0) && near(read_units(4097), 2.0));
        assert!(near(write_units(0), 1.0) && near(write_units(1024), 1.0) && near(write_units(1025), 2.0));
    }
}
