//! Cancelling a meeting, and the order in which a change is judged (C-53, C-55).

use serde_json::{Value, json};
use shared::people::User;
use tests::World;
use tests::bookings::{
    FREE, OFF_GRID, TAKEN, add_calendars, book, booking, calendar, invalid, made, no_calendar, slots,
    unavailable,
};
use tests::people::{add_users, user};
use tests::world::{Answer, at};

use super::{everything, world};

/// The body that cancels or moves a meeting, by the name of its id.
fn change(name: &str, id: u64, key: &str, date: &str) -> Value {
    json!({ "keyName": "demo", "date": date, "leadId": null, "properties": { name: id, "rescheduleKey": key } })
}

async fn cancel(world: &World, id: u64, key: &str, date: &str) -> Answer {
    book(world, &change("cancelMeetingId", id, key, date)).await
}

async fn move_to(world: &World, id: u64, key: &str, date: &str) -> Answer {
    book(world, &change("rescheduleMeetingId", id, key, date)).await
}

/// A meeting of a new lead at a free time, with its key.
async fn booked(world: &World, date: &str) -> (Value, String) {
    made(&book(world, &booking(date, &json!({}))).await)
}

/// Its time becomes free; only the status changes, once, for the holder of the key who names the present start.
#[tokio::test]
async fn a_meeting_is_cancelled_by_its_key() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let (mut meeting, key) = booked(&world, FREE[0]).await;
    let before = everything(&world, &admin).await;
    let mut twofold = change("cancelMeetingId", 1, &key, FREE[0]);
    twofold["properties"]["rescheduleMeetingId"] = json!(1);
    for (body, details) in [
        (change("cancelMeetingId", 1, "x", FREE[0]), "rescheduleKey"),
        (
            change("cancelMeetingId", 1, &key, FREE[1]),
            "date: must be the start of the meeting to cancel",
        ),
        (
            twofold,
            "cancelMeetingId: must not be sent with rescheduleMeetingId",
        ),
    ] {
        let answer = book(&world, &body).await;
        answer.is(400, &invalid(details));
        assert!(answer.cost.write_units() <= 0.0);
    }
    assert_eq!(everything(&world, &admin).await, before);
    meeting["status"] = json!("canceled");
    meeting["rescheduleKey"] = json!(key);
    cancel(&world, 1, &key, FREE[0])
        .await
        .is(200, &json!({ "msg": "canceled", "data": meeting }));
    for date in [FREE[0], FREE[1]] {
        cancel(&world, 1, &key, date).await.is(400, &invalid("canceled"));
        move_to(&world, 1, &key, date).await.is(400, &invalid("canceled"));
    }
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    world.is_sound().await;
}

/// One that has begun can be neither cancelled nor moved.
#[tokio::test]
async fn a_meeting_that_has_begun_stays() {
    let world = world().await;
    let (_, key) = booked(&world, FREE[0]).await;
    world.clock.set(at(FREE[0]));
    for date in [FREE[0], FREE[1], "2026-11-23T09:41:00Z"] {
        cancel(&world, 1, &key, date).await.is(400, &invalid("past"));
        move_to(&world, 1, &key, date).await.is(400, &invalid("past"));
    }
    cancel(&world, 1, "x", FREE[0])
        .await
        .is(400, &invalid("rescheduleKey"));
    world.clock.set(at("2026-11-23T08:59:59.999Z"));
    assert_eq!(cancel(&world, 1, &key, FREE[0]).await.status, 200);
}

/// C-55: neither lead nor opportunity of the request is looked up, and a null lead needs no form.
#[tokio::test]
async fn a_change_ignores_the_lead() {
    let world = world().await;
    let (booked, key) = booked(&world, FREE[0]).await;
    for (turn, lead) in [json!(null), json!(4711), json!(0), json!(-1), json!(1002)]
        .into_iter()
        .enumerate()
    {
        let mut body = change("rescheduleMeetingId", 1, &key, FREE[(turn + 1) % 2]);
        body["leadId"] = lead;
        body["opportunityId"] = json!(99);
        let (moved, _) = made(&book(&world, &body).await);
        assert_eq!(moved["leadId"], booked["leadId"]);
    }
    for lead in [json!("null"), json!("1001"), json!(true)] {
        let mut body = change("cancelMeetingId", 1, &key, FREE[1]);
        body["leadId"] = lead;
        let details = "leadId: must be the id of a lead, or null for a new one";
        book(&world, &body).await.is(400, &invalid(details));
    }
}

