//! `GET /calendarmeeting/slots`: the free times of a calendar.

use serde_json::{Value, json};
use shared::people::User;
use tests::World;
use tests::bookings::{
    FREE, TAKEN, add_calendars, add_meetings, book, booking, calendar, invalid, made, meeting, no_calendar,
    open_calendars, slots, unavailable,
};
use tests::people::{add_users, user};
use tests::world::at;

const LINK: &str = "keyName: must be the last segment of the calendar's link";

async fn world() -> World {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    world
}

fn body(slots: &[&str]) -> Value {
    of(slots, "UTC", ("Demonstração", 30))
}

/// The response of a calendar with this zone, name and duration.
fn of(slots: impl serde::Serialize, zone: &str, (name, duration): (&str, u64)) -> Value {
    let shown = json!({ "name": name, "company": null, "host": null, "durationMinutes": duration });
    json!({ "data": { "slots": slots, "timezone": zone, "calendar": shown } })
}

/// The whole response, in order, without credentials; other input is ignored.
#[tokio::test]
async fn free_times_are_listed_without_credentials() {
    let world = world().await;
    let from_to = "keyName=demo&from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z";
    let answer = slots(&world, from_to).await;
    answer.is(200, &body(&FREE));
    assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
    slots(&world, &format!("{from_to}&limit=1&apitoken=x&page=9"))
        .await
        .is(200, &body(&FREE));
    let taken = [meeting(
        &json!({ "date": FREE[1], "endDate": "2026-11-23T10:00:00Z" }),
    )];
    add_meetings(&world.operator("acme"), taken).await;
    slots(&world, from_to)
        .await
        .is(200, &body(&[FREE[0], FREE[2], FREE[3]]));
    let lisbon = slots(
        &world,
        "keyName=lisboa&from=2026-11-23T00:00:00Z&to=2026-11-23T02:00:00Z",
    )
    .await;
    let two = ["2026-11-23T00:00:00.000Z", "2026-11-23T01:00:00.000Z"];
    lisbon.is(200, &of(two, "Europe/Lisbon", ("Lisboa", 60)));
}

/// C-109: Vancouver stays at UTC-7 in the winter of 2026, which rules before tzdata 2026 do not know.
#[tokio::test]
async fn zones_have_their_present_rules() {
    let world = world().await;
    let hours = json!({ "fri": [["09:00", "12:00"]] });
    let vancouver = calendar(
        &json!({ "id": 9, "keyName": "bc", "publicId": "pub_9", "timezone": "America/Vancouver", "hours": hours,
        "durationMinutes": 60, "bufferMinutes": 0, "horizon": { "type": "unlimited" } }),
    );
    add_calendars(&world.operator("acme"), [vancouver]).await;
    let answer = slots(
        &world,
        "keyName=bc&from=2027-01-14T00:00:00Z&to=2027-01-17T00:00:00Z",
    )
    .await;
    let three = [
        "2027-01-15T16:00:00.000Z",
        "2027-01-15T17:00:00.000Z",
        "2027-01-15T18:00:00.000Z",
    ];
    assert_eq!(answer.body["data"]["slots"], json!(three));
}

/// `from` is inclusive and `to` exclusive; any offset, also with a raw plus sign; blank counts as absent.
#[tokio::test]
async fn ranges_accept_any_offset() {
    let world = world().await;
    for (rest, expected) in [
        ("from=2026-11-23T09:00:00Z&to=2026-11-23T11:00:00Z", &FREE[..3]),
        (
            "from=2026-11-23T09:00:00.001Z&to=2026-11-23T11:00:00.001Z",
            &FREE[1..],
        ),
        (
            "from=2026-11-23T06:00:00-03:00&to=2026-11-23T12:40:00%2B03:00",
            &FREE[..1],
        ),
        (
            "from=2026-11-23T12:00:00+03:00&to=2026-11-23T14:00:00+03:00",
            &FREE[..3],
        ),
        ("from=2026-11-23T09:00:00Z&to=2026-11-23T09:00:00Z", &[]),
        (
            "from=2026-11-23T09:00:00Z&to=2026-11-23T09:00:00.001Z",
            &FREE[..1],
        ),
        ("from=&to=2026-11-23T12:00:00Z", &FREE),
        ("to=2026-11-21T12:00:00Z", &[]),
        ("from=2020-01-01T00:00:00Z&to=2020-03-03T00:00:00Z", &[]),
        ("from=2020-01-01T00:00:00Z", &[]),
        ("from=1900-01-01T00:00:00Z", &[]),
        ("from=2026-09-23T12:00:00Z&to=2026-11-23T12:00:00Z", &FREE),
        ("from=9999-12-31T12:00:00Z", &[]),
    ] {
        slots(&world, &format!("keyName=demo&{rest}"))
            .await
            .is(200, &body(expected));
    }
}

