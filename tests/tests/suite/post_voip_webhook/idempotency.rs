//! The header `Idempotency-Key` of endpoint 19 (C-10).

use serde_json::{Value, json};
use tests::World;
use tests::people::settle;
use tests::world::{Answer, at};

use super::{as_json, body, created};

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

fn used() -> Value {
    json!({ "msg": "Idempotency-Key was used with another body" })
}

/// Everything that a call can change.
async fn everything(world: &World) -> Value {
    json!({
        "calls": world.calls().await.iter().map(as_json).collect::<Vec<_>>(),
        "events": world.events().await.iter().map(as_json).collect::<Vec<_>>(),
        "leads": world.leads().await,
    })
}

/// The same key with the same bytes answers the first answer again, for 24 hours, and does nothing twice, whatever the
/// call was linked to.
#[tokio::test]
async fn a_call_that_is_sent_again() {
    for changes in [
        json!({}),
        json!({ "lead": 1002 }),
        json!({ "leadPhone": "+55 41 98888-0001", "description": "ã" }),
        json!({ "leadPhone": "anonymous" }),
        json!({ "lead": 4711 }),
    ] {
        let world = World::new().await;
        let call = body(&changes);
        is_new(&keyed(&world, "k", &call).await, 1);
        let before = everything(&world).await;
        for time in [
            "2026-11-21T12:00:00Z",
            "2026-11-21T12:00:01Z",
            "2026-11-22T11:59:59Z",
        ] {
            world.clock.set(at(time));
            is_replay(&keyed(&world, "k", &call).await, 1);
        }
        assert_eq!(everything(&world).await, before, "{changes}");
        world.clock.set(at("2026-11-22T12:00:00Z"));
        is_new(&keyed(&world, "k", &call).await, 2);
        is_replay(&keyed(&world, "k", &call).await, 2);
        world.is_sound().await;
    }
}

/// spec.md: without a key nothing is deduplicated.
#[tokio::test]
async fn without_a_key() {
    let world = World::new().await;
    for id in 1..=3 {
        is_new(
            &world.webhook(&body(&json!({ "callId": "same" }))).send().await,
            id,
        );
    }
}

/// The same key with another body is refused, be the difference one of meaning or not.
#[tokio::test]
async fn another_body() {
    let world = World::new().await;
    let call = body(&json!({}));
    is_new(&keyed(&world, "k", &call).await, 1);
    let before = everything(&world).await;
    for changes in [
        json!({ "duration": 66 }),
        json!({ "description": "x" }),
        json!({ "user": 4711 }),
        // The same line, written in another way.
        json!({ "leadPhone": "11973263471" }),
    ] {
        keyed(&world, "k", &body(&changes)).await.is(422, &used());
    }
    let spaced = world
        .call("POST", "/voip/webhook?i=acme")
        .header("idempotency-key", "k");
    spaced.bytes(format!("{call} ")).send().await.is(422, &used());
    assert_eq!(everything(&world).await, before);
    is_replay(&keyed(&world, "k", &call).await, 1);
}

/// The scope is the number: of another one, or in another instance, it is another key.
#[tokio::test]
async fn whose_a_key_is() {
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

/// C-75: a replay is for those alone who know the secret of now.
#[tokio::test]
async fn the_secret_comes_before_a_replay() {
    let world = World::new().await;
    let call = body(&json!({}));
    is_new(&keyed(&world, "k", &call).await, 1);
    let operator = world.operator("acme");
    operator
        .set_setting("voip_webhook_secret", &json!("right"))
        .await
        .expect("a setting");
    keyed(&world, "k", &call)
        .await
        .is(401, &json!({ "msg": "unauthorized" }));
    let signed = world.webhook(&call).header("x-voip-signature", "right");
    is_replay(&signed.header("idempotency-key", "k").send().await, 1);
}

/// Only 2xx are kept.
#[tokio::test]
async fn what_was_refused_is_not_kept() {
    let world = World::new().await;
    for (changes, status) in [
        (json!({ "user": 4711 }), 400),
        (json!({ "type": "LOST" }), 400),
        (json!({}), 201),
    ] {
        let answer = keyed(&world, "k", &body(&changes)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.headers.get(REPLAYED)),
            (status, None)
        );
    }
}

/// A key is 1 to 255 visible ASCII characters, once. It is told in the shape of C-70, before what is wrong with the body,
/// and to those alone who know the secret.
#[tokio::test]
async fn what_a_key_may_be() {
    let world = World::new().await;
    let message = "Idempotency-Key: must be 1 to 255 visible ASCII characters, once";
    let err = json!({ "instancePath": "", "keyword": "header", "message": message });
    let refused = json!({ "msg": "invalid_body", "err": err });
    let longer = "x".repeat(256);
    let call = |keys: &[&str]| {
        let call = world.call("POST", "/voip/webhook?i=acme").bytes("{");
        keys.iter()
            .fold(call, |call, key| call.header("idempotency-key", key))
    };
    for keys in [&[""][..], &["a b"], &["ã"], &["a", "a"], &["a", ""], &[&longer]] {
        call(keys).send().await.is(400, &refused);
    }
    let operator = world.operator("acme");
    operator
        .set_setting("voip_webhook_secret", &json!("right"))
        .await
        .expect("a setting");
    call(&[""])
        .send()
        .await
        .is(401, &json!({ "msg": "unauthorized" }));
    assert_eq!(world.calls().await.len(), 0);
}
