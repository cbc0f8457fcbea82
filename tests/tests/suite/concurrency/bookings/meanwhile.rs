//! Concurrent changes between the decision on a booking and its write, placed exactly before the transaction.

use std::sync::Arc;

use serde_json::{Value, json};
use tests::bookings::{FREE, add_calendars, add_meetings, book, booking, calendar, meeting};
use tests::world::{Answer, at, over_sdk};
use tests::{ACME, World};

use super::moves::{booked, moving};
use super::{NEXT_LEAD, before, meetings, office, visitors};

const WRITE: &str = "TransactWriteItems";

/// A concurrent change.
#[derive(Clone)]
enum Deed {
    /// A booking or a move.
    Send(Value),
    /// An import of a meeting or of a calendar.
    Meeting(Value),
    Calendar(Value),
}

impl Deed {
    async fn happen(&self, world: &World) {
        let operator = world.operator(ACME);
        match self {
            Self::Send(body) => {
                let answer = book(world, body).await;
                assert_eq!(answer.status, 200, "{}", answer.body);
            }
            Self::Meeting(changes) => add_meetings(&operator, [meeting(changes)]).await,
            Self::Calendar(changes) => add_calendars(&operator, [calendar(changes)]).await,
        }
    }
}

/// Sends a booking, with changes just before its first transaction.
async fn interrupted(world: World, body: &Value, deeds: &[Deed]) -> (World, Answer) {
    let (beside, deeds) = (Arc::new(world.beside()), deeds.to_vec());
    let action = move || {
        let (beside, deeds) = (beside.clone(), deeds.clone());
        async move {
            for deed in &deeds {
                deed.happen(&beside).await;
            }
        }
    };
    let world = world.with_faults(before(WRITE, 1, action));
    let answer = book(&world, body).await;
    (world, answer)
}

fn daily(hours: &Value) -> Value {
    json!({ "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours, "sat": hours, "sun": hours })
}

fn taken() -> Value {
    json!({ "error": "slot_unavailable", "msg": "the start is taken" })
}

/// An imported meeting off the grid: starts that overlap it with the buffer are taken, starts that only touch
/// are free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imported_meetings_off_the_grid_take_overlapping_starts() {
    let _sdk = over_sdk();
    for (from, to, is_free) in [
        ("2026-11-23T08:40", "2026-11-23T08:50", true),
        ("2026-11-23T08:40", "2026-11-23T08:51", false),
        ("2026-11-23T09:10", "2026-11-23T09:20", false),
        ("2026-11-23T09:29", "2026-11-23T09:35", false),
        ("2026-11-23T09:35", "2026-11-23T09:39", false),
        ("2026-11-23T09:40", "2026-11-23T09:50", true),
        ("2026-11-20T00:00", "2026-11-25T00:00", false),
    ] {
        let times =
            json!({ "id": 77, "date": format!("{from}:00.000Z"), "endDate": format!("{to}:00.000Z") });
        let body = booking(FREE[0], &json!({}));
        let (world, answer) = interrupted(office().await, &body, &[Deed::Meeting(times)]).await;
        if is_free {
            assert_eq!(
                (answer.status.as_u16(), &answer.body["data"]["id"]),
                (200, &json!(78)),
                "{from}"
            );
        } else {
            answer.is(409, &taken());
            assert_eq!(
                (meetings(&world).await.len(), visitors(&world).await.len()),
                (1, 0),
                "{from}"
            );
        }
        world.is_sound().await;
    }
}

/// A calendar's duration grows, and a meeting is booked: the retry compares times, not starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bookings_are_decided_again_when_the_duration_changes() {
    let _sdk = over_sdk();
    let deeds = [
        Deed::Calendar(json!({ "durationMinutes": 60, "bufferMinutes": 0 })),
        Deed::Send(booking("2026-11-23T09:00:00.000Z", &json!({}))),
    ];
    let (world, answer) = interrupted(office().await, &booking(FREE[1], &json!({})), &deeds).await;
    answer.is(409, &taken());
    let there = meetings(&world).await;
    let times: Vec<_> = there
        .iter()
        .map(|meeting| (meeting.date, meeting.end_date))
        .collect();
    assert_eq!(times, [(at(FREE[0]), at("2026-11-23T10:00:00Z"))]);
    world.is_sound().await;
}

