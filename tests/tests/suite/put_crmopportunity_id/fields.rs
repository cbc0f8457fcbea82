//! Each property of endpoint 8 alone: valid values, and null (C-7, C-31).

use serde_json::{Value, json};
use tests::records::with;
use tests::world::at;

use super::{NOW, first, put, record, refused, sixth, updated, world};

/// Each property changes with its dates, and nothing else does.
#[tokio::test]
async fn each_property_changes_alone() {
    let world = world().await;
    let seller = world.wallet(9).await;
    let mut expected = first(&json!({}));
    for (minute, (sent, kept)) in (1..).zip([
        (json!({ "title": "ã".repeat(255) }), json!({})),
        (json!({ "title": "a\u{0}b" }), json!({})),
        (
            json!({ "value": "9999999999999.99" }),
            json!({ "value": 9_999_999_999_999.99 }),
        ),
        (json!({ "value": 0 }), json!({})),
        (json!({ "value": 213.20 }), json!({ "value": 213.2 })),
        (
            json!({ "crm_column": "33" }),
            json!({ "crm_column": 33, "last_column_change": "now" }),
        ),
        (
            json!({ "crm_column": 32.0 }),
            json!({ "crm_column": 32, "last_column_change": "now" }),
        ),
        (
            json!({ "sequence": "999999999999999" }),
            json!({ "sequence": 999_999_999_999_999_u64 }),
        ),
        (json!({ "sequence": 0 }), json!({})),
        (
            json!({ "expectedCloseDate": "2026-12-24" }),
            json!({ "expectedCloseDate": "2026-12-24T00:00:00.000Z" }),
        ),
        (
            json!({ "expectedCloseDate": "2026-12-24T09:00:00-03:00" }),
            json!({ "expectedCloseDate": "2026-12-24T12:00:00.000Z" }),
        ),
        (json!({ "expectedCloseDate": null }), json!({})),
        (json!({ "gain_reason": "preço" }), json!({})),
        (json!({ "gain_reason": "" }), json!({})),
        (json!({ "gain_reason": null }), json!({})),
        (json!({ "loss_reason": "ã".repeat(10_000) }), json!({})),
        (json!({ "loss_reason": null }), json!({})),
        (json!({ "archived": true }), json!({ "archived": 1 })),
        (json!({ "archived": false }), json!({ "archived": 0 })),
    ]) {
        let now = format!("2026-11-21T12:{minute:02}:00.000Z");
        world.clock.set(at(&now));
        let answer = put(&world, &seller, 1, &sent).await;
        let mut kept = with(sent, &kept);
        if kept["last_column_change"] == "now" {
            kept["last_column_change"] = json!(now);
        }
        expected = with(with(expected, &kept), &json!({ "updateDate": now }));
        answer.is(200, &updated(&expected));
        assert_eq!(record(&world, 1).await, expected);
    }
    world.is_sound().await;
}

/// C-31.
#[tokio::test]
async fn the_responsible_user_may_be_any_existing_user() {
    let world = world().await;
    let admin = world.wallet(10).await;
    for user in [8, 12, 13, 7, 9] {
        let answer = put(&world, &admin, 1, &json!({ "user": user })).await;
        answer.is(200, &updated(&first(&json!({ "user": user, "updateDate": NOW }))));
    }
    world.is_sound().await;
}

/// C-31: null clears three properties and removes names of `fields`; elsewhere it is rejected.
#[tokio::test]
async fn nulls_clear_or_are_rejected() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let id = "must be a whole number from 1 to 999999999999999";
    for (name, must) in [
        ("title", "must have 1 to 255 characters"),
        (
            "value",
            "must be an amount from 0 to 9999999999999.99 with at most two decimals",
        ),
        ("crm_column", id),
        ("lead_id", id),
        ("user", id),
        ("sequence", "must be a whole number from 0 to 999999999999999"),
        ("status", "must be open, gain or lost"),
        ("archived", "must be true or false"),
        ("fields", "must be an object of values by their fields' names"),
    ] {
        let answer = put(
            &world,
            &seller,
            6,
            &json!({ name: null, "campaign": null, "loss_reason": null }),
        )
        .await;
        refused(&answer, &format!("{name}: {must}"));
    }
    assert_eq!(record(&world, 6).await, sixth());
    let set = json!({ "expectedCloseDate": "2026-12-24", "gain_reason": "x" });
    assert_eq!(put(&world, &seller, 6, &set).await.status, 200);
    let clear = json!({ "expectedCloseDate": null, "gain_reason": null, "loss_reason": null,
        "fields": { "Origem do Lead": null, "Data da visita": null } });
    let cleared = json!({ "expectedCloseDate": null, "gain_reason": null, "loss_reason": null,
        "fields": { "Extinto": 1.5 }, "updateDate": NOW });
    let expected = with(sixth(), &cleared);
    for _ in 0..2 {
        put(&world, &seller, 6, &clear).await.is(200, &updated(&expected));
    }
    assert_eq!(record(&world, 6).await, expected);
    world.is_sound().await;
}

