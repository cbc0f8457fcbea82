//! Errors of endpoint 10 and their order (C-1, C-41; spec.md, Errors).

use serde_json::{Value, json};
use tests::sales::{add_funnels, columns, page, sales};

use super::{Client, four, refused, shop};

const NO_ID: &str = "funnel_id: must be a whole number from 1 to 999999999999999";
const NO_COLUMN: &str = "columnId: is not a column of funnel 3";

fn unauthorized() -> Value {
    json!({ "error": "Unauthorized" })
}

/// C-41: AJV's error, field for field. The vectors also run in `shared`; here over HTTP.
#[tokio::test]
async fn every_schema_vector_returns_its_error() {
    let world = shop().await;
    // The vectors request column 7.
    let funnel = shared::funnel::Funnel {
        id: tests::sales::funnel(6),
        columns: columns(&[(7, "Entrada", 1)]),
        ..sales()
    };
    add_funnels(&world.operator("acme"), &[funnel]).await;
    let admin = Client::of(&world, 7).await;
    let vectors: Vec<Value> = serde_json::from_str(include_str!(
        "../../../../shared/vectors/ajv-list-opportunities.json"
    ))
    .expect("vectors");
    assert!(vectors.len() >= 100);
    for vector in &vectors {
        let answer = admin.ask(6, &vector["body"]).await;
        let name = vector["name"].as_str().expect("a name");
        if vector["valid"] == false {
            let error = &vector["error"];
            let member = |name: &str| error[name].clone();
            let expected = json!({ "msg": member("message"), "details": {
                "instancePath": member("instancePath"), "schemaPath": member("schemaPath"),
                "keyword": member("keyword"), "params": member("params"),
            } });
            assert_eq!((answer.status.as_u16(), &answer.body), (400, &expected), "{name}");
            continue;
        }
        // Valid by the schema, and rejected by other rules.
        match name {
            "good: date text is not checked" => refused(
                &answer,
                "filterByCreateDate: must be a date such as 2026-11-21 or RFC 3339",
            ),
            "good: columnId 0" | "good: columnId negative" => {
                refused(&answer, "columnId: is not a column of funnel 6");
            }
            _ => assert_eq!(answer.status, 200, "{name}: {}", answer.body),
        }
    }
}

/// C-41: a number beyond a double is no integer.
#[tokio::test]
async fn numbers_beyond_a_double_are_rejected() {
    let world = shop().await;
    let admin = Client::of(&world, 7).await;
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", admin.wallet.key);
    // To JavaScript 1e400 is a number that is no integer.
    for (page, limit, at) in [("1e400", "25", "page"), ("1", "-1e400", "limit")] {
        let details = json!({ "instancePath": format!("/{at}"), "schemaPath": format!("#/properties/{at}/type"),
            "keyword": "type", "params": { "type": "integer" } });
        let body = format!("\u{feff}{{\"page\":{page},\"limit\":{limit}}}");
        let answer = world.call("POST", &uri).bytes(body).send().await;
        answer.is(400, &json!({ "msg": "must be integer", "details": details }));
    }
}

/// C-41: 401 credential, 400 schema, 400 unknown funnel, 401 funnel permission, 400 column or date; before
/// all of them `i` (C-1). Each request has every error from one step on.
#[tokio::test]
async fn errors_are_checked_in_order() {
    let world = shop().await;
    let (admin, outsider, none) = (
        Client::of(&world, 7).await,
        Client::of(&world, 14).await,
        Client::of(&world, 13).await,
    );
    let dates = json!({ "filterByCreateDate": { "start": "yesterday" } });
    let date = page(1, 25, &dates);
    let mut column = date.clone();
    column["columnId"] = json!(9);
    let mut schema = column.clone();
    schema["limit"] = json!(101);

    let instance = world
        .call("POST", "/crm/opportunities/9?apitoken=fk_typo")
        .json(&schema);
    let answer = instance.send().await;
    assert_eq!(
        (answer.status.as_u16(), &answer.body["error"]),
        (400, &json!("Invalid request"))
    );
    for body in [json!({}).to_string(), "{".to_owned(), schema.to_string()] {
        for funnel in ["abc", "9", "4"] {
            let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken=fk_typo");
            let answer = world.call("POST", &uri).bytes(body.clone()).send().await;
            answer.is(401, &unauthorized());
        }
    }
    let over = json!({ "msg": "must be <= 100", "details": {
        "instancePath": "/limit", "schemaPath": "#/properties/limit/maximum", "keyword": "maximum",
        "params": { "comparison": "<=", "limit": 100 },
    } });
    for (client, funnel) in [
        (&admin, "abc"),
        (&none, "9"),
        (&outsider, "4"),
        (&none, "3"),
        (&admin, "3"),
    ] {
        client.ask(funnel, &schema).await.is(400, &over);
    }
    for client in [&admin, &outsider, &none] {
        refused(
            &client.ask("9", &column).await,
            "funnel_id: funnel 9 does not exist",
        );
        refused(&client.ask("abc", &column).await, NO_ID);
    }
    for (client, funnel) in [(&outsider, "4"), (&none, "3")] {
        client.ask(funnel, &column).await.is(401, &unauthorized());
    }
    refused(&admin.ask("3", &column).await, NO_COLUMN);
    refused(
        &admin.ask("3", &date).await,
        "filterByCreateDate: must be a date such as 2026-11-21 or RFC 3339",
    );
}

/// Of another funnel, unknown, and impossible numbers.
#[tokio::test]
async fn unknown_columns_are_rejected() {
    let world = four().await;
    let admin = Client::of(&world, 7).await;
    for column in [
        json!(41),
        json!(34),
        json!(0),
        json!(-31),
        json!(-1e30),
        json!(1e30),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
    ] {
        let body = page(1, 25, &json!({ "columnId": column }));
        refused(&admin.ask(3, &body).await, NO_COLUMN);
    }
    for column in [json!(31), json!(31.0), json!(3.1e1)] {
        assert_eq!(admin.ids(1, 25, &json!({ "columnId": column })).await, [3, 2, 1]);
    }
}

/// C-8: at either end of either filter.
#[tokio::test]
async fn invalid_dates_are_rejected() {
    let world = shop().await;
    let admin = Client::of(&world, 7).await;
    for name in ["filterByCreateDate", "filterByExpectedCloseDate"] {
        let details = format!("{name}: must be a date such as 2026-11-21 or RFC 3339");
        for bad in [
            "",
            "yesterday",
            "2026-02-30",
            "2026-2-3",
            "21/11/2026",
            "2026-11-21T10:00:00",
            "2026-11-21 ",
            "1763719200",
        ] {
            for range in [
                json!({ "start": bad }),
                json!({ "end": bad }),
                json!({ "start": "2026-11-21", "end": bad }),
            ] {
                for column in [json!(31), Value::Null] {
                    let body = page(1, 25, &json!({ name: range, "columnId": column }));
                    refused(&admin.ask(3, &body).await, &details);
                }
            }
        }
    }
}
