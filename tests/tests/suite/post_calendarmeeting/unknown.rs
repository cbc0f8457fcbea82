//! Secrecy of instances, calendars, leads and meetings from the public (C-1, C-53).

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{
    FREE, add_calendars, add_meetings, book, booking, calendar, invalid, made, meeting, no_calendar, no_lead,
    open_calendars, slots,
};
use tests::people::{add_leads, plain_lead, settle};
use tests::world::Answer;

const OTHER: &str = "other-shop";

/// `acme` and another instance, which has its own calendar and lead.
async fn world() -> World {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    let other = world.operator(OTHER);
    settle(&other).await;
    let theirs = calendar(&json!({ "id": 55, "keyName": "theirs", "publicId": "pub_55" }));
    add_calendars(&other, [theirs]).await;
    add_leads(&other, vec![plain_lead(5001, "Outra", "Pessoa", None)]).await;
    for instance in ["acme", OTHER] {
        world.meet_public_of(instance).await;
    }
    world
}

/// Observable parts of a response: status, headers, body and size; and round trips, which determine the time
/// in a warm process. Of an unknown instance nothing more is read (C-86).
fn told(answer: &Answer) -> (u16, Vec<String>, Value, u32) {
    let names = answer.headers.keys().map(ToString::to_string);
    (
        answer.status.as_u16(),
        names.collect(),
        answer.body.clone(),
        answer.cost.round_trips,
    )
}

/// A calendar of another instance, an unpublished and an unknown one, and an unknown instance.
const NOWHERE: [(&str, &str); 6] = [
    ("acme", "nowhere"),
    ("acme", "closed"),
    ("acme", "theirs"),
    (OTHER, "demo"),
    ("nobody", "demo"),
    ("nobody", "theirs"),
];

#[tokio::test]
async fn unknown_calendars_are_indistinguishable() {
    let world = world().await;
    for body in [
        booking(FREE[0], &json!({})),
        booking("2026-11-23T09:01:00Z", &json!({})),
        booking(FREE[0], &json!({ "leadId": 1001, "formData": null })),
        booking(
            FREE[0],
            &json!({ "leadId": 4711, "opportunityId": 1, "formData": null }),
        ),
        booking(
            FREE[0],
            &json!({ "properties": { "rescheduleMeetingId": 1, "rescheduleKey": "x" } }),
        ),
        booking(
            FREE[0],
            &json!({ "properties": { "cancelMeetingId": 1, "rescheduleKey": "x" } }),
        ),
    ] {
        let expected = match body.get("properties") {
            None => no_calendar(),
            Some(_) => invalid("rescheduleKey"),
        };
        let mut answers = Vec::new();
        for (instance, link) in NOWHERE {
            let mut body = body.clone();
            body["keyName"] = link.into();
            let call = world
                .call("POST", &format!("/calendarmeeting?i={instance}"))
                .json(&body);
            let answer = call.send().await;
            answer.is(400, &expected);
            assert!(answer.cost.write_units() <= 0.0);
            answers.push((link, told(&answer)));
        }
        for (link, answer) in &answers {
            assert_eq!(*answer, answers[0].1, "{link}");
        }
    }
}

#[tokio::test]
async fn unknown_free_times_are_indistinguishable() {
    let world = world().await;
    for rest in [
        "",
        "&from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z",
        "&from=1900-01-01T00:00:00Z",
        "&meetingId=1&rescheduleKey=x",
        "&meetingId=x",
        "&rescheduleKey=x",
    ] {
        let expected = if rest.contains("Key=") || rest.contains("Id=") {
            invalid("rescheduleKey")
        } else {
            no_calendar()
        };
        let mut answers = Vec::new();
        for (instance, link) in NOWHERE {
            let uri = format!("/calendarmeeting/slots?i={instance}&keyName={link}{rest}");
            let answer = world.get(&uri).send().await;
            answer.is(400, &expected);
            answers.push((link, told(&answer)));
        }
        for (link, answer) in &answers {
            assert_eq!(*answer, answers[0].1, "{link}");
        }
    }
}

