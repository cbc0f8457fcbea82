//! The header `Idempotency-Key` of endpoint 7 (C-10).

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::funnel::{Funnel, FunnelAccess};
use shared::id::GroupId;
use tests::people::{add_users, user, users};
use tests::records::{maria, with};
use tests::sales::{add_funnels, sales};
use tests::world::{Answer, at};
use tests::{Wallet, World};

use super::{body, post, total, world};

const REPLAYED: &str = "idempotent-replayed";
const USED: &str = "Idempotency-Key was used with another body";

async fn keyed(world: &World, wallet: &Wallet, funnel: u64, key: &str, body: &Value) -> Answer {
    let call = world.call("POST", &format!("/crmopportunity?id={funnel}&i=acme"));
    call.with(wallet)
        .header("idempotency-key", key)
        .json(body)
        .send()
        .await
}

#[track_caller]
fn is_new(answer: &Answer) {
    assert_eq!(
        (answer.status.as_u16(), answer.headers.get(REPLAYED)),
        (200, None),
        "{}",
        answer.body
    );
}

#[track_caller]
fn is_replay(answer: &Answer, of: &Value) {
    answer.is(200, of);
    assert_eq!(answer.headers[REPLAYED], "true");
}

/// The same key with the same bytes answers the first answer again, for 24 hours, and does nothing twice.
#[tokio::test]
async fn a_request_that_is_sent_again() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let first = keyed(&world, &admin, 3, "k", &body(&json!({}))).await;
    is_new(&first);
    for time in [
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:00:01Z",
        "2026-11-22T11:59:59Z",
    ] {
        world.clock.set(at(time));
        let again = keyed(&world, &admin, 3, "k", &body(&json!({}))).await;
        is_replay(&again, &first.body);
        assert!(again.cost.write_units() <= 0.0);
        assert_eq!(total(&world, &admin).await, 1);
    }
    world.clock.set(at("2026-11-22T12:00:00Z"));
    let second = keyed(&world, &admin, 3, "k", &body(&json!({}))).await;
    is_new(&second);
    assert_eq!(second.body["id"], 2);
    is_replay(
        &keyed(&world, &admin, 3, "k", &body(&json!({}))).await,
        &second.body,
    );
    world.clock.set(at("2026-11-24T00:00:00Z"));
    let other = keyed(&world, &admin, 3, "k", &body(&json!({ "title": "Outra" }))).await;
    is_new(&other);
    assert_eq!(total(&world, &admin).await, 3);
    world.is_sound().await;
}

/// With another body: 422, where one byte more is another body; and so is another funnel.
#[tokio::test]
async fn a_key_with_another_body() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let first = keyed(&world, &admin, 3, "k", &body(&json!({}))).await;
    is_new(&first);
    let used = json!({ "msg": USED });
    for other in [
        json!({ "title": "Outra" }),
        json!({ "value": 0 }),
        json!({ "crm_column": "31" }),
    ] {
        keyed(&world, &admin, 3, "k", &body(&other)).await.is(422, &used);
    }
    keyed(&world, &admin, 4, "k", &body(&json!({})))
        .await
        .is(422, &used);
    let spaced = format!("{} ", body(&json!({})));
    let call = world.call("POST", "/crmopportunity?id=3&i=acme").with(&admin);
    call.header("idempotency-key", "k")
        .bytes(spaced)
        .send()
        .await
        .is(422, &used);
    is_replay(
        &keyed(&world, &admin, 3, "k", &body(&json!({}))).await,
        &first.body,
    );
    assert_eq!(total(&world, &admin).await, 1);
    world.is_sound().await;
}

/// The scope is the API key, whatever its access token; another key, also of the same user, is another scope.
#[tokio::test]
async fn whose_a_key_is() {
    let world = world().await;
    let (admin, renewed, colleague) = (
        world.wallet(7).await,
        world.wallet(7).await,
        world.wallet(8).await,
    );
    let first = keyed(&world, &admin, 3, "k", &body(&json!({}))).await;
    is_new(&first);
    let new_token = Wallet {
        token: renewed.token.clone(),
        ..admin.clone()
    };
    is_replay(
        &keyed(&world, &new_token, 3, "k", &body(&json!({}))).await,
        &first.body,
    );
    for (wallet, key) in [(&renewed, "k"), (&colleague, "k"), (&admin, "K"), (&admin, "k1")] {
        is_new(&keyed(&world, wallet, 3, key, &body(&json!({}))).await);
    }
    assert_eq!(total(&world, &admin).await, 5);
    world.is_sound().await;
}

