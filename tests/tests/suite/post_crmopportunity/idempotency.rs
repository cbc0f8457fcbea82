//! The header `Idempotency-Key` of endpoint 7 (C-10).

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::funnel::{Funnel, FunnelAccess};
use shared::ids::GroupId;
use tests::people::{add_users, user, users};
use tests::records::{maria, with};
use tests::sales::{add_funnels, sales};
use tests::world::{Answer, at};
use tests::{Wallet, World};

use super::{body, total, world};

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

/// The scope is the API key and not the funnel, whatever its access token; another key, also of the same user, is another scope.
#[tokio::test]
async fn keys_are_scoped_by_api_key() {
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
    let used = json!({ "msg": USED });
    keyed(&world, &admin, 4, "k", &body(&json!({})))
        .await
        .is(422, &used);
    for (wallet, key) in [(&renewed, "k"), (&colleague, "k"), (&admin, "K"), (&admin, "k1")] {
        is_new(&keyed(&world, wallet, 3, key, &body(&json!({}))).await);
    }
    assert_eq!(total(&world, &admin).await, 5);
    world.is_sound().await;
}

/// The answer is built again from the record: it shows what is, to whom asks now (C-2, C-10).
#[tokio::test]
async fn a_replay_shows_the_current_record() {
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

/// A change after a user created an opportunity.
enum Change {
    /// Of the user's group.
    Group(u64),
    /// Of the opportunity, by an admin.
    Record(Value),
    /// Of the funnel's access.
    Funnel(FunnelAccess),
}

async fn put_in_group(world: &World, group: u64) {
    let mut bruno = users().remove(1);
    bruno.group = GroupId::new(group);
    add_users(&world.operator("acme"), &[bruno]).await;
}

/// A replay shows the same as endpoint 8 would now (C-2, C-82).
#[tokio::test]
async fn a_replay_follows_the_current_permissions() {
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

/// Requests with the winning body replay it, all others get 422.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_different_requests_conflict() {
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
