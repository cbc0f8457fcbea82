//! The fields that a replaced record loses, which a dry run lists (C-105).

use std::borrow::Borrow as _;

use serde_json::Value;

use super::ImportError;
use crate::Operator;
use crate::kinds::StoredKind;
use crate::line::Fields;

/// Maximum named losses of a record.
const MAX_NAMED: usize = 20;

/// By line, the fields that the stored records of lines lose. Reads the records.
pub async fn losses<K: StoredKind>(
    operator: &Operator,
    chunk: &[(u64, K::Line)],
) -> Result<Vec<(u64, String)>, ImportError> {
    let replaced = chunk.iter().filter_map(|(number, line)| {
        let record = line.borrow();
        Some((*number, record, K::key(operator.keys(), record)?))
    });
    let replaced: Vec<_> = replaced.collect();
    let keys = replaced.iter().map(|(.., key)| key.clone());
    let found = operator.reads().get_many(keys).await?;
    let lost = replaced.into_iter().filter_map(|(number, record, key)| {
        let stored = K::DECODE(found.get(&key)?.clone()).ok()?;
        let (before, after) = (K::export(&stored).ok()?, K::export(record).ok()?);
        let mut names = Vec::new();
        compare("", &before, &after, &mut names);
        names.truncate(MAX_NAMED);
        let (kind, id) = (K::KIND.name(), K::label(record));
        (!names.is_empty()).then(|| (number, format!("{kind} {id} loses {}", names.join(", "))))
    });
    Ok(lost.collect())
}

/// Adds the names of fields that `after` lacks, and of elements of its lists.
fn compare(path: &str, before: &Fields, after: &Fields, names: &mut Vec<String>) {
    for (field, value) in before {
        let name = format!("{path}{field}");
        match (value, after.get(field)) {
            (_, None | Some(Value::Null)) => names.push(name),
            (Value::Object(value), Some(Value::Object(other))) => {
                compare(&format!("{name}."), value, other, names);
            }
            (Value::Array(values), Some(Value::Array(others))) => {
                let label = |value: &Value| {
                    value
                        .get("id")
                        .or_else(|| value.get("name"))
                        .unwrap_or(value)
                        .clone()
                };
                let kept: Vec<_> = others.iter().map(label).collect();
                let lost = values.iter().filter(|value| !kept.contains(&label(value)));
                names.extend(lost.map(|value| format!("{name} {}", value.get("name").unwrap_or(value))));
            }
            _ => {}
        }
    }
}
