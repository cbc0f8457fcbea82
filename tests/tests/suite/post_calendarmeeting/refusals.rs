//! Errors of endpoint 13: malformed data, and impossible times (spec.md, Errors; C-53).

use serde_json::{Value, json};
use tests::bookings::{
    FREE, OFF_GRID, OUTSIDE, TAKEN, TOO_SOON, add_calendars, add_meetings, book, booking, calendar, invalid,
    made, meeting, no_calendar, no_lead, unavailable,
};
use tests::world::at;

use super::{everything, world};

const LINK: &str = "keyName: must be the last segment of the calendar's link";
const DATE: &str = "date: must be a date-time such as 2026-11-21T12:00:00.000Z";
const LEAD: &str = "leadId: must be the id of a lead, or null for a new one";
const ABOUT: &str = "opportunityId: must be the id of an opportunity or null";
const PROPERTIES: &str = "properties: must be an object";

/// A valid body without one of its fields, or with another value in it.
fn wrong(name: &str, value: Option<Value>) -> Value {
    let mut body = booking(FREE[0], &json!({}));
    match value {
        Some(value) => body[name] = value,
        None => drop(body.as_object_mut().expect("a body").shift_remove(name)),
    }
    body
}

/// spec.md: missing or malformed data, such as the text `null` instead of null. Nothing is read or written.
#[tokio::test]
async fn malformed_data_is_rejected_without_reads() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let before = everything(&world, &admin).await;
    let texts = [
        json!(null),
        json!(""),
        json!(" \t"),
        json!(5),
        json!(true),
        json!(["demo"]),
        json!({}),
    ];
    let dates = [
        json!(null),
        json!(""),
        json!("2026-11-23"),
        json!("2026-11-23T09:00:00"),
        json!("2026-02-30T09:00:00Z"),
        json!("2026-11-23T24:00:00Z"),
        json!("23/11/2026 09:00"),
        json!("amanhã"),
        json!("2026-11-23T09:00:00-24:00"),
        json!("0000-01-01T00:00:00Z"),
        json!("+12026-11-23T09:00:00Z"),
        json!("9999-12-31T23:59:59-01:00"),
        json!(1_795_000_000),
        json!(false),
        json!([]),
    ];
    let ids = [
        json!("null"),
        json!("5"),
        json!("1001"),
        json!(""),
        json!(1.5),
        json!(-0.5),
        json!(true),
        json!(false),
        json!([]),
        json!([1001]),
        json!({}),
        json!({ "id": 1001 }),
    ];
    let objects = [json!([1]), json!("{}"), json!(0), json!(false)];
    let long = "x".repeat(4097 - r#"{"x":""}"#.len());
    let too_long = [json!({ "x": long }), json!({ "ã".repeat(2046): 1 })];
    let nested = [(0..8).fold(json!({}), |inner, _| json!({ "x": inner }))];
    let absent = [("keyName", LINK), ("date", DATE), ("leadId", LEAD)];
    let mut cases: Vec<_> = absent.map(|(name, details)| (wrong(name, None), details)).into();
    let tables: [(&str, &[Value], &str); 7] = [
        ("keyName", &texts, LINK),
        ("date", &dates, DATE),
        ("leadId", &ids, LEAD),
        ("opportunityId", &ids, ABOUT),
        ("properties", &objects, PROPERTIES),
        ("properties", &too_long, "properties: must have at most 4 KB"),
        (
            "properties",
            &nested,
            "properties: must be nested at most 7 levels",
        ),
    ];
    for (name, values, details) in tables {
        cases.extend(
            values
                .iter()
                .map(|value| (wrong(name, Some(value.clone())), details)),
        );
    }
    cases.push((
        wrong("formData", None),
        "formData: must be an object with a firstname or an email where leadId is null",
    ));
    for (body, details) in cases {
        let answer = book(&world, &body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &invalid(details)),
            "{body}"
        );
        assert!(answer.cost.read_units() <= 1.0, "{body}");
    }
    assert_eq!(everything(&world, &admin).await, before);
}

/// C-1: `i` is checked before the body.
#[tokio::test]
async fn the_instance_is_checked_before_the_body() {
    let world = world().await;
    let refused = invalid("i: must name the instance, once");
    let good = booking(FREE[0], &json!({})).to_string();
    for i in ["", "i=", "i=%20", "i=acme&i=acme", "i=acme&i=other", "I=acme"] {
        for body in [&good, "{", ""] {
            let answer = world
                .call("POST", &format!("/calendarmeeting?{i}"))
                .bytes(body.to_owned())
                .send()
                .await;
            answer.is(400, &refused);
            assert!(answer.cost.calls.is_empty());
        }
    }
}

/// C-53: body; with a reschedule id its key; else CL006, CL008, `opportunityId`, slot: the first error is returned.
#[tokio::test]
async fn errors_are_checked_in_order() {
    let world = world().await;
    let proof = json!({ "rescheduleMeetingId": 1, "rescheduleKey": "x" });
    let mut body = json!({
        "keyName": "nowhere", "date": "2026-11-23T09:01:00Z", "leadId": 4711, "opportunityId": 99, "formData": {},
        "properties": proof,
    });
    let mut with_x = body.clone();
    with_x["properties"] = json!(5);
    book(&world, &with_x).await.is(400, &invalid(PROPERTIES));
    let nowhere = world.call("POST", "/calendarmeeting?i=nowhere");
    nowhere.json(&with_x).send().await.is(400, &invalid(PROPERTIES));
    with_x["keyName"] = json!("no link");
    book(&world, &with_x).await.is(400, &invalid(PROPERTIES));
    for link in ["nowhere", "no link", "closed", "demo"] {
        body["keyName"] = json!(link);
        book(&world, &body).await.is(400, &invalid("rescheduleKey"));
    }
    body["properties"] = json!({});
    for link in ["nowhere", "no link", "closed"] {
        body["keyName"] = json!(link);
        book(&world, &body).await.is(400, &no_calendar());
    }
    body["keyName"] = json!("demo");
    book(&world, &body).await.is(400, &no_lead());
    body["leadId"] = json!(1001);
    let details = "opportunityId: must be an opportunity of the lead, and null for a new one";
    book(&world, &body).await.is(400, &invalid(details));
    body["opportunityId"] = json!(null);
    book(&world, &body).await.is(409, &unavailable(OFF_GRID));
    body["date"] = json!(FREE[0]);
    assert_eq!(made(&book(&world, &body).await).0["id"], 1);
}

