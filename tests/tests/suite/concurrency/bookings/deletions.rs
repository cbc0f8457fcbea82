//! Leads that are deleted during bookings (C-24): nothing is booked for a deleted lead, and no booking
//! restores a part of one.
//!
//! A deletion is simulated: the record is deleted, and the doctor removes the items derived from it.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::bookings::{FREE, add_calendars, book, booking, calendar, open_calendars};
use tests::people::settle;
use tests::raw::RawTable;
use tests::world::{at, over_sdk};
use tests::{ACME, World};

use super::moves::moving;
use super::{WEATHERS, before, meetings};
use crate::concurrency::{FAILED, has_failed};

/// A lead that no other record refers to.
const LEAD: u64 = 1002;

/// `acme` with its calendars, and its raw table.
async fn office() -> (World, RawTable) {
    let world = World::own().await;
    settle(&world.operator(ACME)).await;
    open_calendars(&world.operator(ACME)).await;
    let table = world.raw();
    (world, table)
}

async fn delete(world: &World, table: &RawTable) {
    table.delete("acme#lead", &format!("{LEAD:015}"));
    let repaired = world.operator(ACME).doctor(true, &|_| {}).await;
    assert!(!repaired.expect("a diagnosis").differences.is_empty());
}

fn is_there(table: &RawTable) -> bool {
    table.get("acme#lead", &format!("{LEAD:015}")).is_some()
}

fn for_lead(date: &str) -> Value {
    booking(date, &json!({ "leadId": LEAD, "formData": {} }))
}

fn unknown() -> Value {
    json!({ "error": "CL008", "msg": "the lead does not exist or does not belong to the instance" })
}

/// The lead is deleted just before the booking is written: it is unknown, and nothing is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_deleted_before_the_booking_is_unknown() {
    let _sdk = over_sdk();
    for key in [None, Some("k")] {
        let (world, table) = office().await;
        let (beside, seen) = (Arc::new(world.beside()), table.clone());
        let deleted = Arc::new(std::sync::Mutex::new(Vec::new()));
        let left = deleted.clone();
        let action = move || {
            let (beside, table, left) = (beside.clone(), seen.clone(), left.clone());
            async move {
                delete(&beside, &table).await;
                *left.lock().expect("no panic") = table.items();
            }
        };
        let world = world.with_faults(before("TransactWriteItems", 1, action));
        let request = super::Sent {
            body: for_lead(FREE[0]),
            key,
        };
        request.send(&world).await.is(400, &unknown());
        assert_eq!(
            table.items(),
            *deleted.lock().expect("no panic"),
            "nothing is written"
        );
        request.send(&world).await.is(400, &unknown());
        world.is_sound().await;
    }
}

/// The lead is deleted just before its meeting is moved: the meeting moves, without personal data.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_of_a_deleted_lead_moves_without_personal_data() {
    let _sdk = over_sdk();
    let (world, table) = office().await;
    let data = book(&world, &for_lead(FREE[0])).await.body["data"].clone();
    let (beside, seen) = (Arc::new(world.beside()), table.clone());
    let action = move || {
        let (beside, table) = (beside.clone(), seen.clone());
        async move { delete(&beside, &table).await }
    };
    let world = world.with_faults(before("TransactWriteItems", 1, action));
    let answer = book(&world, &moving(&data, FREE[2])).await;
    let mut expected = data.clone();
    let end = at(FREE[2]).plus_seconds(1800);
    for (name, value) in [
        ("date", json!(FREE[2])),
        ("endDate", json!(end)),
        ("leadId", Value::Null),
        ("formData", Value::Null),
        ("status", json!("rescheduled")),
        ("moves", json!(1)),
    ] {
        expected[name] = value;
    }
    answer.is(200, &json!({ "msg": "created", "data": expected }));
    assert!(!is_there(&table));
    let links = table
        .items()
        .into_iter()
        .filter(|item| item["pk"]["S"] == format!("acme#lead-meeting#{LEAD}"));
    assert_eq!(links.count(), 0);
    world.is_sound().await;
}

/// Bookings and moves for a lead that is deleted in between: acknowledged ones exist, the lead does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bookings_concurrent_with_a_deletion() {
    let _sdk = over_sdk();
    for (weather, plan) in WEATHERS {
        let (world, table) = office().await;
        let all = json!([["00:00", "24:00"]]);
        let days = json!({ "mon": all, "tue": all, "wed": all, "thu": all, "fri": all });
        add_calendars(
            &world.operator(ACME),
            [calendar(&json!({ "hours": days, "bufferMinutes": 0 }))],
        )
        .await;
        let first = book(&world, &for_lead(FREE[0])).await.body["data"].clone();
        let world = Arc::new(world.with_faults(plan()));
        let start = |turn: usize| {
            at(FREE[0])
                .plus_seconds(1800 * u32::try_from(turn).expect("small"))
                .to_string()
        };
        let mut requests: Vec<_> = (1..=20).map(|turn| for_lead(&start(turn))).collect();
        requests.insert(10, moving(&first, &start(25)));
        let gone = {
            let (world, table) = (world.clone(), table.clone());
            async move {
                // About half of them.
                while meetings(&world).await.len() < 4 {
                    tokio::task::yield_now().await;
                }
                table.delete("acme#lead", &format!("{LEAD:015}"));
            }
        };
        let send = |body: Value| {
            let world = world.clone();
            tokio::spawn(async move { book(&world, &body).await })
        };
        let (answers, ()) = tokio::join!(join_all(requests.into_iter().map(send)), gone);
        let mut told = vec![first["id"].clone()];
        let mut failed = 0;
        for answer in answers.into_iter().map(|answer| answer.expect("no panic")) {
            match answer.status.as_u16() {
                200 => told.push(answer.body["data"]["id"].clone()),
                500 | 503 => {
                    assert!(has_failed(&answer, FAILED[1]), "{answer:?}");
                    failed += 1;
                }
                _ => answer.is(400, &unknown()),
            }
        }
        told.sort_by_key(Value::as_u64);
        told.dedup();
        println!(
            "| 21 while their lead goes | {weather} | {} booked | {failed} failed |",
            told.len() - 1
        );
        let there: Vec<_> = meetings(&world)
            .await
            .iter()
            .map(|meeting| json!(meeting.id))
            .collect();
        assert!(told.iter().all(|id| there.contains(id)) && there.len() <= told.len() + failed);
        assert!(!is_there(&table), "no booking brings it back");
        book(&world.beside(), &for_lead(&start(30)))
            .await
            .is(400, &unknown());
        world
            .operator(ACME)
            .doctor(true, &|_| {})
            .await
            .expect("a diagnosis");
        world.is_sound().await;
    }
}