/// Only 2xx are kept; without the header nothing is deduplicated.
#[tokio::test]
async fn what_was_refused_is_not_kept() {
    let world = world().await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(9).await);
    let unknown = json!({ "msg": "user: user 99 does not exist" });
    for _ in 0..2 {
        keyed(&world, &admin, 3, "k", &body(&json!({ "user": 99 })))
            .await
            .is(400, &unknown);
    }
    keyed(&world, &admin, 3, "k", &json!([]))
        .await
        .is(400, &json!({ "msg": "body: must be a JSON object" }));
    is_new(&keyed(&world, &admin, 3, "k", &body(&json!({}))).await);
    let unseen = json!({ "msg": "lead_id: lead 1001 does not exist" });
    keyed(&world, &seller, 3, "k", &body(&json!({})))
        .await
        .is(400, &unseen);
    is_new(&keyed(&world, &seller, 3, "k", &body(&json!({ "lead_id": 1002 }))).await);
    for _ in 0..2 {
        is_new(&post(&world, &admin, &body(&json!({}))).await);
    }
    assert_eq!(total(&world, &admin).await, 4);
    world.is_sound().await;
}

/// The answer is built again from the record: it shows what is, to whom asks now (C-2, C-10).
#[tokio::test]
async fn a_replay_shows_what_is() {
    let world = world().await;
    let (admin, other) = (world.wallet(7).await, world.wallet(14).await);
    let first = keyed(&world, &admin, 3, "k", &body(&json!({}))).await;
    is_new(&first);
    assert_eq!(first.body["dataLead"]["initial_password"], "s3nh4-inicial");
    world.clock.set(at("2026-11-21T13:00:00Z"));
    let call = world.call("PUT", "/crmopportunity/1?id=3&i=acme").with(&other);
    assert_eq!(call.json(&json!({ "title": "Outra" })).send().await.status, 400);
    let call = world.call("PUT", "/crmopportunity/1?id=3&i=acme").with(&admin);
    assert_eq!(call.json(&json!({ "title": "Outra" })).send().await.status, 200);
    let changed = with(
        first.body,
        &json!({ "title": "Outra", "updateDate": "2026-11-21T13:00:00.000Z" }),
    );
    is_replay(&keyed(&world, &admin, 3, "k", &body(&json!({}))).await, &changed);
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "type": "INCOMING", "lead": 1001,
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    assert_eq!(world.webhook(&call).send().await.status, 201);
    let mut ana = users().remove(0);
    ana.admin = false;
    add_users(&world.operator("acme"), &[ana]).await;
    let called = json!({ "initial_password": null, "lastActive": "2026-11-21T13:00:00.000Z" });
    let shown = with(changed, &json!({ "dataLead": with(maria(), &called) }));
    is_replay(&keyed(&world, &admin, 3, "k", &body(&json!({}))).await, &shown);
    world.is_sound().await;
}

/// What has changed since a user made an opportunity.
enum Change {
    /// The user's group.
    Group(u64),
    /// The opportunity, by an admin.
    Record(Value),
    /// Who sees the funnel.
    Funnel(FunnelAccess),
}

async fn put_in_group(world: &World, group: u64) {
    let mut bruno = users().remove(1);
    bruno.group = GroupId::new(group);
    add_users(&world.operator("acme"), &[bruno]).await;
}

