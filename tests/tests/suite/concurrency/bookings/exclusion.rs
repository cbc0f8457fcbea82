//! Concurrent bookings of different starts that exclude each other: no two overlapping meetings.

use serde_json::{Value, json};
use tests::ACME;
use tests::bookings::{FREE, add_calendars, booking, calendar};

use super::{Sent, Tally, WEATHERS, crowded, settle};

const CALLERS: usize = 200;

/// A hundred callers want starts that exclude each other, and one gets one.
async fn one_of(changes: &Value, starts: &[&str]) {
    one_of_links(changes, starts, &["demo"]).await;
}

/// The same on several calendars of one user, which differ in their names only.
async fn one_of_links(changes: &Value, starts: &[&str], links: &[&str]) {
    for (weather, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        let named = |(at, link): (usize, &&str)| {
            let mut line = changes.clone();
            (line["id"], line["keyName"]) = (json!(5 + 10 * at), json!(link));
            line["publicId"] = json!(format!("pub_{link}"));
            calendar(&line)
        };
        let calendars: Vec<_> = links.iter().enumerate().map(named).collect();
        add_calendars(&world.operator(ACME), calendars).await;
        let request = |at: usize| {
            let link = links[at / starts.len() % links.len()];
            Sent::from(booking(starts[at % starts.len()], &json!({ "keyName": link })))
        };
        let tally = Tally::of(&world, (0..CALLERS).map(request)).await;
        let there = settle(&world, &tally).await;
        assert_eq!(there.len(), 1, "{weather}: {there:?}");
        if weather == "calm" {
            assert_eq!(tally.counts(), (1, CALLERS - 1, 0));
        }
    }
}

fn daily(hours: &Value) -> Value {
    json!({ "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours, "sat": hours, "sun": hours })
}

/// When the clock is set back, two openings that touch in local time overlap: in Lisbon the hour from 01:00
/// occurs twice, at 00:00 and at 01:00 UTC.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overlapping_openings_exclude_each_other() {
    let back = json!({
        "timezone": "Europe/Lisbon", "durationMinutes": 40, "bufferMinutes": 0,
        "hours": daily(&json!([["00:30", "01:30"], ["01:30", "03:00"]])),
    });
    // The first opening lasts until the second 01:30, the second one begins at the first 01:30.
    let starts = ["2027-10-31T00:10:00.000Z", "2027-10-31T00:30:00.000Z"];
    one_of(&back, &starts).await;
}

/// One user is in one place (C-52), whatever the calendar.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calendars_of_a_user_exclude_each_other() {
    one_of_links(&json!({}), &FREE[..1], &["demo", "second", "third"]).await;
}

/// Meetings over midnight (UTC), and one of which only the buffer extends into the next day.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn meetings_over_midnight_exclude_each_other() {
    let late = json!({
        "timezone": "America/Sao_Paulo", "durationMinutes": 45, "hours": daily(&json!([["20:30", "22:00"]])),
    });
    one_of(&late, &["2026-11-24T23:30:00.000Z"]).await;
}
