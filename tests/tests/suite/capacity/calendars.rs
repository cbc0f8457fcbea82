//! Endpoints 11 and 12, and free times.

use serde_json::{Value, json};
use shared::meeting::Meeting;
use tests::bookings::{add_calendars, add_meetings, calendar, meeting, open_calendars};
use tests::world::at;
use tests::{ACME, Answer, World};

/// Asserts the cost of a request: sequential round trips, calls, read units and write units.
#[track_caller]
pub fn costs(what: &str, answer: &Answer, expected: (u32, usize, f64, f64)) {
    let cost = &answer.cost;
    let calls: Vec<_> = cost.calls.iter().map(|call| call.operation).collect();
    let found = (
        cost.round_trips,
        calls.len(),
        cost.read_units(),
        cost.write_units(),
    );
    println!(
        "| {what} | {} | {} | {} | {} | {} |",
        found.0,
        found.1,
        found.2,
        found.3,
        calls.join(", ")
    );
    let same = [(found.2, expected.2), (found.3, expected.3)];
    let same = same
        .iter()
        .all(|(found, expected)| (found - expected).abs() < f64::EPSILON);
    assert!(
        same && (found.0, found.1) == (expected.0, expected.1),
        "{what}: {found:?}, not {expected:?}: {cost:?}"
    );
}

async fn office() -> World {
    let world = World::new().await;
    open_calendars(&world.operator(ACME)).await;
    world.meet_public().await;
    world
}