/// C-53: off the grid, taken, past, or outside the horizon. No lead is created (C-54).
#[tokio::test]
async fn impossible_times_are_rejected() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let narrow = calendar(&json!({
        "minimumNoticeMinutes": 2880, "horizon": { "type": "businessDays", "days": 3 },
        "dates": { "2026-11-24": [], "2026-11-28": [["09:00", "10:00"]] },
    }));
    add_calendars(&operator, [narrow]).await;
    add_meetings(
        &operator,
        [meeting(
            &json!({ "date": "2026-11-25T10:00:00Z", "endDate": "2026-11-25T10:10:00Z" }),
        )],
    )
    .await;
    world.clock.set(at("2026-11-21T09:40:00.000Z"));
    let before = everything(&world, &admin).await;
    for (date, msg) in [
        ("2020-01-06T09:00:00Z", TOO_SOON),
        ("2026-11-20T09:00:00Z", TOO_SOON),
        ("2026-11-21T09:39:59.999Z", TOO_SOON),
        ("2026-11-23T09:00:00Z", TOO_SOON),
        ("2026-11-23T09:40:00.001Z", OFF_GRID),
        ("2026-11-23T09:45:00Z", OFF_GRID),
        ("2026-11-23T11:40:00Z", OFF_GRID),
        ("2026-11-23T12:00:00Z", OFF_GRID),
        ("2026-11-24T09:00:00Z", OFF_GRID),
        ("2026-11-25T09:40:00Z", TAKEN),
        ("2026-11-25T10:00:00Z", OFF_GRID),
        ("2026-11-26T09:00:00Z", OUTSIDE),
        ("2026-11-28T09:00:00Z", OUTSIDE),
        ("2027-11-22T09:00:00Z", OUTSIDE),
    ] {
        let answer = book(&world, &booking(date, &json!({}))).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (409, &unavailable(msg)),
            "{date}"
        );
        assert!(answer.cost.write_units() <= 0.0, "{date}");
    }
    assert_eq!(everything(&world, &admin).await, before);
    for date in [
        "2026-11-23T09:40:00Z",
        "2026-11-25T09:00:00Z",
        "2026-11-25T10:20:00Z",
        "2026-11-25T11:00:00Z",
    ] {
        made(&book(&world, &booking(date, &json!({}))).await);
        book(&world, &booking(date, &json!({})))
            .await
            .is(409, &unavailable(TAKEN));
    }
    world.is_sound().await;
}

/// C-52: a start is taken if its time plus buffer overlaps a meeting with buffer that is not cancelled,
/// including imported ones, over midnight, and of another duration; other users' meetings do not matter.
#[tokio::test]
async fn overlapping_meetings_are_rejected() {
    let world = world().await;
    let operator = world.operator("acme");
    let long = json!({ "date": "2026-11-22T20:00:00Z", "endDate": "2026-11-23T09:00:00.001Z" });
    let ended = json!({ "id": 2, "date": "2026-11-23T10:05:00Z", "endDate": "2026-11-23T10:10:00Z" });
    let gone = json!({ "id": 3, "status": "canceled", "date": FREE[3], "endDate": "2026-11-23T11:30:00Z" });
    let moment = json!({ "id": 4, "date": "2026-11-24T09:40:00Z", "endDate": "2026-11-24T09:40:00Z" });
    let elsewhere = json!({ "id": 5, "calendarId": 7, "userId": 9, "date": "2026-11-24T10:00:00Z", "endDate": "2026-11-24T11:00:00Z" });
    add_meetings(
        &operator,
        [&long, &ended, &gone, &moment, &elsewhere].map(meeting),
    )
    .await;
    for (date, taken) in [
        (FREE[0], true),
        (FREE[1], true),
        (FREE[2], false),
        (FREE[3], false),
        ("2026-11-24T09:00:00.000Z", false),
        ("2026-11-24T09:40:00.000Z", true),
        ("2026-11-24T10:20:00.000Z", false),
    ] {
        let answer = book(
            &world,
            &booking(date, &json!({ "leadId": 1001, "formData": null })),
        )
        .await;
        if taken {
            assert_eq!(
                (answer.status.as_u16(), &answer.body),
                (409, &unavailable(TAKEN)),
                "{date}"
            );
        } else {
            made(&answer);
        }
    }
    // With a longer duration, earlier meetings take more starts.
    let longer = calendar(&json!({ "durationMinutes": 50, "bufferMinutes": 0 }));
    add_calendars(&operator, [longer]).await;
    for (date, taken) in [
        ("2026-11-23T09:50:00Z", true),
        ("2026-11-23T10:40:00Z", true),
        ("2026-11-24T09:00:00Z", true),
        ("2026-11-24T09:50:00Z", true),
        ("2026-11-25T09:50:00Z", false),
    ] {
        let status = book(&world, &booking(date, &json!({}))).await.status.as_u16();
        assert_eq!(status == 409, taken, "{date}");
    }
    world.is_sound().await;
}
