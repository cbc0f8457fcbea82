//! The header `Idempotency-Key` of endpoint 13 (C-10).

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{
    FREE, MADE_HERE, add_calendars, add_meetings, book, booking, calendar, invalid, made, meeting, meetings,
    no_calendar,
};
use tests::world::{Answer, at};

use super::world;

const REPLAYED: &str = "idempotent-replayed";

async fn keyed(world: &World, key: &str, body: &Value) -> Answer {
    let call = world
        .call("POST", "/calendarmeeting?i=acme")
        .header("idempotency-key", key);
    call.json(body).send().await
}

#[track_caller]
fn is_new(answer: &Answer) {
    made(answer);
    assert_eq!(answer.headers.get(REPLAYED), None);
}

#[track_caller]
fn is_replay(answer: &Answer, of: &Value) {
    answer.is(200, of);
    assert_eq!(answer.headers[REPLAYED], "true");
    assert!(answer.cost.write_units() <= 0.0);
}

fn used() -> Value {
    json!({ "error": "Idempotency-Key was used with another body" })
}

/// The scope is the calendar's link: under another one, or in another instance, it is another key.
#[tokio::test]
async fn keys_are_scoped_by_link() {
    let world = world().await;
    is_new(&keyed(&world, "k", &booking(FREE[0], &json!({}))).await);
    is_new(&keyed(&world, "k", &booking(FREE[0], &json!({ "keyName": "lisboa" }))).await);
    is_new(&keyed(&world, "K", &booking(FREE[1], &json!({}))).await);
    let other = world.operator("other-shop");
    tests::people::settle(&other).await;
    tests::bookings::open_calendars(&other).await;
    let call = world
        .call("POST", "/calendarmeeting?i=other-shop")
        .header("idempotency-key", "k");
    let answer = call.json(&booking(FREE[0], &json!({}))).send().await;
    is_new(&answer);
    assert_eq!(answer.body["data"]["id"], 1);
    keyed(&world, "k", &booking(FREE[2], &json!({ "keyName": "closed" })))
        .await
        .is(400, &no_calendar());
    world.is_sound().await;
}

/// Only `i` and the body are checked before; later changes do not prevent a replay.
#[tokio::test]
async fn replays_precede_other_checks() {
    let world = world().await;
    let operator = world.operator("acme");
    let body = booking(FREE[0], &json!({ "leadId": 1001, "formData": null }));
    let first = keyed(&world, "k", &body).await;
    is_new(&first);
    world.clock.set(at("2026-11-22T10:00:00Z"));
    let closed = json!({ "isPublished": false, "hours": {}, "userId": 8, "durationMinutes": 5 });
    add_calendars(&operator, [calendar(&closed)]).await;
    book(&world, &body).await.is(400, &no_calendar());
    is_replay(&keyed(&world, "k", &body).await, &first.body);
    add_calendars(&operator, [calendar(&json!({ "keyName": "renamed" }))]).await;
    is_replay(&keyed(&world, "k", &body).await, &first.body);
    keyed(&world, "k", &booking(FREE[1], &json!({})))
        .await
        .is(422, &used());
    let call = world
        .call("POST", "/calendarmeeting?i=")
        .header("idempotency-key", "k");
    call.json(&body)
        .send()
        .await
        .is(400, &invalid("i: must name the instance, once"));
    // It is built from the current record (C-10).
    let canceled = json!({ "status": "canceled", "properties": { "x": 1 }, "createDate": MADE_HERE });
    add_meetings(&operator, [meeting(&canceled)]).await;
    let shown = keyed(&world, "k", &body).await;
    let mut expected = first.body;
    expected["data"]["status"] = "canceled".into();
    expected["data"]["properties"] = json!({ "x": 1 });
    expected["data"]["updateDate"] = "2026-11-01T12:00:00.000Z".into();
    is_replay(&shown, &expected);
}

#[tokio::test]
async fn repeated_moves_are_replayed() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let to = |date: &str| {
        booking(
            date,
            &json!({ "properties": { "rescheduleMeetingId": 1, "rescheduleKey": key } }),
        )
    };
    let first = keyed(&world, "k", &to(FREE[1])).await;
    is_new(&first);
    is_replay(&keyed(&world, "k", &to(FREE[1])).await, &first.body);
    keyed(&world, "k", &to(FREE[2])).await.is(422, &used());
    let second = keyed(&world, "k2", &to(FREE[2])).await;
    is_new(&second);
    // The first move happened once; its replay shows the meeting's current time.
    is_replay(&keyed(&world, "k", &to(FREE[1])).await, &second.body);
    assert_eq!(meetings(&world, &admin, 5).await[0]["date"], FREE[2]);
    world.is_sound().await;
}
