use std::slice;

use serde_json::json;

use super::*;

mod properties;

/// A funnel with these custom fields.
fn funnel(fields: &[&str]) -> Funnel {
    let fields: Vec<_> = fields.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({"id": 1, "name": "Vendas", "columns": [], "fields": fields})).unwrap()
}

fn condition(field: &str, operator: &str, value: &str) -> Value {
    json!({"filterType": "opField", "properties": {"field": field, "operator": operator, "value": value}})
}

fn fields(fields: Value) -> Map<String, Value> {
    serde_json::from_value(fields).unwrap()
}

/// The conditions of `filters`. Fails if one is discarded.
fn kept(filters: &[Value]) -> Conditions {
    let (conditions, discarded) = Conditions::read(filters);
    assert_eq!(discarded, 0);
    conditions
}

/// Whether one condition on the field `f` matches a record's value.
fn holds(operator: &str, wanted: &str, held: &Value) -> bool {
    kept(&[condition("f", operator, wanted)])
        .of(&funnel(&["f"]))
        .are_met(&fields(json!({"f": held})))
}

/// Requires the results of all comparisons of a record's value with a filter's.
#[track_caller]
fn compare(wanted: &str, held: &Value, equal: bool, contained: bool) {
    assert_eq!(holds("=", wanted, held), equal, "{held} = {wanted:?}");
    assert_eq!(holds("!=", wanted, held), !equal, "{held} != {wanted:?}");
    assert_eq!(
        holds("contains", wanted, held),
        contained,
        "{held} contains {wanted:?}"
    );
}

#[test]
fn numbers_and_booleans_are_compared_by_their_shortest_text() {
    for (wanted, held, equal, contained) in [
        ("213", json!(213), true, true),
        ("213.0", json!(213), false, false),
        ("100", json!(100.0), true, true),
        ("100", json!(1e2), true, true),
        ("0", json!(-0.0), true, true),
        ("213.5", json!(213.5), true, true),
        ("13", json!(213), false, true),
        (".5", json!(213.5), false, true),
        ("-1", json!(-1), true, true),
        ("0", json!(0), true, true),
        ("", json!(0), false, true),
        ("true", json!(true), true, true),
        ("TRUE", json!(true), true, true),
        ("ALS", json!(false), false, true),
        ("1", json!(true), false, false),
    ] {
        compare(wanted, &held, equal, contained);
    }
}

/// A well-formed condition with one change: a value at a JSON pointer, or `None` to remove the member.
fn changed(pointer: &str, value: Option<Value>) -> Value {
    let mut filter = json!({
        "filterType": "opField",
        "category": "opportunity",
        "operator": "AND",
        "id": "row-1",
        "properties": {"field": "f", "value": "1", "operator": "=", "fieldType": "text"},
    });
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = filter.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
    match value {
        Some(value) => parent.insert(name.to_owned(), value),
        None => parent.remove(name),
    };
    filter
}

#[test]
fn optional_and_unusual_members_are_accepted() {
    for (pointer, value) in [
        ("/id", None),
        ("/id", Some(json!(7))),
        ("/more", Some(json!([]))),
        ("/category", None),
        ("/category", Some(json!(null))),
        ("/operator", None),
        ("/operator", Some(json!(null))),
        ("/operator", Some(json!(7))),
        ("/properties/fieldType", None),
        ("/properties/fieldType", Some(json!(7))),
        ("/properties/operator", None),
        ("/properties/operator", Some(json!(null))),
        ("/properties/operator", Some(json!("="))),
        ("/properties/more", Some(json!({}))),
    ] {
        let filter = changed(pointer, value);
        let conditions = kept(slice::from_ref(&filter));
        // The default operator is `=`.
        for (held, holds) in [
            (json!({"f": "1"}), true),
            (json!({"f": "12"}), false),
            (json!({}), false),
        ] {
            assert_eq!(conditions.are_met(&fields(held)), holds, "{filter}");
        }
    }
}
