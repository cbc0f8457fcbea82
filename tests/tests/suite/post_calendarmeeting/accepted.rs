//! Successful bookings of endpoint 13, with complete responses.

use serde_json::{Map, Value, json};
use tests::bookings::{FREE, add_calendars, book, booking, calendar, made, meetings, no_calendar, shown};
use tests::world::at;

use super::{book_bytes, world};

/// C-53, C-54: a booking of a new contact creates lead and meeting, and returns the meeting.
#[tokio::test]
async fn a_new_contact_books() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let answer = book(&world, &booking(FREE[0], &json!({}))).await;
    let (meeting, _) = made(&answer);
    assert_eq!(meeting, shown(&json!({})));
    assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
    assert_eq!(answer.headers.get("idempotent-replayed"), None);
    assert_eq!(meetings(&world, &admin, 5).await, json!([meeting]));
    let leads = world.leads().await;
    assert_eq!(leads.last().map(|lead| lead.id.get()), Some(1013));
    world.is_sound().await;
}

/// spec.md, endpoint 13: the form may be absent, null or empty.
#[tokio::test]
async fn a_lead_books() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let before = world.leads().await.len();
    let mut all = Vec::new();
    for (at, form) in [Value::Null, json!({})].into_iter().enumerate() {
        let body = booking(FREE[at], &json!({ "leadId": 1001, "formData": form }));
        let (meeting, _) = made(&book(&world, &body).await);
        all.push(meeting);
    }
    let mut body = booking(FREE[2], &json!({ "leadId": 1012 }));
    body.as_object_mut().expect("a body").shift_remove("formData");
    all.push(made(&book(&world, &body).await).0);
    let end = |at: &str| json!(format!("2026-11-23T{at}:00.000Z"));
    let expected = json!([
        shown(&json!({ "leadId": 1001 })),
        shown(&json!({ "id": 2, "leadId": 1001, "date": FREE[1], "endDate": end("10:10") })),
        shown(&json!({ "id": 3, "leadId": 1012, "date": FREE[2], "endDate": end("10:50") })),
    ]);
    assert_eq!(json!(all), expected);
    assert_eq!(meetings(&world, &admin, 5).await, expected);
    assert_eq!(world.leads().await.len(), before);
    world.is_sound().await;
}

