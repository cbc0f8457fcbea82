//! Endpoint 13.

use serde_json::{Value, json};

use super::Scale;
use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, Target};
use crate::bookings::{FREE, add_calendars, add_meetings, booking, calendar, meeting, open_calendars};
use crate::sales::{add_opportunities, open_shop, plain_opportunity};
use crate::world::{Answer, Request, at};

const UNKNOWN_LINK: &str = "The first booking through a link in a process: which calendar it names, and so which days to read, is known \
    from the next one on.";

async fn office() -> Desk {
    let desk = Desk::open().await;
    open_calendars(&desk.operator()).await;
    open_shop(&desk.operator()).await;
    add_opportunities(&desk.operator(), vec![plain_opportunity(1, 7, 0)]).await;
    desk
}

fn line(what: impl Into<String>) -> Line {
    Line::of(Target::Booking, "13", what)
}

fn somebody_new(date: &str) -> Value {
    let form =
        json!({ "firstname": "Bia", "email": "bia@example.com", "phone": "5541988880001", "cpf": "1" });
    booking(date, &json!({ "formData": form }))
}

fn known(date: &str) -> Value {
    booking(date, &json!({ "leadId": 1001, "formData": {} }))
}

/// The body that moves a meeting to another time.
fn moving(booked: &Answer, to: &str) -> Value {
    let data = &booked.body["data"];
    let proof = json!({ "rescheduleMeetingId": data["id"], "rescheduleKey": data["rescheduleKey"] });
    booking(
        to,
        &json!({ "leadId": data["leadId"], "formData": {}, "properties": proof }),
    )
}

fn day(days: u32, time: usize) -> String {
    at(FREE[time]).plus_days(days).to_string()
}

fn book<'d>(desk: &'d Desk, body: &Value) -> Request<'d> {
    desk.call("POST", "/calendarmeeting?i=acme").json(body)
}

pub(super) async fn measure(scale: Scale) -> Vec<Row> {
    let desk = office().await;
    bookings(&desk).await;
    refusals(&desk).await;
    let mut rows = desk.close();
    rows.extend(moves().await);
    for meetings in scale.of(1, &[100, 10_000]) {
        rows.extend(of_many(*meetings).await);
    }
    rows
}

async fn bookings(desk: &Desk) {
    let first = line("somebody new, the very first of the instance").but_trips(3, UNKNOWN_LINK);
    desk.measure(first, 200, book(desk, &somebody_new(&day(0, 0))))
        .await;
    desk.measure(line("somebody new"), 200, book(desk, &somebody_new(&day(0, 1))))
        .await;
    let mut full = somebody_new(&day(1, 0));
    full["properties"] = json!({ "nota": "x".repeat(3_600) });
    desk.measure(line("somebody new, a meeting of 4 KB"), 200, book(desk, &full))
        .await;
    for what in ["somebody new, with an `Idempotency-Key`", "the same again"] {
        let request = book(desk, &somebody_new(&day(1, 2))).header("idempotency-key", "k");
        desk.measure(line(what), 200, request).await;
    }
    desk.measure(line("a known lead"), 200, book(desk, &known(&day(2, 0))))
        .await;
    let mut about = known(&day(2, 1));
    about["opportunityId"] = json!(1);
    desk.measure(line("a known lead's opportunity"), 200, book(desk, &about))
        .await;
    let request = book(desk, &known(&day(2, 2))).header("idempotency-key", "l");
    desk.measure(line("a known lead, with an `Idempotency-Key`"), 200, request)
        .await;
    add_calendars(&desk.operator(), [calendar(&json!({ "keyName": "nova" }))]).await;
    let mut other = known(&day(2, 3));
    other["keyName"] = json!("nova");
    let other_link = line("a known lead, the first time through a link").but_trips(3, UNKNOWN_LINK);
    desk.measure(other_link, 200, book(desk, &other)).await;
}

async fn refusals(desk: &Desk) {
    let taken = somebody_new(&day(0, 0));
    // The link has changed in the record.
    let mut taken_now = taken.clone();
    taken_now["keyName"] = json!("nova");
    desk.measure(line("the time is taken"), 409, book(desk, &taken_now))
        .await;
    let keyed = book(desk, &taken_now).header("idempotency-key", "m");
    desk.measure(line("the time is taken, with an `Idempotency-Key`"), 409, keyed)
        .await;
    let mut nowhere = taken;
    nowhere["keyName"] = json!("nobody");
    desk.measure(line("an unknown link"), 400, book(desk, &nowhere))
        .await;
    let mut nobody = known(&day(3, 0));
    (nobody["keyName"], nobody["leadId"]) = (json!("nova"), json!(4711));
    desk.measure(line("an unknown lead"), 400, book(desk, &nobody))
        .await;
    desk.measure(line("refused body"), 400, book(desk, &json!({})))
        .await;
}

async fn moves() -> Vec<Row> {
    let desk = office().await;
    let mut booked = desk.prepare(book(&desk, &somebody_new(&day(0, 0)))).await;
    for (what, key, to) in [
        ("moved within its day", None, day(0, 1)),
        (
            "moved within its day, with an `Idempotency-Key`",
            Some("k"),
            day(0, 2),
        ),
        ("moved to another day", None, day(1, 0)),
        ("moved to another month", None, day(14, 0)),
        ("moved to where it is", None, day(14, 0)),
    ] {
        let request = book(&desk, &moving(&booked, &to));
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        booked = desk.measure(line(what), 200, request).await;
    }
    desk.close()
}

/// A lead with many meetings, which fill the past of a calendar.
async fn of_many(meetings: u32) -> Vec<Row> {
    let desk = office().await;
    let ids: Vec<u32> = (1..=meetings).collect();
    for ids in ids.chunks(1_000) {
        let lines = ids.iter().map(|id| {
            let date = at("2026-01-01T09:00:00Z").plus_seconds(id * 1_800);
            meeting(&json!({ "id": id, "date": date, "endDate": date.plus_seconds(1_800) }))
        });
        add_meetings(
            &desk.operator(),
            lines.filter(|meeting| meeting.date < at("2026-11-20T00:00:00Z")),
        )
        .await;
    }
    desk.prepare(book(&desk, &somebody_new(&day(0, 1)))).await;
    let what = format!("a known lead that has {meetings} meetings");
    desk.measure(line(what), 200, book(&desk, &known(&day(0, 0))))
        .await;
    desk.close()
}
