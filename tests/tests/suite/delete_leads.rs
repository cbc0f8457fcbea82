use serde_json::{Value, json};
use tests::bookings::invalid;
use tests::people::{add_leads, plain_lead};
use tests::{Answer, Wallet, World};

use crate::delete_leads_id::listed;

async fn delete(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let uri = format!("/leads?i=acme&apitoken={}", wallet.key);
    world.call("DELETE", &uri).json(body).send().await
}

fn deleted(ids: &[u64], not_found: &[u64]) -> Value {
    json!({ "msg": "deleted", "data": { "ids": ids, "notFound": not_found } })
}

/// Results are in the order sent, each once, including archived leads. Missing ones do not stop the others.
#[tokio::test]
async fn several_leads_are_deleted_in_order() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let body = json!({ "ids": [1007, 4711, 1001, 1003, 1007, 4712, 4711, 1001], "archived": "ignored" });
    let answer = delete(&world, &wallet, &body).await;
    answer.is(200, &deleted(&[1007, 1001, 1003], &[4711, 4712]));
    assert_eq!(listed(&world, false).await, [1002, 1004, 1005, 1006]);
    assert_eq!(listed(&world, true).await, [1012]);
    let answer = delete(&world, &wallet, &body).await;
    answer.is(200, &deleted(&[], &[1007, 4711, 1001, 1003, 4712]));
    delete(&world, &wallet, &json!({ "ids": [] }))
        .await
        .is(200, &deleted(&[], &[]));
    let spellings = json!({ "ids": [1002.0, 1004] });
    delete(&world, &wallet, &spellings)
        .await
        .is(200, &deleted(&[1002, 1004], &[]));
    world.is_sound().await;
}

/// C-24: 120 are deleted together, 121 are rejected together.
#[tokio::test]
async fn up_to_120_leads_are_deleted_together() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let people = (2001..=2121).map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8 + id % 3)));
    add_leads(&world.operator("acme"), people.collect()).await;
    let ids: Vec<u64> = (2001..=2121).rev().collect();
    let refused = invalid("ids: must be a list of at most 120 ids of leads");
    delete(&world, &wallet, &json!({ "ids": ids }))
        .await
        .is(400, &refused);
    assert_eq!(listed(&world, false).await.len(), 6 + 121);
    let answer = delete(&world, &wallet, &json!({ "ids": ids[..120] })).await;
    answer.is(200, &deleted(&ids[..120], &[]));
    assert_eq!(
        listed(&world, false).await,
        [1001, 1002, 1004, 1005, 1006, 1007, 2001]
    );
    world.is_sound().await;
}

#[tokio::test]
async fn refusals() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let ids = invalid("ids: must be a list of at most 120 ids of leads");
    for body in [
        json!({}),
        json!({ "id": 1001 }),
        json!({ "ids": null }),
        json!({ "ids": 1001 }),
        json!({ "ids": "1001" }),
        json!({ "ids": { "0": 1001 } }),
    ] {
        delete(&world, &wallet, &body).await.is(400, &ids);
    }
    for bad in [
        json!("x"),
        json!(null),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e15),
        json!([1002]),
    ] {
        let refused = invalid("ids[1]: must be an id");
        delete(&world, &wallet, &json!({ "ids": [1001, bad] }))
            .await
            .is(400, &refused);
    }
    assert_eq!(listed(&world, false).await.len(), 6);
}
