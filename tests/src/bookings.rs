//! The calendars of `acme`.
//!
//! Calendar 5 (`demo`) is open from Monday to Friday, 09:00 to 12:00 UTC, for meetings of 30 minutes with a
//! buffer of 10, with user 7; 6 (`closed`) is not published; 7 (`lisboa`) is always open in its zone, for
//! meetings of an hour without buffer.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::kinds::{Calendars, Meetings};
use operator::{Operator, Outcome};
use serde_json::{Value, json};
use shared::calendar::Calendar;
use shared::ids::{CalendarId, MeetingId};
use shared::meeting::Meeting;

use crate::people::NOW;
use crate::world::{Answer, Wallet, World};

/// The first free times of calendar 5 after [`NOW`](crate::NOW), a Saturday.
pub const FREE: [&str; 4] = [
    "2026-11-23T09:00:00.000Z",
    "2026-11-23T09:40:00.000Z",
    "2026-11-23T10:20:00.000Z",
    "2026-11-23T11:00:00.000Z",
];

/// A calendar's id.
pub fn calendar_id(id: u64) -> CalendarId {
    CalendarId::new(id).expect("a calendar id")
}

/// A meeting's id.
pub fn meeting_id(id: u64) -> MeetingId {
    MeetingId::new(id).expect("a meeting id")
}

/// Calendar 5 with changes.
pub fn calendar(changes: &Value) -> Calendar {
    let hours = json!([["09:00", "12:00"]]);
    let mut line = json!({
        "id": 5, "name": "Demonstração", "keyName": "demo", "publicId": "pub_5", "isPublished": true, "userId": 7,
        "timezone": "UTC", "durationMinutes": 30, "bufferMinutes": 10,
        "hours": { "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours },
        "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-02-05T12:00:00.000Z",
    });
    change(&mut line, changes);
    serde_json::from_value(line).expect("a calendar")
}

/// A meeting on calendar 5 with lead 1001 at the first free time, with changes.
pub fn meeting(changes: &Value) -> Meeting {
    let mut line = json!({
        "id": 1, "calendarId": 5, "date": FREE[0], "endDate": "2026-11-23T09:30:00.000Z", "leadId": 1001, "userId": 7,
        "createDate": "2026-11-01T12:00:00.000Z", "updateDate": "2026-11-01T12:00:00.000Z",
    });
    change(&mut line, changes);
    serde_json::from_value(line).expect("a meeting")
}

fn change(line: &mut Value, changes: &Value) {
    for (name, value) in changes.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
}

/// Writes the three calendars.
pub async fn open_calendars(operator: &Operator) {
    let all = json!([["00:00", "24:00"]]);
    let always = json!({
        "mon": all, "tue": all, "wed": all, "thu": all, "fri": all, "sat": all, "sun": all,
    });
    let calendars = [
        calendar(&Value::Null),
        calendar(&json!({
            "id": 6, "name": "Fechada", "keyName": "closed", "publicId": "pub_6", "isPublished": false, "userId": 8,
        })),
        calendar(&json!({
            "id": 7, "name": "Lisboa", "keyName": "lisboa", "publicId": "pub_7", "userId": 9,
            "timezone": "Europe/Lisbon", "durationMinutes": 60, "bufferMinutes": 0, "hours": always,
        })),
    ];
    add_calendars(operator, calendars).await;
}

/// Writes calendars.
pub async fn add_calendars(operator: &Operator, calendars: impl IntoIterator<Item = Calendar>) {
    let lines: Vec<_> = calendars.into_iter().map(Into::into).collect();
    let outcomes = operator
        .import::<Calendars>(&lines, false)
        .await
        .expect("the calendars can be written");
    assert!(outcomes.iter().all(is_good), "{outcomes:?}");
}

/// Time of creation of a meeting that a request has made, which an import has to name.
pub const MADE_HERE: &str = "2026-11-21T12:00:00.000Z";

/// Writes meetings.
pub async fn add_meetings(operator: &Operator, meetings: impl IntoIterator<Item = Meeting>) {
    let lines: Vec<_> = meetings.into_iter().map(Into::into).collect();
    let outcomes = operator
        .import::<Meetings>(&lines, true)
        .await
        .expect("the meetings can be written");
    assert!(outcomes.iter().all(is_good), "{outcomes:?}");
}

fn is_good(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Refused(_))
}