/// C-31: `fields` merges by name, byte for byte; a value of a field that is no longer defined is kept, may be
/// sent unchanged or removed, but not changed.
#[tokio::test]
async fn custom_fields_merge() {
    let world = world().await;
    let seller = world.wallet(8).await;
    for (sent, kept) in [
        (
            json!({ " Número do pedido ": 7 }),
            json!({ "Origem do Lead": "site", "Extinto": 1.5, " Número do pedido ": 7 }),
        ),
        (
            json!({ "Origem do Lead": "", " Número do pedido ": false, "Extinto": 1.5 }),
            json!({ "Origem do Lead": "", "Extinto": 1.5, " Número do pedido ": false }),
        ),
        (
            json!({ "Origem do Lead": null, "Data da visita": "ã".repeat(10_000) }),
            json!({ "Extinto": 1.5, " Número do pedido ": false, "Data da visita": "ã".repeat(10_000) }),
        ),
        (
            json!({ "Extinto": null, " Número do pedido ": -1e-7 }),
            json!({ " Número do pedido ": -1e-7, "Data da visita": "ã".repeat(10_000) }),
        ),
        (
            json!({ "Data da visita": null, " Número do pedido ": null }),
            json!({}),
        ),
    ] {
        let answer = put(&world, &seller, 6, &json!({ "fields": sent })).await;
        answer.is(
            200,
            &updated(&with(sixth(), &json!({ "fields": kept, "updateDate": NOW }))),
        );
    }
    refused(
        &put(&world, &seller, 6, &json!({ "fields": { "Extinto": 2 } })).await,
        "fields.Extinto: is not a field of funnel 3",
    );
    world.is_sound().await;
}

/// C-31: a day is midnight in the instance's zone.
#[tokio::test]
async fn a_day_begins_in_the_instances_zone() {
    let world = world().await;
    let seller = world.wallet(9).await;
    let operator = world.operator("acme");
    let zone = json!("America/Sao_Paulo");
    operator.set_setting("timezone", &zone).await.expect("a setting");
    for (sent, kept) in [
        ("2026-12-24", "2026-12-24T03:00:00.000Z"),
        ("2018-11-04", "2018-11-04T03:00:00.000Z"),
        ("2018-12-24", "2018-12-24T02:00:00.000Z"),
        ("2026-12-24T00:00:00Z", "2026-12-24T00:00:00.000Z"),
    ] {
        let answer = put(&world, &seller, 1, &json!({ "expectedCloseDate": sent })).await;
        answer.is(
            200,
            &updated(&first(&json!({ "expectedCloseDate": kept, "updateDate": NOW }))),
        );
    }
}

/// Archived opportunities are only in the archived list, and can be changed.
#[tokio::test]
async fn archived_opportunities_can_be_changed() {
    let world = world().await;
    let seller = world.wallet(9).await;
    let lists = async || {
        let mut ids = Vec::new();
        for only in [false, true] {
            let list = super::listed(&world, &seller, 31, &json!({ "onlyArchived": only })).await;
            let list: Vec<Value> = list
                .as_array()
                .expect("a list")
                .iter()
                .map(|one| one["id"].clone())
                .collect();
            ids.push(list);
        }
        json!(ids)
    };
    assert_eq!(lists().await, json!([[1], []]));
    put(&world, &seller, 1, &json!({ "archived": true })).await;
    assert_eq!(lists().await, json!([[], [1]]));
    let answer = put(&world, &seller, 1, &json!({ "title": "Nova" })).await;
    answer.is(
        200,
        &updated(&first(
            &json!({ "title": "Nova", "archived": 1, "updateDate": NOW }),
        )),
    );
    put(&world, &seller, 1, &json!({ "archived": false })).await;
    assert_eq!(lists().await, json!([[1], []]));
    world.is_sound().await;
}