/// C-7: JSON has several forms of a number.
#[tokio::test]
async fn lead_ids_have_several_forms() {
    let world = world().await;
    for (at, lead) in ["1001.0", "1.001e3", "1001"].iter().enumerate() {
        let text = format!(r#"{{"keyName":"demo","date":"{}","leadId":{lead}}}"#, FREE[at]);
        let (meeting, _) = made(&book_bytes(&world, text).await);
        assert_eq!(meeting["leadId"], 1001, "{lead}");
    }
}

/// C-8: any offset; the response is UTC with milliseconds, and further digits are ignored.
#[tokio::test]
async fn times_have_several_forms() {
    let world = world().await;
    for (date, written) in [
        ("2026-11-23T06:00:00-03:00", FREE[0]),
        ("2026-11-23T15:10:00.000+05:30", FREE[1]),
        ("2026-11-23t10:20:00.0009z", FREE[2]),
    ] {
        let body = booking(date, &json!({ "leadId": 1001, "formData": null }));
        assert_eq!(made(&book(&world, &body).await).0["date"], *written, "{date}");
    }
}

/// C-4: unknown properties, and parameters named like them.
#[tokio::test]
async fn unknown_properties_are_ignored() {
    let world = world().await;
    let unknown = json!({
        "id": 77, "status": "canceled", "userId": 9, "endDate": "2030-01-01T00:00:00Z", "calendarId": 7,
        "createDate": "2001-01-01T00:00:00Z", "rescheduleMeetingId": 1, "rescheduleKey": "x", "": null,
    });
    let body = booking(FREE[0], &unknown);
    let call = world.call("POST", "/calendarmeeting?i=acme&page=x&keyName=closed");
    assert_eq!(made(&call.json(&body).send().await).0, shown(&json!({})));
}

/// Verbatim and in order, up to 4 KB (C-54).
#[tokio::test]
async fn properties_are_kept() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let long = "x".repeat(4096 - r#"{"x":""}"#.len());
    let cases = [
        r#"{"z":1,"a":{"b":[null,0.1,1e300,"ã"]},"":false,"rescheduleMeeting":5}"#.to_owned(),
        format!(r#"{{"x":"{long}"}}"#),
        "null".to_owned(),
        r#"{"rescheduleMeetingId":null,"rescheduleKey":null,"b":2,"a":1}"#.to_owned(),
    ];
    for (at, properties) in cases.iter().enumerate() {
        let text = format!(
            r#"{{"keyName":"demo","date":"{}","leadId":1001,"properties":{properties}}}"#,
            FREE[at]
        );
        let (meeting, _) = made(&book_bytes(&world, text).await);
        let kept: Option<Map<_, _>> = serde_json::from_str(properties).expect("JSON");
        let mut kept = kept.unwrap_or_default();
        kept.retain(|name, _| !["rescheduleMeetingId", "rescheduleKey"].contains(&name.as_str()));
        // As text, to compare the order.
        let kept = Value::from(kept).to_string();
        assert_eq!(meeting["properties"].to_string(), kept);
        let listed = meetings(&world, &admin, 5).await;
        assert_eq!(listed[at]["properties"].to_string(), kept);
    }
    world.is_sound().await;
}

/// C-52: a calendar's duration, zone and user; C-12: an import applies from the next booking.
#[tokio::test]
async fn bookings_follow_the_current_calendar() {
    let world = world().await;
    let lisbon = |date: &str| {
        booking(
            date,
            &json!({ "keyName": "lisboa", "leadId": 1002, "formData": null }),
        )
    };
    let (first, _) = made(&book(&world, &lisbon("2026-11-21T23:00:00Z")).await);
    let expected = json!({
        "calendarId": 7, "leadId": 1002, "userId": 9, "date": "2026-11-21T23:00:00.000Z",
        "endDate": "2026-11-22T00:00:00.000Z",
    });
    assert_eq!(first, shown(&expected));
    let operator = world.operator("acme");
    let all_day = json!({ "sun": [["00:00", "24:00"]] });
    let later = json!({
        "id": 7, "keyName": "lisboa", "publicId": "pub_7", "userId": 8, "durationMinutes": 90, "bufferMinutes": 0,
        "hours": all_day,
    });
    add_calendars(&operator, [calendar(&later)]).await;
    world.clock.set(at("2026-11-21T13:00:00Z"));
    let (second, _) = made(&book(&world, &lisbon("2026-11-22T01:30:00Z")).await);
    let expected = json!({
        "id": 2, "calendarId": 7, "leadId": 1002, "userId": 8, "date": "2026-11-22T01:30:00.000Z",
        "endDate": "2026-11-22T03:00:00.000Z", "createDate": "2026-11-21T13:00:00.000Z",
        "updateDate": "2026-11-21T13:00:00.000Z",
    });
    assert_eq!(second, shown(&expected));
    let mut renamed = later;
    renamed["keyName"] = "porto".into();
    add_calendars(&operator, [calendar(&renamed)]).await;
    book(&world, &lisbon("2026-11-22T03:00:00Z"))
        .await
        .is(400, &no_calendar());
    let mut body = lisbon("2026-11-22T03:00:00Z");
    body["keyName"] = "porto".into();
    assert_eq!(made(&book(&world, &body).await).0["id"], 3);
    renamed["isPublished"] = false.into();
    add_calendars(&operator, [calendar(&renamed)]).await;
    body["date"] = "2026-11-22T04:30:00Z".into();
    book(&world, &body).await.is(400, &no_calendar());
    world.is_sound().await;
}

/// Despite the process's cached calendar.
#[tokio::test]
async fn a_reassigned_link_books_its_new_calendar() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let known = json!({ "leadId": 1001, "formData": null });
    made(&book(&world, &booking(FREE[0], &known)).await);
    add_calendars(&operator, [calendar(&json!({ "keyName": "old" }))]).await;
    let other =
        json!({ "id": 8, "publicId": "pub_8", "userId": 9, "durationMinutes": 20, "bufferMinutes": 20 });
    add_calendars(&operator, [calendar(&other)]).await;
    let end = "2026-11-23T09:20:00.000Z";
    let (meeting, _) = made(&book(&world, &booking(FREE[0], &known)).await);
    let expected = json!({ "id": 2, "calendarId": 8, "leadId": 1001, "userId": 9, "endDate": end });
    assert_eq!(meeting, shown(&expected));
    assert_eq!(meetings(&world, &admin, 8).await, json!([meeting]));
    let mut body = booking(FREE[1], &known);
    body["keyName"] = "old".into();
    assert_eq!(made(&book(&world, &body).await).0["calendarId"], 5);
    world.is_sound().await;
}

/// C-11: ids are sequential, above imported ones, and a rejected booking uses none.
#[tokio::test]
async fn ids_are_sequential() {
    let world = world().await;
    let (old, refused) = (
        tests::bookings::meeting(&json!({ "id": 40, "status": "canceled" })),
        "2026-11-23T09:01:00Z",
    );
    tests::bookings::add_meetings(&world.operator("acme"), [old]).await;
    let mut numbers = Vec::new();
    for date in [FREE[0], refused, FREE[1], FREE[1], FREE[2]] {
        let answer = book(&world, &booking(date, &json!({}))).await;
        let data = &answer.body["data"];
        numbers.push((data["id"].as_u64(), data["leadId"].as_u64()));
    }
    let number = |meeting, lead| (Some(meeting), Some(lead));
    assert_eq!(
        numbers,
        [
            number(41, 1013),
            (None, None),
            number(42, 1014),
            (None, None),
            number(43, 1015)
        ]
    );
    world.is_sound().await;
}
