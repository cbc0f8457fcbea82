//! Endpoints 11 and 12, and free times.

use serde_json::{Value, json};
use shared::meeting::Meeting;
use shared::time::Timestamp;

use super::Scale;
use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, MORE_THAN_A_PAGE, Target};
use crate::bookings::{add_calendars, add_meetings, calendar, meeting, open_calendars};
use crate::world::{Wallet, at};

const UNKNOWN: &str = "The first request of a process: the next meetings are asked for once it is known which calendars there are, or \
    whose the key is that comes without `i`.";
const HUNDRED: &str = "Next meetings are read for 100 calendars at a time.";
const BY_DAY: &str = "A page begins within a day. What lies before it on that day is skipped, because meetings are counted by day.";

pub(super) async fn measure(scale: Scale) -> Vec<Row> {
    let mut rows = Vec::new();
    for calendars in [1, 10, 40, 101] {
        rows.extend(listed(calendars).await);
    }
    for (meetings, days) in scale.of(2, &[(10, 10), (1_000, 50), (10_000, 500)]) {
        rows.extend(meetings_of(*meetings, *days).await);
    }
    rows.extend(large_meetings().await);
    rows.extend(slots().await);
    rows
}

async fn listed(calendars: u32) -> Vec<Row> {
    let desk = Desk::open().await;
    let lines = (0..calendars).map(|at| {
        calendar(&json!({ "id": 5 + at, "keyName": format!("k{at}"), "publicId": format!("p{at}") }))
    });
    add_calendars(&desk.operator(), lines).await;
    add_meetings(&desk.operator(), [meeting(&json!({}))]).await;
    let wallet = desk.wallet(7).await;
    let uri = |rest: &str| format!("/pcalendar?apitoken={}{rest}", wallet.key);
    let line =
        |what| Line::of(Target::Thing, "11", format!("{calendars} calendars, {what}")).shows("calendar");
    let many = calendars > 100;
    let first = line("first request of a process, without `i`").but_trips(if many { 3 } else { 2 }, UNKNOWN);
    let alone = uri("&query={calendars{id,name}}");
    desk.measure(first, 200, desk.get(&alone)).await;
    let again = line("without `nextMeeting`");
    let again = if many {
        again.but_trips(2, MORE_THAN_A_PAGE)
    } else {
        again
    };
    desk.measure(again, 200, desk.get(&alone)).await;
    let first = line("all fields, first time").but_trips(if many { 4 } else { 2 }, UNKNOWN);
    desk.measure(first, 200, desk.get(&uri(""))).await;
    let again = line("all fields");
    let again = if many { again.but_trips(3, HUNDRED) } else { again };
    desk.measure(again, 200, desk.get(&uri(""))).await;
    desk.close()
}

/// `a_day` meetings a day on calendar 5 from 03:00, for `days` days, starting `from` days after the first
/// free one.
fn crowd(a_day: u32, days: u32, from: i32) -> impl Iterator<Item = Meeting> {
    (0..days * a_day).map(move |turn| {
        let first = at("2026-11-23T03:00:00Z").unix_millis() + i64::from(from) * 86_400_000;
        let start = first + i64::from(turn / a_day) * 86_400_000 + i64::from(turn % a_day) * 900_000;
        let date = Timestamp::from_unix_millis(start).expect("a time");
        meeting(&json!({ "id": turn + 1, "date": date, "endDate": date.plus_seconds(900) }))
    })
}

/// Half of them are in the past; all are of lead 1001.
async fn meetings_of(meetings: u32, days: u32) -> Vec<Row> {
    let desk = Desk::open().await;
    open_calendars(&desk.operator()).await;
    let middle = i32::try_from(days / 2).expect("small");
    let all: Vec<_> = crowd(meetings / days, days, -middle - 1).collect();
    for lines in all.chunks(1_000) {
        add_meetings(&desk.operator(), lines.to_vec()).await;
    }
    let wallet = desk.wallet(7).await;
    let last = (meetings / 2).div_ceil(50) - 1;
    let is_long = last > 0;
    for (what, calendar, page, limit, trips) in [
        ("page 0 of 1", "5", 0, 1, 1),
        ("page 0 of 50", "5", 0, 50, 1),
        ("page 0 of 100", "5", 0, 100, 2),
        ("page 1 of 50", "5", 1, 50, 2),
        ("the last page of 50", "5", last, 50, 2),
        ("by `publicId`, page 0 of 50", "pub_5", 0, 50, 2),
        ("by `publicId`, the last page of 50", "pub_5", last, 50, 3),
    ] {
        let line = Line::within(trips, "12", format!("{meetings} meetings, {what}")).shows("meetings");
        let skips = is_long && page > 0;
        let line = if skips { line.but_units(BY_DAY) } else { line };
        let uri = format!("/calendarmeeting/{calendar}?i=acme&page={page}&limit={limit}");
        ask(&desk, &wallet, line, &uri).await;
    }
    desk.close()
}

async fn ask(desk: &Desk, wallet: &Wallet, line: Line, uri: &str) {
    let request = desk.get(&format!("{uri}&apitoken={}", wallet.key));
    desk.measure(line, 200, request).await;
}

async fn large_meetings() -> Vec<Row> {
    let desk = Desk::open().await;
    open_calendars(&desk.operator()).await;
    let large = crowd(4, 30, 0).map(|mut meeting| {
        meeting
            .properties
            .insert("nota".to_owned(), Value::from("x".repeat(3_600)));
        meeting
    });
    add_meetings(&desk.operator(), large).await;
    let wallet = desk.wallet(7).await;
    for limit in [1, 25, 100] {
        let line = Line::within(
            1 + u32::from(limit > 50),
            "12",
            format!("page 0 of {limit}, meetings of 4 KB"),
        )
        .shows("meetings");
        ask(
            &desk,
            &wallet,
            line,
            &format!("/calendarmeeting/5?i=acme&limit={limit}"),
        )
        .await;
    }
    desk.close()
}

async fn slots() -> Vec<Row> {
    let desk = Desk::open().await;
    open_calendars(&desk.operator()).await;
    let uri = "/calendarmeeting/slots?i=acme&keyName=demo";
    let line = |trips, what| Line::within(trips, "slots", format!("62 days, {what}"));
    let first = line(2, "first request of a process");
    desk.measure(first, 200, desk.get(uri)).await;
    desk.measure(line(1, "no meetings"), 200, desk.get(uri)).await;
    for (what, a_day) in [("4 meetings a day", 4), ("20 meetings a day", 20)] {
        add_meetings(&desk.operator(), crowd(a_day, 62, 0)).await;
        desk.measure(line(2, what), 200, desk.get(uri)).await;
    }
    let nobody = desk.get("/calendarmeeting/slots?i=acme&keyName=nobody");
    desk.measure(Line::within(1, "slots", "unknown link"), 400, nobody)
        .await;
    desk.close()
}