/// In two openings that touch, a meeting of each overlaps the other's buffer: exactly one is booked,
/// whichever is first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn meetings_of_touching_openings_exclude_each_other() {
    let _sdk = over_sdk();
    let touching = json!({ "hours": daily(&json!([["09:00", "09:35"], ["09:35", "12:00"]])) });
    let (first, second) = (FREE[0], "2026-11-23T09:35:00.000Z");
    for (wanted, meanwhile) in [(first, second), (second, first)] {
        let world = office().await;
        add_calendars(&world.operator(ACME), [calendar(&touching)]).await;
        let deed = Deed::Send(booking(meanwhile, &json!({})));
        let (world, answer) = interrupted(world, &booking(wanted, &json!({})), &[deed]).await;
        answer.is(409, &taken());
        assert_eq!(
            (meetings(&world).await.len(), visitors(&world).await.len()),
            (1, 1),
            "{wanted}"
        );
        world.is_sound().await;
    }
}

/// A meeting with the calendar's user that is booked on another calendar, imported or moved by an import, also to this
/// user, takes the time; one of another user leaves it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn meetings_of_the_user_on_other_calendars_are_respected() {
    let _sdk = over_sdk();
    let line = |user: u64, from: &str| {
        json!({ "id": 77, "calendarId": 8, "userId": user, "date": format!("2026-11-{from}:00.000Z"),
            "endDate": "2026-11-23T09:20:00.000Z" })
    };
    for (stored, deed, is_free) in [
        (
            None,
            Deed::Send(booking(FREE[0], &json!({ "keyName": "second" }))),
            false,
        ),
        (None, Deed::Meeting(line(7, "22T23:50")), false),
        (
            Some(line(8, "23T09:10")),
            Deed::Meeting(line(7, "23T09:10")),
            false,
        ),
        (
            Some(line(7, "23T09:10")),
            Deed::Meeting(line(8, "23T09:10")),
            false,
        ),
        (None, Deed::Meeting(line(8, "22T23:50")), true),
    ] {
        let world = office().await;
        let operator = world.operator(ACME);
        add_calendars(
            &operator,
            [calendar(
                &json!({ "id": 8, "keyName": "second", "publicId": "pub_8" }),
            )],
        )
        .await;
        add_meetings(&operator, stored.iter().map(meeting)).await;
        let (world, answer) = interrupted(world, &booking(FREE[0], &json!({})), &[deed]).await;
        if is_free {
            assert_eq!(answer.status, 200, "{}", answer.body);
        } else {
            answer.is(409, &taken());
        }
        world.is_sound().await;
    }
}

/// A buffer over midnight (UTC) into another day's meetings, from both sides.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buffers_over_midnight_are_respected() {
    let _sdk = over_sdk();
    let late =
        json!({ "hours": daily(&json!([["00:05", "08:00"], ["23:00", "24:00"]])), "bufferMinutes": 40 });
    let evening = ("2026-11-24T23:00:00.000Z", "2026-11-24T23:30:00.000Z");
    let morning = ("2026-11-25T00:05:00.000Z", "2026-11-25T00:35:00.000Z");
    for (wanted, (date, end)) in [(evening.0, morning), (morning.0, evening)] {
        let imported = json!({ "id": 77, "date": date, "endDate": end });
        for deed in [Deed::Send(booking(date, &json!({}))), Deed::Meeting(imported)] {
            let world = office().await;
            add_calendars(&world.operator(ACME), [calendar(&late)]).await;
            let (world, answer) = interrupted(world, &booking(wanted, &json!({})), &[deed]).await;
            answer.is(409, &taken());
            assert_eq!(meetings(&world).await.len(), 1, "{wanted}");
            world.is_sound().await;
        }
    }
}

