//! `modifiedSince` (C-99).

use serde_json::{Value, json};
use shared::opportunity::{Opportunity, Status};
use tests::sales::{add_opportunities, page, plain_opportunity};
use tests::world::at;

use super::{Client, refused, shop, stocked};

const DETAILS: &str = "modifiedSince: must be RFC 3339, such as 2026-11-21T12:00:00Z";

/// Opportunities 1 to 4, changed at 10:00, 10:00:00.001, 11:00 and 12:00 of 10 March; 3 is won, 4 is archived.
fn changed() -> Vec<Opportunity> {
    let times = ["10:00:00.000", "10:00:00.001", "11:00:00.000", "12:00:00.000"];
    let mut changed: Vec<_> = (1..)
        .zip(times)
        .map(|(id, time)| Opportunity {
            update_date: at(&format!("2026-03-10T{time}Z")),
            ..plain_opportunity(id, 8, u32::try_from(id).expect("small"))
        })
        .collect();
    changed[2].begin_as(Status::Gain);
    changed[2].update_date = at("2026-03-10T11:00:00Z");
    changed[3].archived = true;
    changed
}

/// In both modes, with totals, and together with the other filters.
#[tokio::test]
async fn records_changed_at_or_after_a_time_are_found() {
    let world = stocked(changed()).await;
    let client = Client::of(&world, 7).await;
    for (since, more, expected) in [
        ("2026-03-10T09:59:59.999Z", json!({}), &[3, 2, 1][..]),
        ("2026-03-10T10:00:00.000Z", json!({}), &[3, 2, 1]),
        ("2026-03-10T10:00:00.001Z", json!({}), &[3, 2]),
        ("2026-03-10T07:00:00.001-03:00", json!({}), &[3, 2]),
        ("2026-03-10T11:00:00.001Z", json!({}), &[]),
        ("1900-01-01T00:00:00Z", json!({}), &[3, 2, 1]),
        (
            "2026-03-10T10:00:00Z",
            json!({ "filterByStatus": ["open"] }),
            &[2, 1],
        ),
        ("2026-03-10T10:00:00Z", json!({ "filterByUsers": [9] }), &[]),
        ("2026-03-10T10:00:00Z", json!({ "onlyArchived": true }), &[4]),
        (
            "2026-03-10T10:00:00.001Z",
            json!({ "search": "002", "searchBy": "opportunity" }),
            &[2],
        ),
        (
            "2026-03-10T10:00:00Z",
            json!({ "filterByCreateDate": { "end": "2025-12-31" } }),
            &[],
        ),
    ] {
        let mut body = more;
        body["modifiedSince"] = json!(since);
        assert_eq!(client.found(&body).await, expected, "{body}");
    }
}

/// C-12: a change brings a record in at once; what stays in the list is paged as without the filter (C-42).
#[tokio::test]
async fn pages_follow_the_creation_date() {
    let world = stocked((1..=9).map(|id| plain_opportunity(id, 8, 0))).await;
    let client = Client::of(&world, 7).await;
    let since = json!({ "modifiedSince": world.clock.get().to_string() });
    assert_eq!(client.found(&since).await, [0; 0]);
    for id in [2, 7, 4, 9, 5] {
        client.must_change(id, &json!({ "title": "Mudado" })).await;
    }
    assert_eq!(client.found(&since).await, [9, 7, 5, 4, 2]);
    assert_eq!(client.walk(2, &since).await, [9, 7, 5, 4, 2]);
    let reader = client.program("walker");
    let mut walked = reader.ids(1, 2, &since).await;
    add_opportunities(&world.operator("acme"), vec![plain_opportunity(20, 8, 9)]).await;
    client.must_change(20, &json!({ "title": "Novo" })).await;
    for page in 2..=3 {
        walked.extend(reader.ids(page, 2, &since).await);
    }
    assert_eq!(walked, [9, 7, 5, 4, 2]);
}

/// C-41: another type is a breach of the schema, judged first; other text is judged with the dates.
#[tokio::test]
async fn other_values_are_refused() {
    let world = shop().await;
    let client = Client::of(&world, 7).await;
    for bad in [
        "",
        "yesterday",
        "2026-03-10",
        "2026-03-10T10:00:00",
        "2026-02-30T10:00:00Z",
        "1763719200",
    ] {
        for column in [json!(31), Value::Null] {
            let body = page(1, 25, &json!({ "modifiedSince": bad, "columnId": column }));
            refused(&client.ask(3, &body).await, DETAILS);
        }
    }
    for bad in [
        Value::Null,
        json!(1_763_719_200),
        json!({}),
        json!(["2026-03-10T10:00:00Z"]),
    ] {
        let body = page(1, 25, &json!({ "modifiedSince": bad }));
        let details = json!({ "instancePath": "/modifiedSince", "keyword": "type",
            "schemaPath": "#/properties/modifiedSince/type", "params": { "type": "string" } });
        let expected = json!({ "msg": "must be string", "details": details });
        client.ask(9, &body).await.is(400, &expected);
    }
}
