//! C-52: one person is in one place, whatever the calendar.

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{
    FREE, TAKEN, add_calendars, add_meetings, book, booking, calendar, made, meeting, slots, unavailable,
};

use super::world;

const MONDAY: &str = "from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z";

/// Another calendar of user 7 with the same hours and no buffer, with changes.
fn second(changes: &Value) -> shared::calendar::Calendar {
    let mut line = json!({ "id": 8, "keyName": "second", "publicId": "pub_8", "bufferMinutes": 0 });
    for (name, value) in changes.as_object().expect("an object") {
        line[name] = value.clone();
    }
    calendar(&line)
}

async fn two_calendars() -> World {
    let world = world().await;
    add_calendars(&world.operator("acme"), [second(&json!({}))]).await;
    world
}

/// Requires that exactly these of the free times of `demo` are listed, and that the others cannot be booked.
async fn only_free(world: &World, what: &Value, free: &[&str]) {
    for process in [world, &world.elsewhere()] {
        let listed = slots(process, &format!("keyName=demo&{MONDAY}")).await;
        assert_eq!(listed.body["data"]["slots"], json!(free), "{what}");
        for time in FREE.iter().filter(|time| !free.contains(time)) {
            book(process, &booking(time, &json!({})))
                .await
                .is(409, &unavailable(TAKEN));
        }
    }
    world.is_sound().await;
}

/// Meetings of any calendar take the time of their user: booked, imported and of another duration, with the present buffer
/// of their own calendar.
#[tokio::test]
async fn meetings_of_a_user_take_time_on_every_calendar() {
    let taken = |from: &str, to: &str| json!({ "calendarId": 8, "date": format!("2026-11-23T{from}:00Z"), "endDate": format!("2026-11-23T{to}:00Z") });
    let with = |mut line: Value, name: &str, value: Value| {
        line[name] = value;
        line
    };
    for (imported, free) in [
        (taken("09:00", "09:30"), &FREE[1..]),
        // Without a buffer of its own, it may end as the next one begins.
        (taken("09:30", "09:40"), &FREE[1..]),
        (taken("09:30", "09:41"), &FREE[2..]),
        // The calendar's own buffer is after its meetings.
        (taken("09:40", "09:40"), &[FREE[0], FREE[2], FREE[3]][..]),
        (taken("08:00", "12:00"), &[][..]),
        (with(taken("09:00", "09:30"), "userId", json!(8)), &FREE[..]),
        (
            with(taken("09:00", "09:30"), "status", json!("canceled")),
            &FREE[..],
        ),
        // On a calendar of another user, and on the own one with another user.
        (with(taken("09:00", "09:30"), "calendarId", json!(7)), &FREE[1..]),
        (
            json!({ "userId": 8, "date": FREE[0], "endDate": "2026-11-23T09:30:00Z" }),
            &FREE[1..],
        ),
    ] {
        let world = two_calendars().await;
        add_meetings(&world.operator("acme"), [meeting(&imported)]).await;
        only_free(&world, &imported, free).await;
    }
}

/// A booking, its move and its cancellation on the other calendar.
#[tokio::test]
async fn a_booked_meeting_takes_and_frees_the_time_of_its_user() {
    let world = two_calendars().await;
    let on_second = |date: &str, properties: Value| {
        booking(date, &json!({ "keyName": "second", "properties": properties }))
    };
    let (_, key) = made(&book(&world, &on_second("2026-11-23T09:30:00Z", json!({}))).await);
    only_free(&world, &json!("booked"), &FREE[2..]).await;
    let moves = json!({ "rescheduleMeetingId": 1, "rescheduleKey": key });
    made(&book(&world, &on_second("2026-11-23T11:00:00Z", moves)).await);
    only_free(&world, &json!("moved"), &FREE[..3]).await;
    // A move may not take the time of a meeting on the first calendar.
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let moves = json!({ "rescheduleMeetingId": 1, "rescheduleKey": key });
    let refused = book(&world, &on_second("2026-11-23T09:00:00Z", moves)).await;
    refused.is(409, &unavailable(TAKEN));
    let cancels = json!({ "cancelMeetingId": 1, "rescheduleKey": key });
    assert_eq!(
        book(&world, &on_second("2026-11-23T11:00:00Z", cancels))
            .await
            .status,
        200
    );
    only_free(&world, &json!("cancelled"), &FREE[1..]).await;
}