/// Malformed names are rejected like unknown ones, without a read.
#[tokio::test]
async fn malformed_names_are_rejected_like_unknown_ones() {
    let world = world().await;
    for i in ["ACME", "acme%20", "acme%23", "%FF", "..", "acme%00"] {
        let booking = world
            .call("POST", &format!("/calendarmeeting?i={i}"))
            .json(&booking(FREE[0], &json!({})));
        let slots = world.get(&format!("/calendarmeeting/slots?keyName=demo&i={i}"));
        for call in [booking, slots] {
            let answer = call.send().await;
            answer.is(400, &no_calendar());
            assert!(answer.cost.calls.is_empty(), "{i}");
        }
    }
    for link in [
        "Demo",
        "demo ",
        "de#mo",
        "démo",
        "demo/",
        "../demo",
        "\u{0}",
        &"x".repeat(65),
        "calendar-link#demo",
    ] {
        let answer = book(&world, &booking(FREE[0], &json!({ "keyName": link }))).await;
        answer.is(400, &no_calendar());
    }
    for link in ["Demo", "demo%20", "de%23mo", "d%C3%A9mo", "%FF", "demo%00"] {
        let slots = world.get(&format!("/calendarmeeting/slots?i=acme&keyName={link}"));
        slots.send().await.is(400, &no_calendar());
    }
}

/// CL008: leads of another instance and impossible ids are unknown, with the same calls.
#[tokio::test]
async fn unknown_leads_are_indistinguishable() {
    let world = world().await;
    slots(&world, "keyName=demo").await;
    let mut answers = Vec::new();
    for lead in [json!(5001), json!(4711), json!(999_999_999_999_999_u64)] {
        let body = booking(FREE[0], &json!({ "leadId": lead, "formData": null }));
        let answer = book(&world, &body).await;
        answer.is(400, &no_lead());
        assert!(answer.cost.write_units() <= 0.0);
        answers.push(told(&answer));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    for lead in [
        json!(0),
        json!(-1),
        json!(-1e30),
        json!(1e15),
        json!(1e300),
        json!(u64::MAX),
        json!(-0.0),
    ] {
        let body = booking(FREE[0], &json!({ "leadId": lead, "formData": null }));
        book(&world, &body).await.is(400, &no_lead());
    }
}

/// C-55: without the key, unknown meetings, cancelled ones, and those of another calendar or instance have
/// the same response.
#[tokio::test]
async fn meetings_are_indistinguishable_without_their_key() {
    let world = world().await;
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let imported = [
        json!({ "id": 2, "status": "canceled" }),
        json!({ "id": 3, "calendarId": 7 }),
    ];
    add_meetings(&world.operator("acme"), imported.map(|line| meeting(&line))).await;
    let theirs = json!({ "id": 4, "calendarId": 55, "leadId": 5001 });
    add_meetings(&world.operator(OTHER), [meeting(&theirs)]).await;
    let mut answers = Vec::new();
    for id in [1, 2, 3, 4, 99] {
        let proof = json!({ "rescheduleMeetingId": id, "rescheduleKey": "0".repeat(64) });
        let answer = book(&world, &booking(FREE[1], &json!({ "properties": proof }))).await;
        answer.is(400, &invalid("rescheduleKey"));
        assert!(answer.cost.write_units() <= 0.0);
        answers.push(told(&answer));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

/// C-53: only its id.
#[tokio::test]
async fn responses_contain_no_lead_data() {
    let world = world().await;
    let fields = [
        "id",
        "calendarId",
        "date",
        "endDate",
        "leadId",
        "opportunityId",
        "userId",
        "status",
        "formData",
        "properties",
        "moves",
        "createDate",
        "updateDate",
    ];
    for (at, changes) in [json!({}), json!({ "leadId": 1001, "formData": null })]
        .iter()
        .enumerate()
    {
        let (meeting, _) = made(&book(&world, &booking(FREE[at], changes)).await);
        let names: Vec<_> = meeting.as_object().expect("a meeting").keys().collect();
        assert_eq!(names, fields);
        assert_eq!(meeting["formData"], json!({}));
    }
}
