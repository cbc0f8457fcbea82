//! Tests of large transactions.

use serde_json::{Value, json};

use super::*;
use crate::Database;
use crate::testing::{call, table};

fn transact(database: &Database, actions: &[Value]) -> (u16, Value) {
    call(
        database,
        "TransactWriteItems",
        &json!({ "TransactItems": actions }),
    )
}

fn items(database: &Database) -> Value {
    call(database, "Scan", &json!({ "TableName": "funil" })).1["Items"].take()
}

fn key(sort: usize) -> Value {
    json!({ "pk": { "S": "p" }, "sk": { "S": format!("{sort:04}") } })
}

fn put(sort: usize, condition: Option<&str>) -> Value {
    let mut item = key(sort);
    item["n"] = json!({ "N": "7" });
    let mut put = json!({ "TableName": "funil", "Item": item });
    if let Some(condition) = condition {
        put["ConditionExpression"] = condition.into();
        put["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD".into();
    }
    json!({ "Put": put })
}

fn update(sort: usize, expression: &str, condition: Option<&str>) -> Value {
    let all = [("#n", "n"), ("#ab", "a.b"), ("#gone", "gone")];
    let used = |name: &str| format!("{expression} {}", condition.unwrap_or_default()).contains(name);
    let names: serde_json::Map<_, _> = all
        .into_iter()
        .filter(|(alias, _)| used(alias))
        .map(|(alias, name)| (alias.to_owned(), name.into()))
        .collect();
    let all = [(":n", json!({ "N": "7" })), (":t", json!({ "S": "text" }))];
    let values: serde_json::Map<_, _> = all
        .into_iter()
        .filter(|(alias, _)| used(alias))
        .map(|(alias, value)| (alias.to_owned(), value))
        .collect();
    let mut update = json!({
        "TableName": "funil", "Key": key(sort), "UpdateExpression": expression, "ExpressionAttributeNames": names,
    });
    if !values.is_empty() {
        update["ExpressionAttributeValues"] = values.into();
    }
    if let Some(condition) = condition {
        update["ConditionExpression"] = condition.into();
    }
    json!({ "Update": update })
}

/// A table with items 0 to 3.
fn filled() -> Database {
    let database = table();
    let some: Vec<_> = (0..4).map(|sort| put(sort, None)).collect();
    assert_eq!(transact(&database, &some).0, 200);
    database
}

/// Actions of every form, on new items and present ones.
fn forms() -> Vec<Value> {
    let check = json!({ "TableName": "funil", "Key": key(3), "ConditionExpression": "attribute_exists(pk)" });
    vec![
        put(0, None),
        update(1, "ADD #n :n SET #ab = :t, #gone = :n", Some("#n = :n")),
        update(2, "SET #ab = :t REMOVE #n, #gone", None),
        json!({ "ConditionCheck": check }),
        update(4, "ADD #n :n", None),
        put(5, Some(ABSENT)),
    ]
}

fn fillers() -> impl Iterator<Item = Value> {
    (100..200).map(|sort| put(sort, Some(ABSENT)))
}

/// The size of the transactions does not change the result.
#[test]
fn a_large_transaction_writes_what_ordinary_ones_do() {
    let (large, ordinary) = (filled(), filled());
    let all: Vec<_> = forms().into_iter().chain(fillers()).collect();
    assert_eq!(transact(&large, &all), (200, json!({})));
    for part in [forms(), fillers().collect()] {
        assert_eq!(transact(&ordinary, &part).0, 200);
    }
    assert_eq!(items(&large), items(&ordinary));
    assert_eq!(items(&large).as_array().unwrap().len(), 106);
}

#[test]
fn a_refused_large_transaction_writes_nothing_and_gives_each_reason() {
    let database = filled();
    let before = items(&database);
    let mut all: Vec<_> = fillers().collect();
    all.extend([put(3, Some(ABSENT)), update(9, "ADD #n :n", Some("#n = :n"))]);
    let (status, answer) = transact(&database, &all);
    assert_eq!((status, items(&database)), (400, before));
    let reasons = answer["CancellationReasons"].as_array().unwrap();
    let codes = reasons.iter().map(|reason| reason["Code"].as_str().unwrap());
    assert_eq!(codes.clone().filter(|code| *code == "None").count(), 100);
    assert!(
        codes.skip(100).all(|code| code == "ConditionalCheckFailed"),
        "{answer}"
    );
    assert_eq!(reasons[100]["Item"]["n"], json!({ "N": "7" }));
}

#[test]
fn forms_that_are_not_supported_are_refused() {
    let database = filled();
    let before = items(&database);
    let delete = json!({ "Delete": { "TableName": "funil", "Key": key(0) } });
    let elsewhere = json!({ "Put": { "TableName": "other", "Item": key(9) } });
    for action in [
        delete,
        elsewhere,
        put(100, None),
        update(0, "SET #n = #n + :n", None),
        update(0, "ADD #n :t", None),
    ] {
        let all: Vec<_> = fillers().chain([action]).collect();
        let (status, answer) = transact(&database, &all);
        assert_eq!(status, 400, "{answer}");
        assert!(
            answer["__type"]
                .as_str()
                .unwrap()
                .ends_with("ValidationException"),
            "{answer}"
        );
    }
    let many: Vec<_> = (0..=MAX_EMBEDDED_WRITES).map(|sort| put(sort, None)).collect();
    assert_eq!(transact(&database, &many).0, 400);
    assert_eq!(items(&database), before);
}