/// CL006 follows the state and precedes the slot; it does not hinder a cancellation. The calendar's user became inactive,
/// or the calendar is not published any more; the process knows the link or not. Slots show the meeting without times.
#[tokio::test]
async fn an_inactive_calendar_admits_only_cancellations() {
    for (is_published, is_active, is_known) in [
        (false, true, true),
        (false, true, false),
        (true, false, true),
        (true, false, false),
    ] {
        let world = world().await;
        let operator = world.operator("acme");
        let (_, first) = booked(&world, FREE[0]).await;
        let (_, second) = booked(&world, FREE[1]).await;
        let (_, third) = booked(&world, FREE[2]).await;
        cancel(&world, 2, &second, FREE[1]).await;
        let closed = json!({ "isPublished": is_published, "userId": 8 });
        let inactive = User {
            active: is_active,
            ..User::new(user(8), "Rui")
        };
        add_users(&operator, &[inactive]).await;
        add_calendars(&operator, [calendar(&closed)]).await;
        let world = if is_known { world } else { world.beside() };
        book(&world, &booking(FREE[3], &json!({})))
            .await
            .is(400, &no_calendar());
        slots(&world, "keyName=demo").await.is(400, &no_calendar());
        for (key, date, details) in [("x", FREE[3], "rescheduleKey"), (&second, FREE[0], "canceled")] {
            move_to(&world, 2, key, date).await.is(400, &invalid(details));
        }
        for date in [FREE[2], FREE[3], "2026-11-23T09:41:00Z"] {
            move_to(&world, 1, &first, date).await.is(400, &no_calendar());
        }
        let shown = slots(&world, &format!("keyName=demo&meetingId=1&rescheduleKey={first}")).await;
        let meeting = json!({ "date": FREE[0], "status": "scheduled", "moves": 0 });
        let data = &shown.body["data"];
        assert_eq!(
            (shown.status.as_u16(), &data["slots"], &data["meeting"]),
            (200, &json!([]), &meeting)
        );
        assert_eq!(cancel(&world, 1, &first, FREE[0]).await.status, 200);
        world.clock.set(at(FREE[2]));
        move_to(&world, 3, &third, FREE[3])
            .await
            .is(400, &invalid("past"));
        world.is_sound().await;
    }
}

/// A deleted lead does not hinder a cancellation.
#[tokio::test]
async fn a_meeting_of_a_deleted_lead_is_cancelled() {
    let world = world().await;
    let wallet = world.wallet(7).await;
    let (booked, key) = booked(&world, FREE[0]).await;
    let lead = booked["leadId"].as_u64().expect("a lead");
    let deleted = world.call("DELETE", &format!("/leads/{lead}?i=acme&apitoken={}", wallet.key));
    assert_eq!(deleted.with(&wallet).send().await.status, 200);
    let mut body = change("cancelMeetingId", 1, &key, FREE[0]);
    body["leadId"] = json!(lead);
    let canceled = book(&world, &body).await;
    assert_eq!(
        (canceled.status.as_u16(), &canceled.body["data"]["leadId"]),
        (200, &Value::Null)
    );
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
}

/// The whole order of a move: key, state, the slot.
#[tokio::test]
async fn the_slot_is_judged_last() {
    let world = world().await;
    let (_, key) = booked(&world, FREE[0]).await;
    booked(&world, FREE[1]).await;
    for (date, reason) in [(FREE[1], TAKEN), ("2026-11-23T09:41:00Z", OFF_GRID)] {
        move_to(&world, 1, "x", date)
            .await
            .is(400, &invalid("rescheduleKey"));
        move_to(&world, 1, &key, date).await.is(409, &unavailable(reason));
    }
}
