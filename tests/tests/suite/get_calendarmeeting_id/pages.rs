//! Pages (C-51): from 0, of 50 or `limit`, by start and then id, with the total of all pages.

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{add_meetings, meeting};
use tests::world::at;

use super::{body, get, world};

/// The starts of 123 meetings: many at one moment, many on one day, across ends of days, months and years.
fn starts() -> Vec<String> {
    let of_a_moment = |_| "2026-11-23T10:00:00.000Z".to_owned();
    let of_a_day = |minute: u32| format!("2026-11-23T{:02}:{:02}:00.000Z", 11 + minute / 60, minute % 60);
    let days = |day: u32| {
        let start = at("2026-11-24T23:59:00Z").plus_seconds((day % 40) * 86_400 + day);
        start.to_string()
    };
    let today = [
        "2026-11-21T12:00:00.000Z",
        "2026-11-21T23:59:59.999Z",
        "2026-11-21T11:59:59.999Z",
    ];
    let all = (0..20)
        .map(of_a_moment)
        .chain((0..40).map(of_a_day))
        .chain((0..60).map(days));
    all.chain(today.map(str::to_owned)).collect()
}

/// Writes them with ids in another order; returns them in the order of the list.
async fn fill(world: &World) -> Vec<Value> {
    let statuses = ["scheduled", "rescheduled", "canceled"];
    let starts = starts();
    let lines = starts.iter().enumerate().map(|(at_id, start)| {
        // 124 is not a multiple of 7, so each id occurs once.
        let id = at_id * 7 % 124 + 1;
        let end = at(start).plus_seconds(1800).to_string();
        let note = json!({ "note": "x".repeat(at_id) });
        json!({ "id": id, "date": start, "endDate": end, "status": statuses[at_id % 3], "formData": note })
    });
    let mut meetings: Vec<_> = lines.map(|line| meeting(&line)).collect();
    add_meetings(&world.operator("acme"), meetings.clone()).await;
    meetings.sort_by_key(|meeting| (meeting.date, meeting.id));
    meetings.iter().map(|meeting| json!(meeting)).collect()
}

/// With any limit and from any start, the pages are the whole list, each item once, with one total.
#[tokio::test]
async fn pages_are_the_whole_list_without_duplicates() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let all = fill(&world).await;
    for from in [
        "2026-11-21T12:00:00.000Z",
        "2026-11-21T12:00:00.001Z",
        "2026-11-23T00:00:00.000Z",
        "2026-11-23T10:00:00.000Z",
        "2026-11-23T10:00:00.001Z",
        "2026-11-23T11:20:00.000Z",
        "2026-12-31T23:59:00.000Z",
        "2027-06-01T00:00:00.000Z",
        "1900-01-01T00:00:00.000Z",
    ] {
        let expected: Vec<_> = all
            .iter()
            .filter(|meeting| meeting["date"].as_str() >= Some(from))
            .cloned()
            .collect();
        for limit in [1, 7, 20, 50, 59, 60, 61, 100] {
            if limit == 1 && from != "2026-11-23T11:20:00.000Z" {
                continue;
            }
            let pages = expected.len() / limit + 2;
            for page in 0..pages {
                let rest = expected.iter().skip(page * limit).take(limit);
                let rest: Vec<_> = rest.cloned().collect();
                let answer = get(
                    &world,
                    &admin,
                    &format!("5?from={from}&page={page}&limit={limit}"),
                )
                .await;
                assert_eq!(answer.body, body(expected.len(), &rest), "{from} {page} {limit}");
            }
        }
    }
}

#[tokio::test]
async fn the_default_page_has_fifty() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let all = fill(&world).await;
    let all: Vec<_> = all.into_iter().skip(1).collect();
    for (page, rest) in [
        ("", &all[..50]),
        ("?page=0", &all[..50]),
        ("?page=1&limit=", &all[50..100]),
        ("?page=2", &all[100..]),
    ] {
        get(&world, &admin, &format!("5{page}"))
            .await
            .is(200, &body(122, rest));
    }
}

#[tokio::test]
async fn pages_after_the_last_are_empty() {
    let world = world().await;
    let admin = world.known(7).await;
    for total in [0, 122] {
        for page in [
            "3",
            "1000000",
            "4294967296",
            "18446744073709551615",
            &"9".repeat(400),
        ] {
            let answer = get(&world, &admin, &format!("5?page={page}&limit=100")).await;
            answer.is(200, &body(total, &[]));
            assert!(answer.cost.round_trips <= 2);
        }
        if total == 0 {
            fill(&world).await;
        }
    }
}

/// Changes between pages appear on the next page, in order and in the total.
#[tokio::test]
async fn pages_show_concurrent_changes() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let mut all = fill(&world).await.split_off(1);
    let moved = |id: &Value, date: &str| {
        meeting(&json!({ "id": id, "date": date, "endDate": date, "formData": null, "leadId": null }))
    };
    for (place, date) in [
        (0, "2027-01-15T00:00:00.000Z"),
        (60, "2026-11-21T12:00:00.000Z"),
        (121, "2026-12-01T00:00:00.000Z"),
    ] {
        let line = moved(&all[place]["id"], date);
        all[place] = json!(line);
        add_meetings(&operator, [line]).await;
        all.sort_by_key(|meeting| (meeting["date"].to_string(), meeting["id"].as_u64()));
        for page in 0..4 {
            let rest: Vec<_> = all.iter().skip(page * 40).take(40).cloned().collect();
            get(&world, &admin, &format!("5?page={page}&limit=40"))
                .await
                .is(200, &body(122, &rest));
        }
    }
    world.is_sound().await;
}

/// Several reads are combined.
#[tokio::test]
async fn pages_of_large_meetings_are_complete() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let large = |id: u64| {
        let minute = format!("2026-11-23T09:{:02}:00.000Z", id / 3);
        meeting(
            &json!({ "id": id, "date": minute, "endDate": minute, "formData": { "x": "y".repeat(45_000) } }),
        )
    };
    let meetings: Vec<_> = (1..=100).map(large).collect();
    add_meetings(&world.operator("acme"), meetings.clone()).await;
    let all: Vec<_> = meetings.iter().map(|meeting| json!(meeting)).collect();
    for (limit, pages) in [(100, 2), (50, 3), (33, 4)] {
        for page in 0..pages {
            let rest: Vec<_> = all.iter().skip(page * limit).take(limit).cloned().collect();
            let answer = get(&world, &admin, &format!("5?page={page}&limit={limit}")).await;
            assert!(
                answer.body == body(100, &rest),
                "{page} {limit}: {}",
                answer.status
            );
        }
    }
}
