//! The header `Idempotency-Key` of endpoint 19 (C-10).

use serde_json::{Value, json};
use tests::World;
use tests::people::settle;
use tests::world::Answer;

use super::{body, created};

const REPLAYED: &str = "idempotent-replayed";

async fn keyed(world: &World, key: &str, body: &Value) -> Answer {
    world.webhook(body).header("idempotency-key", key).send().await
}

#[track_caller]
fn is_new(answer: &Answer, id: u64) {
    answer.is(201, &created(id));
    assert_eq!(answer.headers.get(REPLAYED), None);
}

#[track_caller]
fn is_replay(answer: &Answer, id: u64) {
    answer.is(201, &created(id));
    assert_eq!(answer.headers[REPLAYED], "true");
    assert!(answer.cost.write_units() <= 0.0);
}

/// spec.md: without a key nothing is deduplicated.
#[tokio::test]
async fn without_a_key_nothing_is_deduplicated() {
    let world = World::new().await;
    for id in 1..=3 {
        is_new(
            &world.webhook(&body(&json!({ "callId": "same" }))).send().await,
            id,
        );
    }
}

/// The scope is the number: of another one, or in another instance, it is another key.
#[tokio::test]
async fn keys_are_scoped_by_number() {
    let world = World::new().await;
    settle(&world.operator("other-shop")).await;
    is_new(&keyed(&world, "k", &body(&json!({}))).await, 1);
    is_new(
        &keyed(&world, "k", &body(&json!({ "leadPhone": "+55 41 98888-0001" }))).await,
        2,
    );
    is_new(
        &keyed(&world, "k", &body(&json!({ "leadPhone": "anonymous" }))).await,
        3,
    );
    is_new(&keyed(&world, "K", &body(&json!({}))).await, 4);
    let other = world
        .call("POST", "/voip/webhook?i=other-shop")
        .header("idempotency-key", "k");
    is_new(&other.json(&body(&json!({}))).send().await, 1);
    is_replay(&keyed(&world, "k", &body(&json!({}))).await, 1);
    let wallet = world.wallet(7).await;
    let create = json!({ "title": "x", "crm_column": 31, "lead_id": 1001 });
    let elsewhere = world.call("POST", "/crmopportunity?id=3&i=acme").with(&wallet);
    let answer = elsewhere
        .header("idempotency-key", "k")
        .json(&create)
        .send()
        .await;
    assert_eq!(
        answer.status, 400,
        "endpoint 7 has keys of its own: {}",
        answer.body
    );
}

/// C-75: a replay requires the current secret.
#[tokio::test]
async fn a_replay_requires_the_secret() {
    let world = World::new().await;
    let call = body(&json!({}));
    is_new(&keyed(&world, "k", &call).await, 1);
    let operator = world.operator("acme");
    tests::people::set(&operator, "voip_webhook_secret", &json!("right")).await;
    keyed(&world, "k", &call)
        .await
        .is(401, &json!({ "msg": "unauthorized" }));
    let malformed = world.webhook(&call).header("idempotency-key", "");
    malformed.send().await.is(401, &json!({ "msg": "unauthorized" }));
    let signed = world.webhook(&call).header("x-voip-signature", "right");
    is_replay(&signed.header("idempotency-key", "k").send().await, 1);
}
