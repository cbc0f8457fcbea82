//! A funnel's line: its columns and its custom fields, each known by its own id or name.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use shared::funnel::Funnel;

use super::limits;
use super::line;

/// Reads a funnel's fields.
pub fn read(fields: Map<String, Value>) -> Result<Funnel, String> {
    // A funnel may have no column yet, but its line says so: one that is cut short must not take them all away.
    if fields.get("columns").is_none_or(Value::is_null) {
        return Err("columns: is missing".to_owned());
    }
    let funnel: Funnel = line::read(fields)?;
    let mut columns = BTreeSet::new();
    if let Some(twice) = funnel.columns.iter().find(|column| !columns.insert(column.id)) {
        return Err(format!("columns: column {} is there twice", twice.id));
    }
    let mut names = BTreeSet::new();
    for (at, field) in funnel.fields.iter().enumerate() {
        if field.name.is_empty() {
            return Err(format!("fields[{at}].name: must not be empty"));
        }
        if !names.insert(&field.name) {
            return Err(format!(
                "fields[{at}].name: {} is there twice",
                Value::from(field.name.as_str())
            ));
        }
    }
    limits::size(&funnel)?;
    Ok(funnel)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_value(value: Value) -> Result<Funnel, String> {
        match value {
            Value::Object(fields) => read(fields),
            _ => Err("no object".to_owned()),
        }
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let funnel = read_value(json!({
            "id": 3, "name": "Vendas", "columns": [{ "id": 31, "name": "Entrada" }], "fields": [{ "name": " Nº " }]
        }))
        .unwrap();
        assert_eq!(
            json!(funnel),
            json!({
                "id": 3, "name": "Vendas", "columns": [{ "id": 31, "name": "Entrada", "sequence": 0 }],
                "fields": [{ "name": " Nº ", "type": "text" }],
                "access": { "users": [], "departments": [], "groups": [] },
            })
        );
        assert!(read_value(json!({ "id": 3, "name": "Vendas", "columns": [] })).is_ok());
    }

    /// Why a line is refused in which one field is another.
    #[track_caller]
    fn refused(name: &str, value: Value) -> String {
        let mut line = json!({ "id": 3, "name": "V", "columns": [{ "id": 31, "name": "A" }] });
        line[name] = value;
        read_value(line).unwrap_err()
    }

    #[test]
    fn bad_fields_are_named() {
        for (name, value, reason) in [
            ("id", json!(null), "id: is missing"),
            ("name", json!(null), "name: is missing"),
            ("name", json!(5), "name: must be text"),
            (
                "fields",
                json!([{ "type": "text" }]),
                "fields[0].name: is missing",
            ),
            (
                "fields",
                json!([{ "name": "" }]),
                "fields[0].name: must not be empty",
            ),
            (
                "fields",
                json!([{ "name": "é" }, { "name": "e" }, { "name": "é" }]),
                "fields[2].name: \"é\" is there twice",
            ),
            (
                "access",
                json!({ "users": ["7"] }),
                "access.users[0]: must be a whole number that is not negative",
            ),
            ("access", json!({ "roles": [] }), "access.roles: unknown field"),
            ("color", json!("red"), "color: unknown field"),
        ] {
            assert_eq!(refused(name, value.clone()), reason, "{name}: {value}");
        }
    }

    #[test]
    fn bad_columns_are_named() {
        for (columns, reason) in [
            (json!(null), "columns: is missing"),
            (json!({}), "columns: must be a list"),
            (json!([{ "name": "A" }]), "columns[0].id: is missing"),
            (json!([{ "id": 31 }]), "columns[0].name: is missing"),
            (
                json!([{ "id": 31, "name": "A", "crm": 3 }]),
                "columns[0].crm: unknown field",
            ),
            (
                json!([{ "id": 31, "name": "A", "sequence": -1 }]),
                "columns[0].sequence: must be a whole number that is not negative",
            ),
            (
                json!([{ "id": 31, "name": "A" }, { "id": 31, "name": "B" }]),
                "columns: column 31 is there twice",
            ),
        ] {
            assert_eq!(refused("columns", columns.clone()), reason, "{columns}");
        }
    }

    #[test]
    fn names_that_differ_in_a_byte_are_two() {
        let fields = json!([{ "name": "Origem" }, { "name": " Origem" }, { "name": "origem" }]);
        assert!(read_value(json!({ "id": 3, "name": "V", "columns": [], "fields": fields })).is_ok());
    }
}
