//! The limits of a record, the same for every kind, as of one that the interface makes (C-30).

use serde::Serialize;
use serde_json::{Map, Value};

/// The most bytes of a record.
const MOST_BYTES: usize = 100_000;
/// The deepest nesting of a record.
const MOST_LEVELS: usize = 8;

/// Judges the fields of a line that has so many bytes.
pub fn judge(fields: &Map<String, Value>, line: usize) -> Result<(), String> {
    // What is over the limit with its spaces may be within it without them, and a number may be longer than it was written:
    // `1e15` has 18 characters more.
    if line > MOST_BYTES / 5 {
        size(fields)?;
    }
    if fields.values().map(levels).max().unwrap_or(0) >= MOST_LEVELS {
        return Err("the record is nested over 8 levels".to_owned());
    }
    Ok(())
}

/// Judges how large a record is as it is stored and exported, which may be more than its line: a list's elements have
/// their absent fields written out.
pub fn size(record: &impl Serialize) -> Result<(), String> {
    let bytes = serde_json::to_vec(record).map_or(usize::MAX, |json| json.len());
    if bytes > MOST_BYTES {
        return Err("the record is larger than 100 KB".to_owned());
    }
    Ok(())
}

/// Judges how many characters a text has.
pub fn within(name: &str, text: Option<&str>, limit: usize) -> Result<(), String> {
    if text.is_some_and(|text| text.chars().count() > limit) {
        return Err(format!("{name}: must have at most {limit} characters"));
    }
    Ok(())
}

/// How many levels of lists and objects a value has; `serde_json` reads none deeper than 128.
fn levels(value: &Value) -> usize {
    let inner = match value {
        Value::Array(list) => list.iter().map(levels).max(),
        Value::Object(map) => map.values().map(levels).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(fields: Value, line: usize) -> Result<(), String> {
        match fields {
            Value::Object(fields) => judge(&fields, line),
            _ => Err("no object".to_owned()),
        }
    }

    #[test]
    fn nesting_ends_at_eight_levels() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(judged(json!({ "tree": nested(7) }), 1), Ok(()));
        assert_eq!(
            judged(json!({ "tree": nested(8) }), 1),
            Err("the record is nested over 8 levels".to_owned())
        );
    }

    #[test]
    fn spaces_do_not_count() {
        let fields = json!({ "name": "a".repeat(MOST_BYTES - 11) });
        assert_eq!(judged(fields, 2 * MOST_BYTES), Ok(()));
        let fields = json!({ "name": "a".repeat(MOST_BYTES - 10) });
        assert_eq!(
            judged(fields, 2 * MOST_BYTES),
            Err("the record is larger than 100 KB".to_owned())
        );
    }
}