/// A meeting that moves is one of the calendar's present user, whose time is checked.
#[tokio::test]
async fn a_moved_meeting_has_the_present_user() {
    let world = two_calendars().await;
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    add_calendars(&world.operator("acme"), [calendar(&json!({ "userId": 8 }))]).await;
    let moves = json!({ "rescheduleMeetingId": 1, "rescheduleKey": key });
    let answer = book(&world, &booking(FREE[1], &json!({ "properties": moves }))).await;
    assert_eq!(answer.body["data"]["userId"], 8, "{}", answer.body);
    let other =
        |user: u64| calendar(&json!({ "id": 9, "keyName": "third", "publicId": "pub_9", "userId": user }));
    for (user, status) in [(8, 409), (7, 200)] {
        add_calendars(&world.operator("acme"), [other(user)]).await;
        let asked = booking(FREE[1], &json!({ "keyName": "third" }));
        assert_eq!(book(&world, &asked).await.status, status, "{user}");
    }
    world.is_sound().await;
}

/// The present user, buffer and `sharesTime` of the calendars apply from the next request, and rewrite no meeting.
#[tokio::test]
async fn changes_of_calendars_and_meetings_apply_at_once() {
    let world = two_calendars().await;
    let operator = world.operator("acme");
    let times = json!({ "calendarId": 8, "endDate": "2026-11-23T09:35:00Z" });
    add_meetings(&operator, [meeting(&times)]).await;
    only_free(&world, &json!("at first"), &FREE[1..]).await;
    let of = |name: &str, value: Value| json!({ name: value });
    for (own, other, free) in [
        (json!({}), of("bufferMinutes", json!(10)), &FREE[2..]),
        (json!({}), of("bufferMinutes", json!(1440)), &[][..]),
        (json!({}), of("sharesTime", json!(false)), &FREE[..]),
        (of("sharesTime", json!(false)), json!({}), &FREE[..]),
        (json!({}), of("userId", json!(8)), &FREE[1..]),
        (of("userId", json!(8)), json!({}), &FREE[..]),
        (json!({}), json!({}), &FREE[1..]),
    ] {
        add_calendars(&operator, [calendar(&own), second(&other)]).await;
        only_free(&world, &json!([own, other]), free).await;
    }
    for (name, value, free) in [
        ("userId", json!(8), &FREE[..]),
        ("userId", json!(7), &FREE[1..]),
        ("date", json!("2026-11-22T23:30:00Z"), &[][..]),
        ("status", json!("canceled"), &FREE[..]),
    ] {
        let mut line = json!({ "calendarId": 8, "endDate": "2026-11-23T11:30:00Z" });
        if name != "date" {
            line["endDate"] = json!("2026-11-23T09:35:00Z");
        }
        line[name] = value;
        add_meetings(&operator, [meeting(&line)]).await;
        only_free(&world, &line, free).await;
    }
}

/// A calendar that shares no time can be booked beside its user's other meetings, but not twice.
#[tokio::test]
async fn a_room_looks_at_its_own_meetings() {
    let world = two_calendars().await;
    add_calendars(&world.operator("acme"), [second(&json!({ "sharesTime": false }))]).await;
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let room = booking(FREE[0], &json!({ "keyName": "second" }));
    made(&book(&world, &room).await);
    book(&world, &room).await.is(409, &unavailable(TAKEN));
    only_free(&world, &json!("demo"), &FREE[1..]).await;
}

/// The buffer of the other calendar reaches over midnight (UTC), from the day before.
#[tokio::test]
async fn buffers_of_other_calendars_reach_over_midnight() {
    let world = two_calendars().await;
    let operator = world.operator("acme");
    let evening =
        json!({ "calendarId": 8, "date": "2026-11-22T20:00:00Z", "endDate": "2026-11-22T21:00:00Z" });
    add_meetings(&operator, [meeting(&evening)]).await;
    for (buffer, free) in [(720, &FREE[..]), (721, &FREE[1..]), (1440, &[][..])] {
        add_calendars(&operator, [second(&json!({ "bufferMinutes": buffer }))]).await;
        only_free(&world, &json!(buffer), free).await;
    }
}
