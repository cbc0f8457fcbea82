//! Different starts that exclude each other, at once: what overlaps is not there twice, whatever its start is.

use serde_json::{Value, json};
use tests::ACME;
use tests::bookings::{add_calendars, booking, calendar};

use super::{Sent, Tally, WEATHERS, crowded, settle};

const CALLERS: usize = 100;

/// A calendar and starts that exclude each other: a hundred want them at once, and one gets one.
async fn one_of(what: &str, changes: &Value, starts: &[&str]) {
    for (weather, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        add_calendars(&world.operator(ACME), [calendar(changes)]).await;
        let request = |at: usize| Sent::from(booking(starts[at % starts.len()], &json!({})));
        let tally = Tally::of(&world, (0..CALLERS).map(request)).await;
        tally.print(what, weather);
        let there = settle(&world, &tally).await;
        assert_eq!(there.len(), 1, "{weather}: {there:?}");
        if weather == "calm" {
            assert_eq!(tally.counts(), (1, CALLERS - 1, 0));
        }
    }
}

/// Hours that are the same every day.
fn daily(hours: &Value) -> Value {
    json!({ "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours, "sat": hours, "sun": hours })
}

/// Where a clock is set back, two openings that touch by the clock overlap in time: in Lisbon the hour from 01:00 passes
/// twice, at 00:00 and at 01:00 UTC.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openings_that_overlap() {
    let back = json!({
        "timezone": "Europe/Lisbon", "durationMinutes": 40, "bufferMinutes": 0,
        "hours": daily(&json!([["00:30", "01:30"], ["01:30", "03:00"]])),
    });
    // The first opening goes on until the second 01:30, the second one begins at the first.
    let starts = ["2027-10-31T00:10:00.000Z", "2027-10-31T00:30:00.000Z"];
    one_of("100 for openings that overlap", &back, &starts).await;
}

/// Meetings over midnight (UTC), and one whose buffer alone reaches into the next day.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_midnight() {
    let late = json!({
        "timezone": "America/Sao_Paulo", "durationMinutes": 45, "hours": daily(&json!([["20:30", "22:00"]])),
    });
    one_of(
        "100 for one time over midnight",
        &late,
        &["2026-11-24T23:30:00.000Z"],
    )
    .await;
}
