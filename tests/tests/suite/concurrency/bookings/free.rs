//! Many callers for different times: all succeed.

use std::collections::BTreeSet;

use serde_json::json;
use tests::ACME;
use tests::bookings::{add_calendars, booking, calendar};
use tests::world::at;

use super::{Sent, Tally, WEATHERS, Weather, crowded, settle};

const CALLERS: usize = 50;
const DAY: &str = "2026-11-24T00:00:00.000Z";

/// The time of caller `at`, spread over days and calendars. A day has 144 times.
fn wish(at: usize, days: u32, calendars: usize) -> Sent {
    let turn = u32::try_from(at).expect("small");
    let date = self::at(DAY)
        .plus_days(turn % days)
        .plus_seconds(turn / days * 600);
    let form = json!({ "firstname": format!("Visita {at}"), "email": format!("v{at}@example.com") });
    let link = format!("dia-{}", at % calendars);
    booking(&date.to_string(), &json!({ "keyName": link, "formData": form })).into()
}

async fn everybody(days: u32, calendars: usize, (weather, plan): Weather) {
    let world = crowded(CALLERS, plan()).await;
    let all = json!([["00:00", "24:00"]]);
    let always =
        json!({ "mon": all, "tue": all, "wed": all, "thu": all, "fri": all, "sat": all, "sun": all });
    let lines = (0..calendars).map(|at| {
        calendar(&json!({
            "id": 20 + at, "keyName": format!("dia-{at}"), "publicId": format!("pub-dia-{at}"),
            "durationMinutes": 10, "bufferMinutes": 0, "hours": always,
        }))
    });
    add_calendars(&world.operator(ACME), lines).await;
    let tally = Tally::of(&world, (0..CALLERS).map(|at| wish(at, days, calendars))).await;
    let (booked, taken, failed) = tally.counts();
    assert_eq!(taken, 0, "nobody wanted the same");
    let ids: BTreeSet<_> = tally.booked.iter().map(|data| data["id"].as_u64()).collect();
    assert_eq!(ids.len(), booked, "no number was taken twice");
    if weather == "calm" {
        assert_eq!((booked, failed), (CALLERS, 0));
    }
    let dates: BTreeSet<_> = settle(&world, &tally)
        .await
        .iter()
        .map(|meeting| (meeting.calendar_id, meeting.date))
        .collect();
    assert!(dates.len() >= booked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_of_one_day() {
    for weather in WEATHERS {
        everybody(1, 1, weather).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_of_many_days() {
    for weather in WEATHERS {
        everybody(25, 1, weather).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_of_many_calendars() {
    for weather in WEATHERS {
        everybody(1, 10, weather).await;
    }
}
