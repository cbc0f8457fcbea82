//! The header `Idempotency-Key` of endpoint 13 (C-10).

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{
    FREE, TAKEN, add_calendars, add_meetings, book, booking, calendar, invalid, made, meeting, meetings,
    no_calendar, unavailable,
};
use tests::world::{Answer, at};

use super::{everything, world};

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

/// The same key with the same bytes answers the first answer again, for 24 hours, and does nothing twice.
#[tokio::test]
async fn a_booking_that_is_sent_again() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let body = booking(
        FREE[0],
        &json!({ "formData": { "email": "b@example.com", "note": "ã" } }),
    );
    let first = keyed(&world, "k", &body).await;
    is_new(&first);
    let before = everything(&world, &admin).await;
    for time in [
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:00:01Z",
        "2026-11-22T11:59:59Z",
    ] {
        world.clock.set(at(time));
        is_replay(&keyed(&world, "k", &body).await, &first.body);
    }
    assert_eq!(everything(&world, &admin).await, before);
    world.clock.set(at("2026-11-22T12:00:00Z"));
    keyed(&world, "k", &body).await.is(409, &unavailable(TAKEN));
    is_new(&keyed(&world, "k", &booking(FREE[1], &json!({}))).await);
    assert_eq!(
        meetings(&world, &admin, 5).await.as_array().map(Vec::len),
        Some(2)
    );
    world.is_sound().await;
}

/// One byte more is another body: 422.
#[tokio::test]
async fn a_key_with_another_body() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let body = booking(FREE[0], &json!({}));
    let first = keyed(&world, "k", &body).await;
    is_new(&first);
    let before = everything(&world, &admin).await;
    let call = world
        .call("POST", "/calendarmeeting?i=acme")
        .header("idempotency-key", "k");
    call.bytes(format!("{body} ")).send().await.is(422, &used());
    for changes in [
        json!({ "date": FREE[1] }),
        json!({ "leadId": 4711, "formData": null }),
        json!({ "opportunityId": 9 }),
        json!({ "properties": { "rescheduleMeetingId": 1, "rescheduleKey": "x" } }),
    ] {
        keyed(&world, "k", &booking(FREE[0], &changes))
            .await
            .is(422, &used());
    }
    is_replay(&keyed(&world, "k", &body).await, &first.body);
    assert_eq!(everything(&world, &admin).await, before);
}

/// The scope is the calendar's link: under another one, or in another instance, it is another key.
#[tokio::test]
async fn whose_a_key_is() {
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

/// A replay comes before all but `i` and the body: whatever has changed meanwhile, what was done is answered.
#[tokio::test]
async fn a_replay_comes_first() {
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
    // It is built again from the record as it is (C-10).
    let canceled = json!({ "status": "canceled", "properties": { "x": 1 } });
    add_meetings(&operator, [meeting(&canceled)]).await;
    let shown = keyed(&world, "k", &body).await;
    let mut expected = first.body;
    expected["data"]["status"] = "canceled".into();
    expected["data"]["properties"] = json!({ "x": 1 });
    for name in ["createDate", "updateDate"] {
        expected["data"][name] = "2026-11-01T12:00:00.000Z".into();
    }
    is_replay(&shown, &expected);
}

/// A move that is sent again.
#[tokio::test]
async fn a_move_that_is_sent_again() {
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
    // The first move happened once and is over: what it answers now is where the meeting is.
    is_replay(&keyed(&world, "k", &to(FREE[1])).await, &second.body);
    assert_eq!(meetings(&world, &admin, 5).await[0]["date"], FREE[2]);
    world.is_sound().await;
}

/// Only 2xx are kept.
#[tokio::test]
async fn what_was_refused_is_not_kept() {
    let world = world().await;
    let off = booking("2026-11-23T09:01:00Z", &json!({}));
    for (body, status) in [
        (off.clone(), 409),
        (off, 409),
        (
            booking(FREE[0], &json!({ "leadId": 4711, "formData": null })),
            400,
        ),
        (booking(FREE[0], &json!({ "formData": {} })), 400),
        (booking(FREE[0], &json!({})), 200),
    ] {
        let answer = keyed(&world, "k", &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.headers.get(REPLAYED)),
            (status, None)
        );
    }
    world.is_sound().await;
}

/// A key is 1 to 255 visible ASCII characters, once. It is told before what is wrong with the body.
#[tokio::test]
async fn what_a_key_may_be() {
    let world = world().await;
    let refused = invalid("Idempotency-Key: must be 1 to 255 visible ASCII characters, once");
    let longer = "x".repeat(256);
    for keys in [&[""][..], &["a b"], &["ã"], &["a", "a"], &["a", ""], &[&longer]] {
        let mut call = world.call("POST", "/calendarmeeting?i=acme");
        for key in keys {
            call = call.header("idempotency-key", key);
        }
        let answer = call.bytes("{").send().await;
        answer.is(400, &refused);
        assert!(answer.cost.read_units() <= 1.0);
    }
}
