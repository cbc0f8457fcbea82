//! What others do between the moment in which a booking was judged and the moment in which it is written. Nothing is left
//! to chance: it happens right before the transaction is sent.

use std::sync::Arc;

use serde_json::{Value, json};
use tests::bookings::{FREE, add_calendars, add_meetings, book, booking, calendar, meeting};
use tests::world::{Answer, at};
use tests::{ACME, World};

use super::moves::{booked, moving};
use super::{NEXT_LEAD, before, meetings, office, visitors};

const WRITE: &str = "TransactWriteItems";

/// What others do.
#[derive(Clone)]
enum Deed {
    /// They book or move.
    Send(Value),
    /// The operator imports a meeting, or a calendar.
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

/// Sends a booking, and right before its first transaction others do something.
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

/// Hours that are the same every day.
fn daily(hours: &Value) -> Value {
    json!({ "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours, "sat": hours, "sun": hours })
}

fn taken() -> Value {
    json!({ "error": "slot_unavailable", "msg": "the start is taken" })
}

/// An imported meeting that begins or ends at no start of the grid: a start whose time and buffer overlap the meeting's
/// is taken, one that only touches them is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_meeting_arrives() {
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

/// A calendar's meetings get longer and one is booked: what was judged under the old duration is judged again by time, not
/// by its start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_duration_changes() {
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

/// Of two openings that touch, a meeting of each reaches into the other's with its buffer: exactly one is booked,
/// whichever comes first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openings_that_touch() {
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

/// A buffer that reaches over midnight (UTC) into another day's meetings, from the earlier side and from the later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_buffer_over_midnight() {
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

/// A meeting that is moved itself meanwhile is moved from where it is then. One that is cancelled, or taken to another
/// calendar, cannot be moved any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_moved_changes() {
    let elsewhere = json!({ "calendarId": 7, "endDate": "2026-11-23T10:00:00.000Z" });
    for (changes, status) in [
        (json!({ "status": "canceled" }), 400),
        (elsewhere, 400),
        (json!({}), 200),
    ] {
        let world = office().await;
        let data = booked(&world, 1).await.remove(0);
        let mut line = changes.clone();
        line["leadId"] = data["leadId"].clone();
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
            answer.is(
                400,
                &json!({ "error": "Invalid request", "details": "rescheduleKey" }),
            );
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

/// A meeting that another request moves to the very time that this one wants is not in its own way, though it was seen
/// where it was and the time was seen taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_is_not_in_its_own_way() {
    let world = office().await;
    let data = booked(&world, 1).await.remove(0);
    // The same calendar under another link is new to this process: the meeting is read first, then what is taken.
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
    let world = world.with_faults(before("BatchGetItem", 2, action));
    let answer = book(&world, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let there = meetings(&world).await;
    assert_eq!((there.len(), there[0].date), (1, at(FREE[2])));
    world.is_sound().await;
}

/// Another meeting at just its own time is in its way all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_meeting_at_its_own_time() {
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

/// The numbers that were seen are gone: the booking takes the next ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_numbers_are_taken() {
    let deeds = [1, 2, 3].map(|at| Deed::Send(booking(FREE[at], &json!({}))));
    let (world, answer) = interrupted(office().await, &booking(FREE[0], &json!({})), &deeds).await;
    let numbers = (&answer.body["data"]["id"], &answer.body["data"]["leadId"]);
    assert_eq!(numbers, (&json!(4), &json!(NEXT_LEAD + 3)), "{}", answer.body);
    world.is_sound().await;
}
