//! Endpoint 13. Comments list the written items: one of a started KB is one unit, in a transaction two.

use serde_json::{Value, json};
use tests::bookings::{FREE, add_calendars, calendar, open_calendars};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::world::at;
use tests::{ACME, Answer, World};

use super::calendars::{cl006, costs};
use crate::concurrency::bookings::moves::moving;

async fn office() -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_calendars(&operator).await;
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 7, 0)]).await;
    world.meet_public().await;
    world
}

fn new_lead(date: &str) -> Value {
    let form =
        json!({ "firstname": "Bia", "email": "bia@example.com", "phone": "5541988880001", "cpf": "1" });
    json!({ "keyName": "demo", "date": date, "leadId": null, "formData": form })
}

fn known_lead(date: &str) -> Value {
    json!({ "keyName": "demo", "date": date, "leadId": 1001 })
}

async fn book(world: &World, key: Option<&str>, body: &Value) -> Answer {
    let call = world.call("POST", "/calendarmeeting?i=acme");
    let call = match key {
        Some(key) => call.header("idempotency-key", key),
        None => call,
    };
    call.json(body).send().await
}

fn day(days: u32, time: usize) -> String {
    at(FREE[time]).plus_days(days).to_string()
}

#[track_caller]
fn booked(what: &str, answer: &Answer, expected: (u32, usize, f64, f64)) -> Value {
    assert_eq!(answer.status, 200, "{what}: {}", answer.body);
    costs(what, answer, expected);
    answer.body["data"].clone()
}

/// Two round trips for a link known to the process, three for a new one. The transaction writes and bills
/// twice: the meeting, its entry, the link from its lead, the days of calendar and user, the month, and the id
/// counter (7 items); for a new lead its record, its entry, its class's total, its block, the lookup of its
/// number, its address, its other words, its number, and the id counter (9 more); for a known one its pending change and its stale marker (2 more).
#[tokio::test]
async fn booking_costs() {
    let world = office().await;
    // The first booking of an instance also writes the secret.
    booked(
        "13: first of an instance and a process",
        &book(&world, None, &new_lead(&day(0, 0))).await,
        (3, 7, 9.0, 34.0),
    );
    booked(
        "13: new lead",
        &book(&world, None, &new_lead(&day(0, 1))).await,
        (2, 7, 9.0, 32.0),
    );
    booked(
        "13: new lead, new day",
        &book(&world, None, &new_lead(&day(1, 1))).await,
        (2, 7, 9.0, 32.0),
    );
    booked(
        "13: new lead, with a key",
        &book(&world, Some("k"), &new_lead(&day(1, 2))).await,
        (2, 7, 10.0, 34.0),
    );
    booked(
        "13: the same again",
        &book(&world, Some("k"), &new_lead(&day(1, 2))).await,
        (2, 8, 12.0, 0.0),
    );
    booked(
        "13: known lead",
        &book(&world, None, &known_lead(&day(2, 0))).await,
        (2, 7, 9.0, 18.0),
    );
    let mut about = known_lead(&day(2, 1));
    about["opportunityId"] = json!(1);
    booked(
        "13: known lead, opportunity",
        &book(&world, None, &about).await,
        (2, 7, 10.0, 18.0),
    );
    booked(
        "13: known lead, with a key",
        &book(&world, Some("l"), &known_lead(&day(2, 2))).await,
        (2, 7, 10.0, 20.0),
    );
    let renamed = calendar(&json!({ "keyName": "nova" }));
    add_calendars(&world.operator(ACME), [renamed]).await;
    let mut first = known_lead(&day(2, 3));
    first["keyName"] = "nova".into();
    booked(
        "13: known lead, first time in a process",
        &book(&world, None, &first).await,
        (3, 7, 9.0, 18.0),
    );
}

/// A meeting that moves: its record, two entries, its lead's activity and stale marker, and the old and new
/// days and months, of calendar and user.
#[tokio::test]
async fn moving_costs() {
    let world = office().await;
    let mut data = booked(
        "13: arranged",
        &book(&world, None, &new_lead(&day(0, 0))).await,
        (3, 7, 9.0, 34.0),
    );
    for (what, key, to, expected) in [
        ("13: moved within its day", None, day(0, 1), (2, 7, 8.0, 14.0)),
        (
            "13: moved within its day, with a key",
            Some("k"),
            day(0, 2),
            (2, 7, 9.0, 16.0),
        ),
        ("13: moved to another day", None, day(1, 0), (2, 7, 8.0, 20.0)),
        ("13: moved to another month", None, day(14, 0), (2, 7, 8.0, 22.0)),
        ("13: moved to where it is", None, day(14, 0), (2, 7, 8.0, 12.0)),
    ] {
        data = booked(what, &book(&world, key, &moving(&data, &to)).await, expected);
    }
}

/// Rejections cost only reads.
#[tokio::test]
async fn rejected_bookings_cost_only_reads() {
    let world = office().await;
    let taken = json!({ "error": "slot_unavailable", "msg": "the start is taken" });
    let data = booked(
        "13: arranged",
        &book(&world, None, &new_lead(FREE[0])).await,
        (3, 7, 9.0, 34.0),
    );
    let other = booked(
        "13: arranged, too",
        &book(&world, None, &new_lead(FREE[1])).await,
        (2, 7, 9.0, 32.0),
    );
    for (what, key, body, expected) in [
        ("13: taken", None, new_lead(FREE[0]), (1, 6, 9.0, 0.0)),
        (
            "13: taken, with a key",
            Some("k"),
            new_lead(FREE[0]),
            (2, 10, 15.0, 0.0),
        ),
        (
            "13: taken, to move to",
            None,
            moving(&data, other["date"].as_str().expect("a time")),
            (2, 10, 13.0, 0.0),
        ),
    ] {
        let answer = book(&world, key, &body).await;
        answer.is(409, &taken);
        costs(what, &answer, expected);
    }
    let mut nowhere = new_lead(FREE[2]);
    nowhere["keyName"] = "nobody".into();
    let answer = book(&world, None, &nowhere).await;
    answer.is(400, &cl006());
    costs("13: CL006", &answer, (1, 2, 2.0, 0.0));
    let answer = book(&world, None, &json!({})).await;
    assert_eq!(answer.status, 400);
    costs("13: refused body", &answer, (0, 0, 0.0, 0.0));
}