/// A meeting that was moved concurrently is moved from its new time. One that was cancelled, or moved to
/// another calendar, cannot be moved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concurrently_changed_meeting_is_moved_or_rejected() {
    let _sdk = over_sdk();
    let elsewhere = json!({ "calendarId": 7, "endDate": "2026-11-23T10:00:00.000Z" });
    for (changes, status, details) in [
        (json!({ "status": "canceled" }), 400, "canceled"),
        (elsewhere, 400, "rescheduleKey"),
        (json!({}), 200, ""),
    ] {
        let world = office().await;
        let data = booked(&world, 1).await.remove(0);
        let mut line = changes.clone();
        line["leadId"] = data["leadId"].clone();
        line["createDate"] = data["createDate"].clone();
        let deed = if status == 200 {
            Deed::Send(moving(&data, FREE[3]))
        } else {
            Deed::Meeting(line)
        };
        let (world, answer) = interrupted(world, &moving(&data, FREE[2]), &[deed]).await;
        let there = meetings(&world).await;
        assert_eq!(there.len(), 1);
        if status == 200 {
            answer.is(
                200,
                &json!({ "msg": "created", "data": super::with_key(&there[0], &data) }),
            );
            assert_eq!(there[0].date, at(FREE[2]));
        } else {
            answer.is(400, &json!({ "error": "Invalid request", "details": details }));
            assert_eq!(there[0].date, at(FREE[0]), "it stays");
        }
        for time in FREE
            .iter()
            .filter(|time| status == 200 && at(time) != there[0].date)
        {
            assert_eq!(
                book(&world, &booking(time, &json!({}))).await.status,
                200,
                "{time} is free"
            );
        }
        world.is_sound().await;
    }
}

/// A meeting that another request moves to the requested time does not conflict with itself, although an
/// earlier read saw that time taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_does_not_conflict_with_itself() {
    let _sdk = over_sdk();
    let world = office().await;
    let data = booked(&world, 1).await.remove(0);
    // With a new link the process does not know the calendar: it reads the meeting first, then the occupied
    // times.
    add_calendars(&world.operator(ACME), [calendar(&json!({ "keyName": "nova" }))]).await;
    let body = {
        let mut body = moving(&data, FREE[2]);
        body["keyName"] = "nova".into();
        body
    };
    let (beside, twin) = (Arc::new(world.beside()), body.clone());
    let action = move || {
        let (beside, twin) = (beside.clone(), twin.clone());
        async move { assert_eq!(book(&beside, &twin).await.status, 200) }
    };
    let world = world.with_faults(before("Query", 1, action));
    let answer = book(&world, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let there = meetings(&world).await;
    assert_eq!((there.len(), there[0].date), (1, at(FREE[2])));
    world.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_meeting_at_the_same_time_conflicts() {
    let _sdk = over_sdk();
    let world = office().await;
    let data = booked(&world, 1).await.remove(0);
    let twin = Deed::Meeting(json!({ "id": 77 }));
    let (world, answer) = interrupted(world, &moving(&data, FREE[0]), &[twin]).await;
    answer.is(409, &taken());
    let (world, answer) = interrupted(world, &moving(&data, FREE[1]), &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    book(&world, &booking(FREE[0], &json!({})))
        .await
        .is(409, &taken());
    world.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_booking_takes_the_next_free_ids() {
    let _sdk = over_sdk();
    let deeds = [1, 2, 3].map(|at| Deed::Send(booking(FREE[at], &json!({}))));
    let (world, answer) = interrupted(office().await, &booking(FREE[0], &json!({})), &deeds).await;
    let numbers = (&answer.body["data"]["id"], &answer.body["data"]["leadId"]);
    assert_eq!(numbers, (&json!(4), &json!(NEXT_LEAD + 3)), "{}", answer.body);
    world.is_sound().await;
}
