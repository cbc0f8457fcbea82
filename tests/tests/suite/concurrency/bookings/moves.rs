//! Concurrent moves (C-55): a time has one meeting, a meeting one time, and the old time is free.

use std::sync::Arc;

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{FREE, book, booking};
use tests::world::{at, over_sdk};

use super::{Sent, Tally, WEATHERS, all_at_once, do_not_overlap, meetings, office, settle, visitors};
use crate::faults::none;

const MEETINGS: usize = 20;

/// Books this number of meetings, one each Monday at the first time.
pub async fn booked(world: &World, meetings: usize) -> Vec<Value> {
    let mut booked = Vec::new();
    for week in 0..meetings {
        let date = at(FREE[0]).plus_days(7 * u32::try_from(week).expect("small"));
        let answer = book(world, &booking(&date.to_string(), &json!({}))).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        booked.push(answer.body["data"].clone());
    }
    booked
}

/// The body that moves a meeting, from the response to its booking.
pub fn moving(data: &Value, to: &str) -> Value {
    let proof = json!({ "rescheduleMeetingId": data["id"], "rescheduleKey": data["rescheduleKey"] });
    booking(
        to,
        &json!({ "leadId": data["leadId"], "formData": {}, "properties": proof }),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_meetings_moves_to_a_time() {
    let _sdk = over_sdk();
    for (weather, plan) in WEATHERS {
        let world = office().await;
        let booked = booked(&world, MEETINGS).await;
        let world = Arc::new(world.with_faults(all_at_once(MEETINGS, plan())));
        let requests = booked.iter().map(|data| moving(data, FREE[2]).into());
        let tally = Tally::of(&world, requests).await;
        let there = meetings(&world).await;
        do_not_overlap(&there);
        assert_eq!((there.len(), visitors(&world).await.len()), (MEETINGS, MEETINGS));
        let (moved, stayed): (Vec<_>, Vec<_>) = there.iter().partition(|meeting| meeting.date == at(FREE[2]));
        assert_eq!(moved.len(), 1, "told or not");
        for meeting in stayed {
            let before = booked
                .iter()
                .find(|data| data["id"] == json!(meeting.id))
                .expect("it was booked");
            assert_eq!(&super::with_key(meeting, before), before, "as it was");
        }
        if weather == "calm" {
            assert_eq!(tally.counts(), (1, MEETINGS - 1, 0));
        }
        for data in &tally.booked {
            assert_eq!(&super::with_key(moved[0], data), data);
        }
        world.is_sound().await;
    }
}

/// One meeting to two times: both moves happen in sequence, and only the last time is occupied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_moves_of_one_meeting_leave_one_time_occupied() {
    let _sdk = over_sdk();
    for (weather, plan) in WEATHERS {
        for _ in 0..5 {
            let world = office().await;
            let data = booked(&world, 1).await.remove(0);
            let world = Arc::new(world.with_faults(all_at_once(2, plan())));
            // One on the same day, the other on the next.
            let times = [FREE[2].to_owned(), at(FREE[1]).plus_days(1).to_string()];
            let tally = Tally::of(&world, times.iter().map(|time| moving(&data, time).into())).await;
            assert_eq!(tally.taken, 0, "{weather}: both are free");
            let there = meetings(&world).await;
            assert_eq!((there.len(), there[0].id.get()), (1, 1));
            if weather == "calm" {
                assert_eq!(tally.booked.len(), 2);
                assert!(times.contains(&there[0].date.to_string()), "{:?}", there[0]);
            }
            let beside = world.beside();
            let all = times.iter().map(String::as_str).chain([FREE[0]]);
            for time in all.filter(|time| at(time) != there[0].date) {
                assert_eq!(
                    book(&beside, &booking(time, &json!({}))).await.status,
                    200,
                    "{time} is free"
                );
            }
            beside.is_sound().await;
        }
    }
}

/// Bookings of a time that a meeting is leaving: one succeeds, after the move.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_booking_gets_a_time_being_left() {
    let _sdk = over_sdk();
    for (_, plan) in WEATHERS {
        let world = office().await;
        let data = booked(&world, 1).await.remove(0);
        let world = Arc::new(world.with_faults(plan()));
        let moving = Sent::from(moving(&data, FREE[3]));
        let (moved, tally) = tokio::join!(
            moving.insist(&world),
            Tally::of(&world, (0..30).map(|_| booking(FREE[0], &json!({})).into()))
        );
        assert_eq!(moved.status, 200, "{}", moved.body);
        let beside = world.beside();
        let last = book(&beside, &booking(FREE[0], &json!({}))).await;
        let there = meetings(&beside).await;
        do_not_overlap(&there);
        let dates: Vec<_> = there.iter().map(|meeting| meeting.date).collect();
        assert_eq!(dates, [at(FREE[3]), at(FREE[0])]);
        assert!(tally.booked.len() + usize::from(last.status == 200) < 2);
        assert_eq!(visitors(&beside).await.len(), 2);
        beside.is_sound().await;
    }
}

/// Each meeting moves to the time of the next, in a cycle of occupied times: none succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moves_in_a_cycle_all_fail() {
    let _sdk = over_sdk();
    let world = office().await;
    let booked = booked(&world, MEETINGS).await;
    let world = Arc::new(world.with_faults(none()));
    let next = booked.iter().cycle().skip(1);
    let requests = booked.iter().zip(next);
    let requests = requests.map(|(data, next)| moving(data, next["date"].as_str().expect("a time")).into());
    let tally = Tally::of(&world, requests).await;
    assert_eq!(tally.counts(), (0, MEETINGS, 0));
    let unmoved = Tally {
        booked,
        ..Tally::default()
    };
    settle(&world, &unmoved).await;
}
