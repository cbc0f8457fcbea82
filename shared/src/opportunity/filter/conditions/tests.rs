use std::slice;

use serde_json::json;

use super::*;

mod properties;

const ACCENTED: &str = " Situação do imóvel";

/// A funnel with these custom fields.
fn funnel(fields: &[&str]) -> Funnel {
    let fields: Vec<_> = fields.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({"id": 1, "name": "Vendas", "columns": [], "fields": fields})).unwrap()
}

fn condition(field: &str, operator: &str, value: &str) -> Value {
    json!({"filterType": "opField", "properties": {"field": field, "operator": operator, "value": value}})
}

fn joined(operator: &str, mut condition: Value) -> Value {
    condition["operator"] = json!(operator);
    condition
}

fn fields(fields: Value) -> Map<String, Value> {
    serde_json::from_value(fields).unwrap()
}

/// The conditions of `filters`, none of which is discarded.
fn kept(filters: &[Value]) -> Conditions {
    let (conditions, discarded) = Conditions::read(filters);
    assert_eq!(discarded, 0);
    conditions
}

/// Whether one condition on the field `f` holds for a value of it.
fn holds(operator: &str, wanted: &str, held: &Value) -> bool {
    kept(&[condition("f", operator, wanted)])
        .of(&funnel(&["f"]))
        .hold(&fields(json!({"f": held})))
}

#[test]
fn no_conditions_always_hold() {
    let (conditions, discarded) = Conditions::read(&[]);
    assert_eq!((conditions.is_empty(), discarded), (true, 0));
    assert_eq!(conditions, Conditions::default());
    assert!(conditions.hold(&Map::new()));
}

#[test]
fn text_is_compared_without_case_and_with_accents() {
    // Wanted, held, then whether `=` and `contains` hold; `!=` is the opposite of `=`.
    for (wanted, held, equal, contained) in [
        ("azul", "azul", true, true),
        ("AZUL", "azul", true, true),
        ("azul", "AzUl", true, true),
        ("zu", "Azul", false, true),
        ("azul", "Azul marinho", false, true),
        ("azul ", "azul", false, false),
        ("azul", "verde", false, false),
        ("azul marinho", "azul", false, false),
        ("AÇÃO", "ação", true, true),
        ("acao", "ação", false, false),
        ("ação", "acao", false, false),
        ("ÇÃ", "Ação", false, true),
        ("a%", "a%", true, true),
        ("a%", "azul", false, false),
        (".", "azul", false, false),
        ("ΔΟΣ", "ΟΔΟΣΑ", false, true),
        ("", "", true, true),
        ("", "azul", false, true),
        ("azul", "", false, false),
        (" ", "", false, false),
    ] {
        compare(wanted, &json!(held), equal, contained);
    }
}

/// Requires what a field that holds a value says to each comparison with a wanted one.
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

#[test]
fn only_another_value_is_asked_of_a_record_without_one() {
    for record in [
        json!({}),
        json!({"f": null}),
        json!({"F": "azul", " f": "azul", "f ": "azul"}),
    ] {
        let record = fields(record);
        for value in ["", "azul", "null"] {
            for (operator, holds) in [("=", false), ("!=", true), ("contains", false)] {
                let conditions = kept(&[condition("f", operator, value)]).of(&funnel(&["f"]));
                assert_eq!(
                    conditions.hold(&record),
                    holds,
                    "{operator} {value:?} in {record:?}"
                );
            }
        }
    }
}

#[test]
fn a_field_is_named_byte_for_byte() {
    let funnel = funnel(&[ACCENTED, "Cor"]);
    let record = fields(json!({ACCENTED: "Alugado", "Cor": "azul"}));
    for (name, defined) in [
        (ACCENTED, true),
        ("Cor", true),
        (ACCENTED.trim(), false),
        (" situação do imóvel", false),
        (" Situacao do imovel", false),
        (" Situac\u{327}a\u{303}o do imo\u{301}vel", false),
        (" Situação do imóvel ", false),
        ("cor", false),
        ("", false),
    ] {
        let holds = |operator, value| {
            kept(&[condition(name, operator, value)])
                .of(&funnel)
                .hold(&record)
        };
        assert_eq!(holds("contains", ""), defined, "{name:?}");
        assert_eq!(holds("!=", "outro"), defined, "{name:?}");
    }
}

#[test]
fn a_condition_on_an_undefined_field_is_false_and_joins_like_any_other() {
    let funnel = funnel(&["f"]);
    // Even a value that a record still holds under that name does not count.
    let record = fields(json!({"f": "1", "gone": "1"}));
    for operator in ["=", "!=", "contains"] {
        let undefined = || condition("gone", operator, "1");
        let other = || condition("f", "=", "1");
        for (filters, holds) in [
            (vec![undefined()], false),
            (vec![undefined(), other()], false),
            (vec![other(), undefined()], false),
            (vec![undefined(), joined("OR", other())], true),
            (vec![other(), joined("OR", undefined())], true),
            (vec![other(), undefined(), joined("OR", other())], true),
        ] {
            assert_eq!(kept(&filters).of(&funnel).hold(&record), holds, "{filters:?}");
        }
    }
    assert!(!kept(&[condition("gone", "!=", "2")]).of(&funnel).is_empty());
}