async fn ask(world: &World, uri: &str) -> Answer {
    let answer = world.get(uri).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// Endpoint 11: one round trip if the process knows the calendars or next meetings are not requested; one
/// more for a new key without `i`, for more than 50 calendars, and for each 100 next meetings. Credential and
/// directory are two units, forty calendars of 510 bytes five, and each next meeting one.
#[tokio::test]
async fn calendar_list_costs() {
    for (calendars, units, trips) in [(1_u32, 1.0, 1), (10, 2.0, 1), (40, 5.0, 1), (60, 9.0, 2)] {
        let world = World::new().await;
        let lines = (0..calendars).map(|at| {
            let changes = json!({ "id": 5 + at, "keyName": format!("k{at}"), "publicId": format!("p{at}") });
            calendar(&changes)
        });
        add_calendars(&world.operator(ACME), lines).await;
        add_meetings(&world.operator(ACME), [meeting(&json!({}))]).await;
        let uri = format!("/pcalendar?apitoken={}", world.known(7).await.key);
        let alone = format!("{uri}&query={{calendars{{id,name}}}}");
        let (all, queries) = (
            units + 2.0 + f64::from(calendars),
            2 + usize::try_from(calendars).expect("small"),
        );
        // More than 50 take a second query.
        let more = usize::from(trips > 1);
        for (what, uri, expected) in [
            (
                "without nextMeeting, first time and without i",
                &alone,
                (trips + 1, 3 + more, units + 3.0, 0.0),
            ),
            ("without nextMeeting", &alone, (trips, 2 + more, units + 2.0, 0.0)),
            ("first time", &uri, (trips + 1, queries + more, all, 0.0)),
            ("known", &uri, (trips, queries + more, all, 0.0)),
        ] {
            let answer = ask(&world, uri).await;
            // Of more than 50 next meetings some are read after the check, together with the rest of the list
            // or one trip later.
            let latest = expected.0 + u32::from(trips > 1 && what == "known");
            let trips = answer.cost.round_trips.clamp(expected.0, latest);
            let expected = (trips, expected.1, expected.2, expected.3);
            costs(&format!("11: {calendars}, {what}"), &answer, expected);
        }
    }
}

/// Their cost does not depend on the number of past meetings.
#[tokio::test]
async fn next_meetings_cost_the_same_after_a_long_past() {
    let world = office().await;
    add_meetings(&world.operator(ACME), crowd(1, 600, -300)).await;
    let uri = format!("/pcalendar?apitoken={}", world.known(7).await.key);
    ask(&world, &uri).await;
    costs(
        "11: 3 calendars, 300 days of past",
        &ask(&world, &uri).await,
        (1, 5, 6.0, 0.0),
    );
}

/// `a_day` meetings a day on calendar 5 from 03:00, for `days` days, starting `from` days after the first
/// free one.
fn crowd(a_day: u32, days: u32, from: i32) -> impl Iterator<Item = Meeting> {
    (0..days * a_day).map(move |turn| {
        let first = at("2026-11-23T03:00:00Z").unix_millis() + i64::from(from) * 86_400_000;
        let start = first + i64::from(turn / a_day) * 86_400_000 + i64::from(turn % a_day) * 900_000;
        let date = shared::time::Timestamp::from_unix_millis(start).expect("a time");
        meeting(&json!({ "id": turn + 1, "date": date, "endDate": date.plus_seconds(900) }))
    })
}

/// Endpoint 12: one round trip for the first page, two for a later one, one more for a calendar named by its
/// `publicId`; independent of past meetings and earlier pages.
#[tokio::test]
async fn meeting_list_costs() {
    for (meetings, days) in [(10, 10), (1_000, 50), (10_000, 500)] {
        let world = office().await;
        let a_day = meetings / days;
        let middle = i32::try_from(days / 2).expect("small");
        let all: Vec<_> = crowd(a_day, days, -middle - 1).collect();
        for lines in all.chunks(1_000) {
            add_meetings(&world.operator(ACME), lines.to_vec()).await;
        }
        let key = world.known(7).await.key;
        let last = (meetings / 2).div_ceil(50) - 1;
        let is_long = meetings > 10;
        let later = if is_long {
            (2, 6, 12.0, 0.0)
        } else {
            (1, 5, 7.0, 0.0)
        };
        let later_named = if is_long {
            (3, 6, 11.0, 0.0)
        } else {
            (2, 5, 6.0, 0.0)
        };
        let units = |units: f64| if is_long { units + 1.0 } else { 7.0 };
        for (what, calendar, page, limit, expected) in [
            ("page 0", "5", 0, 50, (1, 5, units(9.0), 0.0)),
            ("page 1", "5", 1, 50, later),
            (
                "last page",
                "5",
                last,
                50,
                if last == 0 { (1, 5, 7.0, 0.0) } else { later },
            ),
            ("publicId, page 0", "pub_5", 0, 50, (2, 5, units(9.0) - 1.0, 0.0)),
            ("publicId, last page", "pub_5", last, 50, later_named),
            ("100 on page 0", "5", 0, 100, (2, 5, units(13.0), 0.0)),
        ] {
            let uri = format!("/calendarmeeting/{calendar}?i=acme&apitoken={key}&page={page}&limit={limit}");
            let answer = ask(&world, &uri).await;
            let shown = answer.body["data"]["meetings"]
                .as_array()
                .expect("meetings")
                .len();
            let rest = (meetings / 2).saturating_sub(page * limit).min(limit);
            assert_eq!(answer.body["data"]["total"], meetings / 2);
            assert_eq!(shown, usize::try_from(rest).expect("small"), "{what}");
            costs(&format!("12: {what} of {meetings}"), &answer, expected);
        }
    }
}

/// Free times of 62 days: one round trip for a link known to the process; two for a new one, or if more than
/// 50 days have meetings.
#[tokio::test]
async fn free_time_costs() {
    let world = office().await;
    let uri = "/calendarmeeting/slots?i=acme&keyName=demo";
    costs(
        "slots: quiet, first time",
        &ask(&world, uri).await,
        (2, 5, 6.0, 0.0),
    );
    costs("slots: quiet", &ask(&world, uri).await, (1, 5, 6.0, 0.0));
    add_meetings(&world.operator(ACME), crowd(4, 62, 0)).await;
    costs(
        "slots: 4 meetings a day",
        &ask(&world, uri).await,
        (2, 7, 11.0, 0.0),
    );
    add_meetings(&world.operator(ACME), crowd(20, 62, 0)).await;
    costs(
        "slots: 20 meetings a day",
        &ask(&world, uri).await,
        (2, 7, 26.0, 0.0),
    );
    let day = format!("{uri}&from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z");
    costs("slots: one day", &ask(&world, &day).await, (1, 5, 6.0, 0.0));
    let none = world
        .get("/calendarmeeting/slots?i=acme&keyName=nobody")
        .send()
        .await;
    none.is(400, &cl006());
    costs("slots: CL006", &none, (1, 2, 2.0, 0.0));
}

/// The response to an unknown link.
pub fn cl006() -> Value {
    json!({ "error": "CL006", "msg": "the calendar does not belong to the instance or is not active" })
}
