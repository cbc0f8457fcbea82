//! Random conditions compared with a literal implementation of C-44.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// C-44 literally: the last condition is joined to the result of the others.
fn reference(filters: &[Value], defined: &[&str], record: &Map<String, Value>) -> bool {
    let Some((last, others)) = filters.split_last() else {
        return true;
    };
    let field = last["properties"]["field"].as_str().unwrap();
    let wanted = last["properties"]["value"].as_str().unwrap().to_lowercase();
    let held = record.get(field).map(|held| match held {
        Value::String(text) => text.to_lowercase(),
        other => other.to_string(),
    });
    let met = defined.contains(&field)
        && match last["properties"]["operator"].as_str() {
            Some("!=") => held != Some(wanted),
            Some("contains") => held.is_some_and(|held| held.contains(&wanted)),
            _ => held == Some(wanted),
        };
    match last["operator"].as_str().map(str::to_uppercase).as_deref() {
        _ if others.is_empty() => met,
        Some("OR") => reference(others, defined, record) || met,
        _ => reference(others, defined, record) && met,
    }
}

fn wanted() -> impl Strategy<Value = String> {
    "[aAãÃ1]{0,2}|true"
}

fn held() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[aAãÃ1]{0,3}".prop_map(Value::from),
        (0..20).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ]
}

/// A condition, mostly well-formed.
fn any_condition() -> impl Strategy<Value = Value> {
    let tests = vec![
        json!(null),
        json!("="),
        json!("!="),
        json!("contains"),
        json!("like"),
    ];
    let joins = vec![json!(null), json!("AND"), json!("OR"), json!("or"), json!("nor")];
    let kinds = vec!["opField", "opField", "opField", "opField", "field"];
    let names = vec![" á", "a", "x"];
    let select = (
        prop::sample::select(tests),
        prop::sample::select(joins),
        prop::sample::select(kinds),
        prop::sample::select(names),
    );
    (select, wanted()).prop_map(|((test, join, kind, field), value)| {
        let properties = json!({"field": field, "operator": test, "value": value});
        json!({"filterType": kind, "operator": join, "properties": properties})
    })
}

proptest! {
    #[test]
    fn conditions_equal_the_reference(
        filters in prop::collection::vec(any_condition(), 0..6),
        record in prop::collection::btree_map("[ax]| á", held(), 0..3),
    ) {
        let defined = [" á", "a"];
        let record: Map<_, _> = record.into_iter().collect();
        let kept: Vec<_> = filters
            .iter()
            .filter(|filter| filter["filterType"] == "opField" && filter["properties"]["operator"] != "like")
            .cloned()
            .collect();
        let (conditions, discarded) = Conditions::read(&filters);
        prop_assert_eq!(discarded, filters.len() - kept.len());
        prop_assert_eq!(conditions.is_empty(), kept.is_empty());
        let conditions = conditions.of(&funnel(&defined));
        prop_assert_eq!(conditions.are_met(&record), reference(&kept, &defined, &record));
    }

    #[test]
    fn containment_is_independent_of_surrounding_characters(
        before in "[aΣςσİßÃ]{0,3}", part in "[aΣςσİßÃ]{0,3}", after in "[aΣςσİßÃ]{0,3}",
    ) {
        let text = json!(format!("{before}{part}{after}"));
        prop_assert!(holds("contains", &part, &text));
    }

    #[test]
    fn different_is_the_opposite_of_equal_for_a_defined_field(value in wanted(), held in held()) {
        prop_assert_ne!(holds("=", &value, &held), holds("!=", &value, &held));
    }
}