/// From now for 62 days; the last is incomplete.
#[tokio::test]
async fn the_default_range_is_62_days() {
    let world = world().await;
    world.clock.set(at("2026-11-23T09:00:00.000Z"));
    let answer = slots(&world, "keyName=demo").await;
    let listed = answer.body["data"]["slots"].as_array().expect("slots");
    let ends = (listed.first().expect("a slot"), listed.last().expect("a slot"));
    assert_eq!(ends, (&json!(FREE[0]), &json!("2027-01-22T11:00:00.000Z")));
    // Nine weeks of five days with four starts.
    assert_eq!(listed.len(), 9 * 5 * 4);
    let whole = slots(&world, "keyName=demo&to=2027-01-24T09:00:00Z").await;
    assert_eq!(whole.body, answer.body);
    let from = slots(&world, "keyName=demo&from=2026-11-24T09:00:00.001Z").await;
    let listed = from.body["data"]["slots"].as_array().expect("slots");
    assert_eq!(listed.last(), Some(&json!("2027-01-25T09:00:00.000Z")));
}

/// C-52: minimum notice, horizon and hours of a date, as for booking.
#[tokio::test]
async fn only_bookable_starts_are_listed() {
    let world = world().await;
    let narrow = calendar(&json!({
        "minimumNoticeMinutes": 2720, "horizon": { "type": "businessDays", "days": 3 },
        "dates": { "2026-11-24": [], "2026-11-25": [["22:00", "24:00"]], "2026-11-26": [["00:00", "09:00"]] },
    }));
    add_calendars(&world.operator("acme"), [narrow]).await;
    let late = [
        "2026-11-25T22:00:00.000Z",
        "2026-11-25T22:40:00.000Z",
        "2026-11-25T23:20:00.000Z",
    ];
    for (now, first) in [
        ("2026-11-21T12:00:00Z", 1),
        ("2026-11-21T12:20:00Z", 1),
        ("2026-11-21T12:20:00.001Z", 2),
    ] {
        world.clock.set(at(now));
        let expected = [&FREE[first..], &late].concat();
        slots(&world, "keyName=demo").await.is(200, &body(&expected));
    }
}

/// C-52: hours are local times and steps elapsed time, so a night with a clock change has more or fewer
/// starts.
#[tokio::test]
async fn clock_changes_change_the_number_of_starts() {
    let world = world().await;
    world.clock.set(at("2026-03-01T00:00:00Z"));
    let night = json!({ "sun": [["00:30", "03:30"]] });
    let new_york = json!({
        "id": 8, "keyName": "night", "publicId": "pub_8", "timezone": "America/New_York", "durationMinutes": 60,
        "bufferMinutes": 0, "hours": night,
    });
    add_calendars(&world.operator("acme"), [calendar(&new_york)]).await;
    for (day, starts) in [
        ("2026-03-08", &["05:30", "06:30"][..]),
        ("2026-03-15", &["04:30", "05:30", "06:30"]),
        ("2026-11-01", &["04:30", "05:30", "06:30", "07:30"]),
        ("2026-11-08", &["05:30", "06:30", "07:30"]),
    ] {
        let starts: Value = starts
            .iter()
            .map(|start| json!(format!("{day}T{start}:00.000Z")))
            .collect();
        let whole = format!("keyName=night&from={day}T00:00:00Z&to={day}T23:00:00Z");
        let expected = of(starts, "America/New_York", ("Demonstração", 60));
        slots(&world, &whole).await.is(200, &expected);
    }
}

