//! The limits of a record, the same for every kind and for requests (C-30).

use serde::Serialize;
use serde_json::{Map, Value};
use shared::json::levels;

/// Maximum bytes of a record.
const MAX_BYTES: usize = 100_000;
/// Maximum nesting of a record.
const MAX_LEVELS: usize = 8;

/// Checks the size and the nesting of a line with `line` bytes.
pub fn check(fields: &Map<String, Value>, line: usize) -> Result<(), String> {
    // The size of the line does not decide, because spaces do not count, and a stored number may be longer than the
    // line's: `1e15` by 18 characters.
    if line > MAX_BYTES / 5 {
        size(fields)?;
    }
    if fields.values().map(levels).max().unwrap_or(0) >= MAX_LEVELS {
        return Err("the record is nested over 8 levels".to_owned());
    }
    Ok(())
}

/// Checks the size of a record as it is stored and exported. It may be larger than its line, because absent fields are
/// written out in the elements of a list.
pub fn size(record: &impl Serialize) -> Result<(), String> {
    let bytes = serde_json::to_vec(record).map_or(usize::MAX, |json| json.len());
    if bytes > MAX_BYTES {
        return Err("the record is larger than 100 KB".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(fields: Value, line: usize) -> Result<(), String> {
        match fields {
            Value::Object(fields) => check(&fields, line),
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
        let fields = json!({ "name": "a".repeat(MAX_BYTES - 11) });
        assert_eq!(judged(fields, 2 * MAX_BYTES), Ok(()));
        let fields = json!({ "name": "a".repeat(MAX_BYTES - 10) });
        assert_eq!(
            judged(fields, 2 * MAX_BYTES),
            Err("the record is larger than 100 KB".to_owned())
        );
    }
}
