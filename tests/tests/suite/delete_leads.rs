//! `DELETE /leads`: endpoint 5 in bulk (C-24).

use serde_json::{Value, json};
use tests::bookings::invalid;
use tests::people::{add_leads, plain_lead};
use tests::{Answer, Wallet, World};

use crate::delete_leads_id::{allow, listed};

async fn delete(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let uri = format!("/leads?i=acme&apitoken={}", wallet.key);
    world.call("DELETE", &uri).json(body).send().await
}

fn deleted(ids: &[u64], not_found: &[u64]) -> Value {
    json!({ "msg": "deleted", "data": { "ids": ids, "notFound": not_found } })
}

/// In the order in which they were sent, each once; archived ones too. What is not there stops no others.
#[tokio::test]
async fn several_at_once() {
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

/// C-24: 120 are deleted together, 121 are refused together.
#[tokio::test]
async fn as_many_as_there_may_be() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let people = (2001..=2121).map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8 + id % 3)));
    add_leads(&world.operator("acme"), people.collect()).await;
    let ids: Vec<u64> = (2001..=2121).rev().collect();
    let refused = invalid("ids: must be at most 120 ids of leads");
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
    let ids = invalid("ids: must be at most 120 ids of leads");
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
        json!("1002"),
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
    for body in [json!([1001]), json!(1001), json!("1001"), json!(null)] {
        let refused = invalid("body: must be a JSON object");
        delete(&world, &wallet, &body).await.is(400, &refused);
    }
    let uri = format!("/leads?i=acme&apitoken={}", wallet.key);
    for bytes in [
        &b""[..],
        b"{",
        b"ids=1001",
        b"{\"ids\":[1001]}}",
        b"{\"ids\":[\"\xFF\"]}",
    ] {
        let answer = world.call("DELETE", &uri).bytes(bytes.to_vec()).send().await;
        answer.is(400, &invalid("body: must be JSON"));
    }
    assert_eq!(listed(&world, false).await.len(), 6);
}

/// C-82: what a key does not see is not found; a key without the permission may do nothing, whatever is named.
#[tokio::test]
async fn permissions() {
    let world = World::new().await;
    let wallet = world.wallet(8).await;
    let body = json!({ "ids": [1002, 1001, 1004, 4711, 1007] });
    allow(&world, 2, false, true).await;
    let refused = json!({ "error": "Forbidden" });
    delete(&world, &wallet, &body).await.is(403, &refused);
    delete(&world, &wallet, &json!({ "ids": [] }))
        .await
        .is(403, &refused);
    allow(&world, 2, true, true).await;
    delete(&world, &wallet, &body)
        .await
        .is(200, &deleted(&[1001], &[1002, 1004, 4711, 1007]));
    assert_eq!(listed(&world, false).await, [1002, 1004, 1005, 1006, 1007]);
    let blind = world.wallet(13).await;
    delete(&world, &blind, &body)
        .await
        .is(200, &deleted(&[], &[1002, 1001, 1004, 4711, 1007]));
    world.is_sound().await;
}
