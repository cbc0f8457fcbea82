//! `GET /leads/{id}/meetings` (C-113).

use serde_json::{Value, json};
use tests::bookings::{add_meetings, book, booking, made, meeting, open_calendars, shown};
use tests::{ACME, Answer, World};

use crate::delete_leads_id::delete;

async fn meetings(world: &World, user: u64, rest: &str) -> Answer {
    let wallet = world.wallet(user).await;
    let uri = rest.replacen('?', "/meetings?i=acme&", 1);
    world.get(&format!("/leads/{uri}")).with(&wallet).send().await
}

/// A meeting of lead 1001 at an hour of a day, on a calendar.
fn at(id: u64, calendar: u64, hour: &str) -> Value {
    json!({ "id": id, "calendarId": calendar, "date": format!("{hour}:00:00.000Z"), "endDate": format!("{hour}:30:00.000Z") })
}

fn page(total: usize, meetings: &[Value]) -> Value {
    json!({ "data": { "total": total, "meetings": meetings } })
}

/// Meetings of several calendars by start and not by id, past and cancelled ones included, in pages.
#[tokio::test]
async fn meetings_are_listed_by_start() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_calendars(&operator).await;
    let form = json!({ "formData": { "assunto": "x".repeat(2000) }, "status": "canceled" });
    let mut with_form = at(4, 5, "2026-11-01T10");
    for (name, value) in form.as_object().expect("changes") {
        with_form[name] = value.clone();
    }
    let all = [
        at(1, 5, "2026-12-01T10"),
        at(2, 7, "2020-01-01T09"),
        at(3, 6, "2026-11-30T10"),
        with_form,
    ];
    let other = json!({ "id": 5, "leadId": 1002, "date": "2026-12-02T10:00:00.000Z", "endDate": "2026-12-02T10:30:00.000Z" });
    add_meetings(&operator, all.iter().chain([&other]).map(meeting)).await;
    let made_by_import = |changes: &Value| {
        let mut meeting = shown(changes);
        for (name, value) in [
            ("leadId", json!(1001)),
            ("createDate", json!("2026-11-01T12:00:00.000Z")),
            ("updateDate", json!("2026-11-01T12:00:00.000Z")),
        ] {
            meeting[name] = value;
        }
        meeting
    };
    let expected = [1, 3, 2, 0].map(|at: usize| made_by_import(&all[at]));
    meetings(&world, 7, "1001?").await.is(200, &page(4, &expected));
    for (rest, shown) in [
        ("page=1&limit=3", &expected[..3]),
        ("page=0&limit=3", &expected[..3]),
        ("page=2&limit=3", &expected[3..]),
        ("page=3&limit=3", &[]),
        ("page=99999999999999999999999&limit=200", &[]),
    ] {
        let answer = meetings(&world, 7, &format!("1001?{rest}")).await;
        answer.is(200, &page(4, shown));
    }
    tests::people::set(&operator, "page_base", &json!(0)).await;
    let second = meetings(&world, 7, "1001?page=1&limit=3").await;
    second.is(200, &page(4, &expected[3..]));
    meetings(&world, 7, "1003?").await.is(200, &page(0, &[]));
    world.is_sound().await;
}

/// C-12: a booking is shown at once, and a lead with many meetings has each once.
#[tokio::test]
async fn bookings_and_many_meetings_are_shown() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_calendars(&operator).await;
    let booked = book(&world, &booking("2026-11-23T09:00:00.000Z", &json!({}))).await;
    let (booked, _) = made(&booked);
    meetings(&world, 7, "1013?").await.is(200, &page(1, &[booked]));
    let day = |id: u64| format!("20{}-{:02}-{:02}T10", 30 + id % 40, 1 + id % 11, 1 + id % 28);
    add_meetings(&operator, (10..310).map(|id| meeting(&at(id, 7, &day(id))))).await;
    let mut ids = Vec::new();
    for number in 1..=3 {
        let answer = meetings(&world, 7, &format!("1001?limit=120&page={number}")).await;
        assert_eq!(answer.body["data"]["total"], 300);
        let shown = answer.body["data"]["meetings"].as_array().expect("meetings");
        let place = |one: &Value| (one["date"].to_string(), one["id"].as_u64());
        ids.extend(shown.iter().map(place));
    }
    assert_eq!(ids.len(), 300);
    assert!(ids.is_sorted());
    tests::people::set(&operator, "read_budget", &json!(200)).await;
    let details = "id: the meetings of this lead are more than read_budget allows";
    let invalid = json!({ "error": "Invalid request", "details": details });
    meetings(&world, 7, "1001?").await.is(400, &invalid);
}

/// C-4, C-23: nothing is shown of a lead that is unknown, not visible or deleted, also before it is erased.
#[tokio::test]
async fn requests_are_refused() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_calendars(&operator).await;
    add_meetings(&operator, [meeting(&Value::Null)]).await;
    for (rest, details) in [
        ("1001?limit=0", "limit: must be a whole number from 1 to 200"),
        ("1001?limit=201", "limit: must be a whole number from 1 to 200"),
        ("1001?page=-1", "page: must be a whole number"),
        ("x?", "id: must be a whole number from 1 to 999999999999999"),
    ] {
        let invalid = json!({ "error": "Invalid request", "details": details });
        meetings(&world, 7, rest).await.is(400, &invalid);
    }
    let not_found = json!({ "error": "Not found" });
    meetings(&world, 7, "4711?").await.is(404, &not_found);
    meetings(&world, 9, "1001?").await.is(404, &not_found);
    let admin = world.wallet(7).await;
    assert_eq!(delete(&world, &admin, "1001").await.status, 200);
    meetings(&world, 7, "1001?").await.is(404, &not_found);
}