/// The body that books a time of calendar 5 for a new contact, with changes.
pub fn booking(date: &str, changes: &Value) -> Value {
    let mut body = json!({
        "keyName": "demo", "date": date, "leadId": null, "formData": { "firstname": "Bia", "email": "bia@example.com" },
    });
    change(&mut body, changes);
    body
}

/// Sends a booking to `acme`.
pub async fn book(world: &World, body: &Value) -> Answer {
    world
        .call("POST", "/calendarmeeting?i=acme")
        .json(body)
        .send()
        .await
}

/// Requires a successful booking; returns the meeting and its reschedule key (C-53, C-55).
#[track_caller]
pub fn made(answer: &Answer) -> (Value, String) {
    let mut data = answer.body["data"].clone();
    let whole = json!({ "msg": "created", "data": data });
    answer.is(200, &whole);
    let fields = data.as_object_mut().expect("a meeting");
    let key = fields.shift_remove("rescheduleKey");
    let key = key.as_ref().and_then(Value::as_str).expect("a key").to_owned();
    let digits = key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    assert!(digits && key.len() == 64, "{key}");
    (data, key)
}

/// Meeting 1 as [`booking`] creates it at the first free time, with changes.
pub fn shown(changes: &Value) -> Value {
    let mut meeting = json!({
        "id": 1, "calendarId": 5, "date": FREE[0], "endDate": "2026-11-23T09:30:00.000Z", "leadId": 1013,
        "opportunityId": null, "userId": 7, "status": "scheduled", "formData": {}, "properties": {}, "moves": 0,
        "createDate": NOW, "updateDate": NOW,
    });
    change(&mut meeting, changes);
    meeting
}

/// All meetings of a calendar, from endpoint 12.
pub async fn meetings(world: &World, wallet: &Wallet, calendar: u64) -> Value {
    let from = "from=1900-01-01T00:00:00Z&limit=100";
    let uri = format!("/calendarmeeting/{calendar}?{from}&apitoken={}", wallet.key);
    let answer = world.get(&uri).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let meetings = &answer.body["data"]["meetings"];
    let count = meetings.as_array().map(Vec::len);
    assert_eq!(
        answer.body,
        json!({ "data": { "total": count, "meetings": meetings } })
    );
    meetings.clone()
}

/// The next meetings of calendars 5, 6 and 7, from endpoint 11.
pub async fn next_meetings(world: &World, wallet: &Wallet) -> Value {
    let query = "query={calendars{nextMeeting}}";
    let uri = format!("/pcalendar?{query}&apitoken={}", wallet.key);
    let answer = world.get(&uri).send().await;
    let calendars = answer.body["data"]["calendars"].as_array().expect("calendars");
    calendars
        .iter()
        .map(|calendar| calendar["nextMeeting"].clone())
        .collect()
}

/// The free times of a calendar of `acme`, with these parameters.
pub async fn slots(world: &World, params: &str) -> Answer {
    world
        .get(&format!("/calendarmeeting/slots?i=acme&{params}"))
        .send()
        .await
}

/// The body of a 400 (C-4).
pub fn invalid(details: &str) -> Value {
    json!({ "error": "Invalid request", "details": details })
}

/// The body of a CL006.
pub fn no_calendar() -> Value {
    json!({ "error": "CL006", "msg": "the calendar does not belong to the instance or is not active" })
}

/// The body of a CL008.
pub fn no_lead() -> Value {
    json!({ "error": "CL008", "msg": "the lead does not exist or does not belong to the instance" })
}

/// The body of a 409 with this reason.
pub fn unavailable(msg: &str) -> Value {
    json!({ "error": "slot_unavailable", "msg": msg })
}

/// Reason: another meeting.
pub const TAKEN: &str = "the start is taken";
/// Reason: not on the grid.
pub const OFF_GRID: &str = "the start is not one of the calendar's";
/// Reason: in the past or within the minimum notice.
pub const TOO_SOON: &str = "the start is past or too soon";
/// Reason: the day cannot be booked.
pub const OUTSIDE: &str = "the start is outside the days that can be booked";