#[test]
fn each_condition_joins_the_result_of_those_before_it() {
    let yes = || condition("f", "=", "1");
    let no = || condition("f", "=", "2");
    let record = fields(json!({"f": 1}));
    for (filters, holds) in [
        (vec![yes(), yes()], true),
        (vec![yes(), no()], false),
        (vec![no(), joined("OR", yes())], true),
        (vec![no(), joined("or", yes())], true),
        (vec![no(), joined("oR", yes())], true),
        // AND does not bind closer than OR, on either side of it.
        (vec![yes(), joined("OR", yes()), joined("AND", no())], false),
        (vec![no(), joined("AND", no()), joined("OR", yes())], true),
        (vec![no(), joined("OR", yes()), joined("AND", yes())], true),
        // The first one's operator joins it to nothing.
        (vec![joined("OR", no())], false),
        (vec![joined("OR", yes()), no()], false),
        (vec![joined("OR", no()), joined("OR", yes())], true),
        // Whatever is not OR is AND.
        (vec![no(), joined("AND", yes())], false),
        (vec![no(), joined("", yes())], false),
        (vec![no(), joined(" OR", yes())], false),
        (vec![no(), joined("XOR", yes())], false),
        (vec![no(), joined("||", yes())], false),
    ] {
        assert_eq!(kept(&filters).hold(&record), holds, "{filters:?}");
    }
    for operator in [
        json!(null),
        json!(1),
        json!(true),
        json!(["OR"]),
        json!({"or": "OR"}),
    ] {
        let mut second = yes();
        second["operator"] = operator.clone();
        assert!(!kept(&[no(), second]).hold(&record), "{operator}");
    }
}

/// A well-formed condition with one change: a value at a JSON pointer, or `None` to take the member away.
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
fn what_may_be_absent_or_odd_is_kept() {
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
        // `=` is what an absent operator means.
        for (held, holds) in [
            (json!({"f": "1"}), true),
            (json!({"f": "12"}), false),
            (json!({}), false),
        ] {
            assert_eq!(conditions.hold(&fields(held)), holds, "{filter}");
        }
    }
}

fn malformed() -> Vec<Value> {
    let other_than_text = || [json!(null), json!(1), json!(true), json!(["="]), json!({})];
    let mut filters = vec![
        json!(null),
        json!("opField"),
        json!(1),
        json!(true),
        json!([]),
        json!({}),
    ];
    filters.push(json!([changed("/id", None)]));
    for name in [
        "/filterType",
        "/properties",
        "/properties/field",
        "/properties/value",
    ] {
        filters.push(changed(name, None));
        // No object either: for `properties` a text is as bad as a number.
        filters.extend(other_than_text().map(|value| changed(name, Some(value))));
    }
    filters.push(changed("/properties", Some(json!("f=1"))));
    for kind in ["", "opfield", "opField ", "leadField"] {
        filters.push(changed("/filterType", Some(json!(kind))));
    }
    for category in [
        json!(""),
        json!("Opportunity"),
        json!("lead"),
        json!("company"),
        json!(1),
        json!(false),
    ] {
        filters.push(changed("/category", Some(category)));
    }
    for operator in ["like", "isNotNull", "", "==", "<>", "Contains", "= ", ">", "in"] {
        filters.push(changed("/properties/operator", Some(json!(operator))));
    }
    let [_, operators @ ..] = other_than_text();
    filters.extend(operators.map(|operator| changed("/properties/operator", Some(operator))));
    filters
}

#[test]
fn what_is_malformed_is_discarded_and_counted() {
    for filter in malformed() {
        assert_eq!(
            Conditions::read(slice::from_ref(&filter)),
            (Conditions::default(), 1),
            "{filter}"
        );
    }
    let all = malformed();
    let (conditions, discarded) = Conditions::read(&all);
    assert_eq!((conditions.is_empty(), discarded), (true, all.len()));
    assert!(conditions.of(&funnel(&[])).hold(&Map::new()));
}

#[test]
fn a_discarded_condition_joins_nothing() {
    let record = fields(json!({"f": "1"}));
    let (yes, no) = (condition("f", "=", "1"), condition("f", "=", "2"));
    let discarded = |operator| joined(operator, condition("f", "like", "1"));
    for (filters, holds) in [
        (vec![discarded("OR"), no.clone()], false),
        (vec![discarded("AND"), joined("OR", no.clone())], false),
        (vec![no.clone(), discarded("OR")], false),
        (vec![no.clone(), discarded("OR"), yes.clone()], false),
        (
            vec![no.clone(), discarded("AND"), joined("OR", yes.clone())],
            true,
        ),
        (vec![yes.clone(), discarded("AND")], true),
    ] {
        let (conditions, discarded) = Conditions::read(&filters);
        assert_eq!((conditions.hold(&record), discarded), (holds, 1), "{filters:?}");
    }
}
