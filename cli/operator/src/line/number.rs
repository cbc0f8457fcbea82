//! Numbers of a line.

use serde_json::Number;

/// A number that the table stores exactly.
pub fn storable(name: &str, number: &Number) -> Result<Number, String> {
    shared::number::storable(number).map_err(|rule| format!("{name}: {rule}"))
}
