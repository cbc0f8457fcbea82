//! Statuses and columns, with their dates (C-32).

use serde_json::{Value, json};
use tests::records::{opportunity, with};
use tests::world::at;

use super::{first, put, record, updated, world};

const LATER: &str = "2026-11-21T13:00:00.000Z";

/// Any status to any other; the same one is no change.
#[tokio::test]
async fn every_pair_of_statuses() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let now = tests::NOW;
    let won = json!({ "gain_date": now });
    let lost = json!({ "lost_date": now });
    let to_gain = json!({ "gain_date": LATER, "lost_date": null });
    let to_lost = json!({ "gain_date": null, "lost_date": LATER });
    let to_open = json!({ "gain_date": null, "lost_date": null, "reopen_date": LATER });
    for (id, (from, begun, to, dates)) in (7..).zip([
        ("open", &json!({}), "open", None),
        ("open", &json!({}), "gain", Some(&to_gain)),
        ("open", &json!({}), "lost", Some(&to_lost)),
        ("gain", &won, "open", Some(&to_open)),
        ("gain", &won, "gain", None),
        ("gain", &won, "lost", Some(&to_lost)),
        ("lost", &lost, "open", Some(&to_open)),
        ("lost", &lost, "gain", Some(&to_gain)),
        ("lost", &lost, "lost", None),
    ]) {
        world.clock.set(at(now));
        let new = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001, "status": from });
        let call = world.call("POST", "/crmopportunity?id=3&i=acme").with(&seller);
        let made = call.json(&new).send().await;
        let before = with(
            opportunity(&json!({ "id": id, "user": 8, "status": from })),
            begun,
        );
        made.is(200, &before);
        world.clock.set(at(LATER));
        let answer = put(&world, &seller, id, &json!({ "status": to })).await;
        let expected = dates.map_or(before.clone(), |dates| {
            let turned = json!({ "status": to, "last_status_change": LATER, "updateDate": LATER });
            with(with(before.clone(), &turned), dates)
        });
        answer.is(200, &updated(&expected));
        assert_eq!(record(&world, id).await, expected, "{from} to {to}");
    }
    world.is_sound().await;
}

/// Each step sets its own dates and keeps the others; reasons remain until cleared.
#[tokio::test]
async fn dates_of_a_chain_of_changes() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let now = |hour: u64| format!("2026-11-21T{hour}:00:00.000Z");
    put(&world, &world.wallet(7).await, 1, &json!({ "user": 8 })).await;
    let mut expected = first(&json!({ "user": 8 }));
    for (hour, sent, dates) in [
        (
            13,
            json!({ "status": "gain", "gain_reason": "preço" }),
            json!({ "gain_date": now(13) }),
        ),
        (
            14,
            json!({ "status": "open" }),
            json!({ "gain_date": null, "reopen_date": now(14) }),
        ),
        (
            15,
            json!({ "status": "lost", "loss_reason": "prazo" }),
            json!({ "lost_date": now(15) }),
        ),
        (
            16,
            json!({ "status": "gain" }),
            json!({ "gain_date": now(16), "lost_date": null }),
        ),
        (
            17,
            json!({ "status": "open", "gain_reason": null }),
            json!({ "gain_date": null, "reopen_date": now(17) }),
        ),
    ] {
        world.clock.set(at(&now(hour)));
        let answer = put(&world, &seller, 1, &sent).await;
        let common = json!({ "last_status_change": now(hour), "updateDate": now(hour) });
        expected = with(with(with(expected, &sent), &common), &dates);
        answer.is(200, &updated(&expected));
    }
    world.is_sound().await;
}

/// A column change sets `last_column_change`, also with other changes; lists and totals follow at once
/// (C-12).
#[tokio::test]
async fn column_changes_set_their_date() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let board = async |status: &str| {
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", admin.key);
        let asked = tests::sales::page(1, 0, &json!({ "limit": 1, "filterByStatus": [status] }));
        let board = world.call("POST", &uri).json(&asked).send().await.body;
        let columns = board.as_array().expect("columns").iter();
        json!(
            columns
                .map(|column| json!([column["total"], column["totalValue"]]))
                .collect::<Vec<Value>>()
        )
    };
    assert_eq!(board("open").await, json!([[3, "11.03"], [0, 0], [0, 0]]));
    world.clock.set(at(LATER));
    let moved = json!({ "crm_column": 33, "last_column_change": LATER, "updateDate": LATER });
    put(&world, &admin, 1, &json!({ "crm_column": 33 })).await;
    assert_eq!(record(&world, 1).await, first(&moved));
    assert_eq!(board("open").await, json!([[2, "10.02"], [0, 0], [1, "1.01"]]));
    put(&world, &admin, 1, &json!({ "crm_column": "33", "value": 2 })).await;
    assert_eq!(
        record(&world, 1).await,
        with(first(&moved), &json!({ "value": 2 }))
    );
    assert_eq!(board("open").await, json!([[2, "10.02"], [0, 0], [1, "2.00"]]));
    let later = "2026-11-21T14:00:00.000Z";
    world.clock.set(at(later));
    put(&world, &admin, 1, &json!({ "crm_column": 32, "status": "lost" })).await;
    let turned = json!({ "value": 2, "crm_column": 32, "status": "lost", "last_column_change": later,
        "last_status_change": later, "lost_date": later, "updateDate": later });
    assert_eq!(record(&world, 1).await, first(&turned));
    assert_eq!(board("open").await, json!([[2, "10.02"], [0, 0], [0, 0]]));
    assert_eq!(board("lost").await, json!([[1, "3.01"], [1, "2.00"], [0, 0]]));
    world.is_sound().await;
}