/// C-4: the error names the field, and nothing is read.
#[tokio::test]
async fn malformed_parameters_are_rejected() {
    let world = world().await;
    let time = |name: &str| format!("{name}: must be a date-time such as 2026-11-21T12:00:00.000Z");
    for (rest, details) in [
        ("", LINK.to_owned()),
        ("keyName=", LINK.to_owned()),
        ("keyName=%20%09", LINK.to_owned()),
        ("keyname=demo", LINK.to_owned()),
        (
            "keyName=demo&keyName=demo",
            "keyName: must not be repeated".to_owned(),
        ),
        ("keyName=demo&from=2026-11-23", time("from")),
        ("keyName=demo&from=now", time("from")),
        ("keyName=demo&to=2026-11-23T09:00:00", time("to")),
        ("keyName=demo&to=%FF", time("to")),
        (
            "keyName=demo&from=1&from=2",
            "from: must not be repeated".to_owned(),
        ),
        ("keyName=demo&to=1&to=2", "to: must not be repeated".to_owned()),
        (
            "keyName=demo&to=2026-11-21T11:59:59.999Z",
            "from: must not be after to".to_owned(),
        ),
        (
            "keyName=demo&from=2026-11-23T00:00:00Z&to=2026-11-22T00:00:00Z",
            "from: must not be after to".to_owned(),
        ),
        (
            "keyName=demo&to=2027-01-22T12:00:00.001Z",
            "to: must be at most 62 days after from".to_owned(),
        ),
        (
            "keyName=demo&from=2026-01-01T00:00:00Z&to=9999-12-31T00:00:00Z",
            "to: must be at most 62 days after from".to_owned(),
        ),
        // The link is checked last.
        ("keyName=no%20link&from=now", time("from")),
        (
            "keyName=nowhere&to=1999-01-01T00:00:00Z",
            "from: must not be after to".to_owned(),
        ),
    ] {
        let answer = slots(&world, rest).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &invalid(&details)),
            "{rest}"
        );
        assert!(answer.cost.read_units() <= 1.0, "{rest}");
    }
    for i in ["", "&i=", "&i=%20", "&i=acme&i=acme"] {
        let call = world.get(&format!("/calendarmeeting/slots?keyName=&from=x{i}"));
        call.send()
            .await
            .is(400, &invalid("i: must name the instance, once"));
    }
    slots(&world, "keyName=demo&to=2027-01-22T12:00:00Z")
        .await
        .is(200, &slots(&world, "keyName=demo").await.body);
}

/// C-52: a buffer that extends into the next day (UTC), also if that day is after `to`; and a meeting that
/// began days before.
#[tokio::test]
async fn buffers_over_midnight_are_respected() {
    let world = world().await;
    let operator = world.operator("acme");
    let late = json!([["22:00", "24:00"]]);
    let days = json!({ "sun": late, "mon": late, "tue": late });
    add_calendars(
        &operator,
        [calendar(&json!({ "bufferMinutes": 90, "hours": days }))],
    )
    .await;
    let early = json!({ "date": "2026-11-23T00:30:00Z", "endDate": "2026-11-23T00:45:00Z" });
    let long = json!({ "id": 2, "date": "2026-11-19T00:30:00Z", "endDate": "2026-11-22T19:29:00Z" });
    add_meetings(&operator, [&early, &long].map(meeting)).await;
    let sunday = "keyName=demo&from=2026-11-22T22:00:00Z&to=2026-11-22T23:59:00Z";
    let monday = "keyName=demo&from=2026-11-23T22:00:00Z&to=2026-11-23T23:59:00Z";
    for _ in 0..2 {
        slots(&world, sunday)
            .await
            .is(200, &body(&["2026-11-22T22:00:00.000Z"]));
        slots(&world, monday)
            .await
            .is(200, &body(&["2026-11-23T22:00:00.000Z"]));
    }
    let earlier = calendar(&json!({ "bufferMinutes": 151, "hours": days }));
    add_calendars(&operator, [earlier]).await;
    let booking = booking("2026-11-22T22:00:00Z", &json!({}));
    for _ in 0..2 {
        // Whether or not this process knows the current link.
        book(&world, &booking).await.is(409, &unavailable(TAKEN));
        slots(&world, sunday).await.is(200, &body(&[]));
        slots(&world, monday)
            .await
            .is(200, &body(&["2026-11-23T22:00:00.000Z"]));
    }
    // The buffer of the evening's meeting extends into the morning, or ends with the night.
    let night = json!({ "id": 3, "date": "2026-11-23T23:20:00Z", "endDate": "2026-11-23T23:45:00Z" });
    add_meetings(&operator, [meeting(&night)]).await;
    let days = json!({ "tue": [["00:10", "01:00"]] });
    let (start, tuesday) = (
        "2026-11-24T00:10:00.000Z",
        "keyName=demo&from=2026-11-24T00:00:00Z&to=2026-11-24T12:00:00Z",
    );
    for (buffer, free) in [(26, &[][..]), (25, &[start][..])] {
        add_calendars(
            &operator,
            [calendar(&json!({ "bufferMinutes": buffer, "hours": days }))],
        )
        .await;
        for _ in 0..2 {
            slots(&world, tuesday).await.is(200, &body(free));
        }
    }
}

/// CL006 if there is no bookable calendar; C-12: from the next request on.
#[tokio::test]
async fn unknown_and_unpublished_calendars_are_not_found() {
    let world = world().await;
    for link in ["closed", "nowhere", "pub_5", "5", "Demo", "d%C3%A9mo", "%00"] {
        slots(&world, &format!("keyName={link}"))
            .await
            .is(400, &no_calendar());
    }
    assert_eq!(slots(&world, "keyName=demo").await.status, 200);
    let closed = calendar(&json!({ "isPublished": false }));
    add_calendars(&world.operator("acme"), [closed]).await;
    slots(&world, "keyName=demo").await.is(400, &no_calendar());
    add_calendars(
        &world.operator("acme"),
        [calendar(&json!({ "keyName": "other", "hours": {} }))],
    )
    .await;
    slots(&world, "keyName=demo").await.is(400, &no_calendar());
    slots(&world, "keyName=other").await.is(200, &body(&[]));
}

