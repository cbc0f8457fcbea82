//! Concurrent equal requests with one `Idempotency-Key` (C-10), and the first secret of an instance (C-55).

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::bookings::{FREE, book, booking};
use tests::world::{Answer, over_sdk};

use super::{Sent, Tally, WEATHERS, before, crowded, meetings, office, settle};

const CALLERS: usize = 50;

fn keyed(body: Value, key: &'static str) -> Sent {
    Sent { body, key: Some(key) }
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotent-replayed")
}

/// One of them books; all get the same response, the others marked as replays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_book_once() {
    for (weather, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        let request = keyed(booking(FREE[0], &json!({})), "k");
        let tally = Tally::of(&world, vec![request.clone(); CALLERS]).await;
        let meetings = settle(&world, &tally).await;
        assert_eq!(meetings.len(), 1);
        assert_eq!(tally.taken, 0, "what is taken is theirs");
        assert!(
            tally.booked.iter().all(|data| *data == tally.booked[0]),
            "{:?}",
            tally.booked
        );
        if weather == "calm" {
            assert_eq!((tally.booked.len(), tally.replayed), (CALLERS, CALLERS - 1));
        }
        let again = request.insist(&world).await;
        again.is(200, &json!({ "msg": "created", "data": tally.booked[0] }));
        assert!(is_replayed(&again));
    }
}

/// With different bodies under one key the first written counts: equal requests replay it, others get 422.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_bodies_under_one_key_conflict() {
    for (weather, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        let requests = (0..CALLERS).map(|at| keyed(booking(FREE[at % 2], &json!({})), "k"));
        let calls = requests.map(|request| {
            let world = world.clone();
            tokio::spawn(async move { request.insist(&world).await })
        });
        let answers: Vec<_> = join_all(calls)
            .await
            .into_iter()
            .map(|answer| answer.expect("no panic"))
            .collect();
        let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((won.len(), lost.len()), (CALLERS / 2, CALLERS / 2), "{weather}");
        assert!(won.iter().all(|answer| answer.body == won[0].body));
        let other = "Idempotency-Key was used with another body";
        for answer in lost {
            answer.is(422, &json!({ "error": other }));
        }
        let tally = Tally {
            booked: vec![won[0].body["data"].clone()],
            ..Tally::default()
        };
        assert_eq!(settle(&world, &tally).await.len(), 1);
    }
}

/// An equal request that is written between two reads is found, although its key was absent at the first: the
/// time is taken by the caller's own meeting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_equal_request_written_between_the_reads_is_replayed() {
    let _sdk = over_sdk();
    let world = office().await;
    let request = keyed(booking(FREE[0], &json!({})), "k");
    let twin = std::sync::Arc::new(world.beside());
    let action = {
        let request = request.clone();
        move || {
            let (twin, request) = (twin.clone(), request.clone());
            async move { assert_eq!(request.send(&twin).await.status, 200) }
        }
    };
    // The claim is read first, then the times of the calendar.
    let world = world.with_faults(before("Query", 1, action));
    let answer = request.send(&world).await;
    assert_eq!(
        (answer.status.as_u16(), is_replayed(&answer)),
        (200, true),
        "{}",
        answer.body
    );
    assert_eq!(meetings(&world).await.len(), 1);
    let other = keyed(booking(FREE[1], &json!({})), "k").send(&world).await;
    assert_eq!(other.status, 422);
    world.is_sound().await;
}

/// Concurrent first bookings create one secret, and each returned key moves its meeting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_bookings_create_one_secret() {
    for (_, plan) in WEATHERS {
        let world = crowded(CALLERS, plan()).await;
        let weeks = (0..CALLERS).map(|at| {
            let date = tests::world::at(FREE[0]).plus_days(7 * u32::try_from(at).expect("small"));
            booking(&date.to_string(), &json!({})).into()
        });
        let tally = Tally::of(&world, weeks).await;
        settle(&world, &tally).await;
        let keys: BTreeSet<_> = tally
            .booked
            .iter()
            .map(|data| data["rescheduleKey"].to_string())
            .collect();
        assert_eq!(keys.len(), tally.booked.len(), "each meeting its own");
        let beside = world.beside();
        for data in &tally.booked {
            let proof = json!({ "rescheduleMeetingId": data["id"], "rescheduleKey": data["rescheduleKey"] });
            let later = tests::world::at(data["date"].as_str().expect("a time")).plus_seconds(2400);
            let body = booking(
                &later.to_string(),
                &json!({ "leadId": data["leadId"], "formData": {}, "properties": proof }),
            );
            let moved = book(&beside, &body).await;
            assert_eq!(
                (moved.status.as_u16(), &moved.body["data"]["id"]),
                (200, &data["id"]),
                "{}",
                moved.body
            );
        }
        beside.is_sound().await;
    }
}
