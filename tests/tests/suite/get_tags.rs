//! `GET /tags` (C-98) and `GET /crmlossreason` (C-96).

use serde_json::json;
use tests::World;
use tests::labels::{add_loss_reasons, add_tags};
use tests::people::settle;

/// Complete bodies, ordered numerically by id; user 13 sees no lead and no opportunity.
#[tokio::test]
async fn every_user_sees_all_labels_by_id() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let wallet = world.known(13).await;
    for path in ["/tags", "/crmlossreason"] {
        let answer = world.get(&format!("{path}?i=acme")).with(&wallet).send().await;
        answer.is(200, &json!([]));
    }
    add_tags(&operator, [10, 9, 2]).await;
    add_loss_reasons(&operator, [10, 9, 2]).await;
    let color = "#e53935";
    for (path, expected) in [
        (
            "/tags",
            json!([
                { "id": 2, "tag": "Etiqueta 2", "color": null }, { "id": 9, "tag": "Etiqueta 9", "color": color },
                { "id": 10, "tag": "Etiqueta 10", "color": null },
            ]),
        ),
        (
            "/crmlossreason",
            json!([{ "id": 2, "name": "Motivo 2" }, { "id": 9, "name": "Motivo 9" }, { "id": 10, "name": "Motivo 10" }]),
        ),
    ] {
        let answer = world.get(&format!("{path}?i=acme")).with(&wallet).send().await;
        answer.is(200, &expected);
        assert_eq!(answer.cost.round_trips, 1, "{path}: {:?}", answer.cost);
    }
}

/// Long lists are complete: one more round trip.
#[tokio::test]
async fn long_lists_are_complete() {
    let world = World::new().await;
    let operator = world.operator("acme");
    add_tags(&operator, 1..=1200).await;
    add_loss_reasons(&operator, 1..=1200).await;
    let wallet = world.known(14).await;
    for path in ["/tags", "/crmlossreason"] {
        let answer = world.get(&format!("{path}?i=acme")).with(&wallet).send().await;
        let ids = answer.body.as_array().expect("a bare array").iter();
        let ids: Vec<_> = ids.filter_map(|label| label["id"].as_u64()).collect();
        assert_eq!(ids, (1..=1200).collect::<Vec<_>>());
        assert_eq!(answer.cost.round_trips, 2, "{path}: {:?}", answer.cost);
        let mut walked = Vec::new();
        for (page, count) in [(1, 500), (2, 500), (3, 200), (4, 0)] {
            let uri = format!("{path}?i=acme&limit=500&page={page}");
            let shown = world.get(&uri).with(&wallet).send().await;
            let alone = world
                .elsewhere()
                .get(&uri)
                .with(&world.wallet(7).await)
                .send()
                .await;
            assert_eq!(shown.body, alone.body, "{uri}");
            let labels = shown.body.as_array().expect("a bare array");
            assert_eq!(labels.len(), count, "{uri}");
            walked.extend(labels.clone());
        }
        assert_eq!(walked, *answer.body.as_array().expect("a bare array"));
        let refused = world.read(&wallet, &format!("{path}?i=acme&limit=0")).await;
        let details = "limit: must be a whole number from 1 to 1000";
        refused.is(400, &json!({ "error": "Invalid request", "details": details }));
    }
    tests::people::set(&operator, "read_budget", &json!(1)).await;
    let far = world.read(&wallet, "/tags?i=acme&limit=1000&page=2").await;
    let details = "page: is too far from the start to be read on its own; read the pages in order";
    far.is(400, &json!({ "error": "Invalid request", "details": details }));
}

/// An unreadable item is omitted and counted.
#[tokio::test]
async fn unreadable_labels_are_omitted() {
    let world = World::own().await;
    let operator = world.operator("acme");
    settle(&operator).await;
    add_tags(&operator, [1, 2]).await;
    add_loss_reasons(&operator, [1, 2]).await;
    let (table, wallet) = (world.raw(), world.wallet(7).await);
    for (path, pk) in [("/tags", "acme#tag"), ("/crmlossreason", "acme#loss-reason")] {
        table.put(
            pk,
            "000000000000001",
            &json!({ "id": { "L": [{ "NULL": true }] } }),
        );
        let answer = world.get(&format!("{path}?i=acme")).with(&wallet).send().await;
        let ids = answer.body.as_array().expect("a bare array").iter();
        assert_eq!(ids.map(|label| label["id"].clone()).collect::<Vec<_>>(), [2]);
        assert_eq!(answer.headers["x-items-unreadable"], "1");
    }
}