/// C-55: with its key also the meeting, whatever its state, and the same times.
#[tokio::test]
async fn the_meeting_of_a_key_is_shown() {
    let world = world().await;
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let (_, other) = made(&book(&world, &booking(FREE[1], &json!({}))).await);
    let from_to = "keyName=demo&from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z";
    let proof = format!("{from_to}&meetingId=1&rescheduleKey={key}");
    let change =
        |name: &str, date: &str| booking(date, &json!({ "properties": { name: 1, "rescheduleKey": key } }));
    let shows = async |free: &[&str], meeting: Value| {
        let mut expected = body(free);
        slots(&world, from_to).await.is(200, &expected);
        expected["data"]["meeting"] = meeting;
        slots(&world, &proof).await.is(200, &expected);
    };
    shows(
        &FREE[2..],
        json!({ "date": FREE[0], "status": "scheduled", "moves": 0 }),
    )
    .await;
    made(&book(&world, &change("rescheduleMeetingId", FREE[3])).await);
    let free = [FREE[0], FREE[2]];
    shows(
        &free,
        json!({ "date": FREE[3], "status": "rescheduled", "moves": 1 }),
    )
    .await;
    assert_eq!(
        book(&world, &change("cancelMeetingId", FREE[3])).await.status,
        200
    );
    let free = [FREE[0], FREE[2], FREE[3]];
    shows(
        &free,
        json!({ "date": FREE[3], "status": "canceled", "moves": 1 }),
    )
    .await;
    for (wrong, proof) in [
        ("another key", format!("meetingId=1&rescheduleKey={other}")),
        ("another meeting", format!("meetingId=2&rescheduleKey={key}")),
        ("no meeting", format!("meetingId=9&rescheduleKey={key}")),
        ("no id", format!("meetingId=x&rescheduleKey={key}")),
        ("a key alone", format!("rescheduleKey={key}")),
        ("a meeting alone", "meetingId=1".to_owned()),
    ] {
        let answer = slots(&world, &format!("{from_to}&{proof}")).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &invalid("rescheduleKey")),
            "{wrong}"
        );
    }
    let elsewhere = proof.replace("keyName=demo", "keyName=lisboa");
    slots(&world, &elsewhere).await.is(400, &invalid("rescheduleKey"));
    let blank = format!("{from_to}&meetingId=&rescheduleKey=%20");
    slots(&world, &blank).await.is(200, &body(&free));
}

/// CL006: an inactive or missing user; active again, the calendar can be booked from the next request.
#[tokio::test]
async fn calendars_of_inactive_users_are_not_found() {
    let world = world().await;
    let operator = world.operator("acme");
    let calls = ["keyName=demo", "keyName=absent"];
    let of = |id: u64, active| User {
        active,
        ..User::new(user(id), "Rui")
    };
    add_users(&operator, &[of(12, false)]).await;
    let absent = json!({ "id": 8, "keyName": "absent", "publicId": "pub_8", "userId": 12 });
    add_calendars(&operator, [calendar(&absent)]).await;
    assert_eq!(slots(&world, calls[0]).await.status, 200);
    slots(&world, calls[1]).await.is(400, &no_calendar());
    add_users(&operator, &[of(7, false), of(12, true)]).await;
    slots(&world, calls[0]).await.is(400, &no_calendar());
    assert_eq!(slots(&world, calls[1]).await.status, 200);
    book(&world, &booking(FREE[0], &json!({})))
        .await
        .is(400, &no_calendar());
    let missing = json!({ "userId": 4711 });
    add_calendars(&operator, [calendar(&missing)]).await;
    slots(&world, calls[0]).await.is(400, &no_calendar());
}

/// The free times are those of the calendar that has the link now.
#[tokio::test]
async fn a_link_leads_to_another_calendar() {
    let world = world().await;
    let one_day = "keyName=demo&from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z";
    slots(&world, one_day).await.is(200, &body(&FREE));
    // It has the same user, and a booking.
    let operator = world.operator("acme");
    let renamed = calendar(&json!({ "keyName": "old" }));
    let other = calendar(&json!({ "id": 8, "publicId": "pub_8" }));
    add_calendars(&operator, [renamed]).await;
    add_calendars(&operator, [other]).await;
    add_meetings(&operator, [meeting(&json!({ "calendarId": 8 }))]).await;
    for link in ["demo", "old"] {
        let answer = slots(&world, &one_day.replace("demo", link)).await;
        answer.is(200, &body(&FREE[1..]));
    }
}