/// A replay shows what the key would read through endpoint 8 now, and nothing else (C-2, C-82).
#[tokio::test]
async fn a_replay_is_judged_by_the_permissions_of_now() {
    let only = |id| FunnelAccess {
        users: vec![user(id)],
        ..FunnelAccess::default()
    };
    let user_of = |id: u64| Change::Record(json!({ "user": id }));
    for (group, change, seen) in [
        (
            21,
            Change::Record(json!({ "title": "Outra", "status": "gain" })),
            true,
        ),
        (21, Change::Group(23), true),
        (21, Change::Funnel(only(8)), true),
        (21, user_of(9), false),
        (23, user_of(9), true),
        (23, user_of(11), false),
        (24, user_of(11), true),
        (24, Change::Record(json!({ "status": "gain" })), false),
        (24, Change::Record(json!({ "status": "lost" })), false),
        (21, Change::Group(25), false),
        (21, Change::Group(26), false),
        (21, Change::Funnel(only(7)), false),
    ] {
        let world = world().await;
        put_in_group(&world, group).await;
        let (admin, bruno) = (world.wallet(7).await, world.wallet(8).await);
        let made = keyed(&world, &bruno, 3, "k", &body(&json!({}))).await;
        is_new(&made);
        let uri = "/crmopportunity/1?id=3&i=acme";
        match &change {
            Change::Group(group) => put_in_group(&world, *group).await,
            Change::Record(changes) => {
                let call = world.call("PUT", uri).with(&admin).json(changes);
                assert_eq!(call.send().await.status, 200);
            }
            Change::Funnel(access) => {
                let access = access.clone();
                add_funnels(&world.operator("acme"), &[Funnel { access, ..sales() }]).await;
            }
        }
        let again = keyed(&world, &bruno, 3, "k", &body(&json!({}))).await;
        let read = world.call("PUT", uri).with(&bruno).json(&json!({})).send().await;
        assert_eq!(read.status, if seen { 200 } else { 400 });
        if seen {
            is_replay(&again, &read.body["data"]);
        } else {
            again.is(400, &json!({ "msg": "the opportunity of this key is gone" }));
        }
    }
}

/// Of any number of equal requests at once one makes the opportunity, and all answer it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn equal_requests_at_once() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let body = body(&json!({}));
    let answers = join_all((0..20).map(|_| keyed(&world, &admin, 3, "k", &body))).await;
    for answer in &answers {
        answer.is(200, &answers[0].body);
    }
    let replays = answers
        .iter()
        .filter(|answer| answer.headers.contains_key(REPLAYED));
    assert_eq!((replays.count(), total(&world, &admin).await), (19, 1));
    world.is_sound().await;
}

/// Of different requests with one key at once, those of one body are answered it, and all others 422.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn different_requests_at_once() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let bodies = ["A", "B"].map(|title| body(&json!({ "title": title })));
    let answers = join_all((0..20).map(|at| keyed(&world, &admin, 3, "k", &bodies[at % 2]))).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(made.len(), 10);
    for answer in &answers {
        match answer.status.as_u16() {
            200 => answer.is(200, &made[0].body),
            _ => answer.is(422, &json!({ "msg": USED })),
        }
    }
    assert_eq!(total(&world, &admin).await, 1);
    world.is_sound().await;
}

/// A key is 1 to 255 visible ASCII characters, once.
#[tokio::test]
async fn what_a_key_may_be() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let (longest, longer) = ("x".repeat(255), "x".repeat(256));
    let msg = "Idempotency-Key: must be 1 to 255 visible ASCII characters, once";
    for keys in [
        &[""][..],
        &["a b"],
        &["ã"],
        &["\u{ff}"],
        &["a\tb"],
        &["a", "a"],
        &["a", "b"],
        &["a", ""],
        &[&longer],
    ] {
        let mut call = world.call("POST", "/crmopportunity?id=3&i=acme").with(&admin);
        for key in keys {
            call = call.header("idempotency-key", key);
        }
        call.json(&body(&json!({})))
            .send()
            .await
            .is(400, &json!({ "msg": msg }));
    }
    assert_eq!(total(&world, &admin).await, 0);
    for key in [
        "0",
        "8e03978e-40d5-43e8-bc93-6894a57f9324",
        "a/b:c~!\"{}",
        &longest,
    ] {
        let first = keyed(&world, &admin, 3, key, &body(&json!({}))).await;
        is_new(&first);
        is_replay(
            &keyed(&world, &admin, 3, key, &body(&json!({}))).await,
            &first.body,
        );
    }
    assert_eq!(total(&world, &admin).await, 4);
}
