//! Concurrent calls (endpoint 19): one lead for a new number, no lost call, no duplicate id.

use std::collections::BTreeSet;

use dynamodb::faults::Fault;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::World;
use tests::people::lead;
use tests::world::over_sdk;

fn call(phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip" } })
}

/// Sends a call from each number concurrently. Returns the calls' ids.
async fn storm(world: &World, phones: impl IntoIterator<Item = String>) -> BTreeSet<u64> {
    let calls = phones.into_iter().map(async |phone| {
        let answer = world.webhook(&call(&phone)).send().await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.body["id"].as_u64().expect("an id")
    });
    let ids = join_all(calls).await;
    let distinct: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), ids.len(), "no number was taken twice");
    distinct
}

/// C-72: concurrent first calls from one number, in both forms, create one lead; every call and event exists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_new_number_creates_one_lead() {
    let world = World::new().await;
    let forms = ["+55 41 98888-0001", "554188880001", "41988880001"];
    let ids = storm(&world, forms.into_iter().cycle().take(30).map(str::to_owned)).await;
    let (calls, leads) = (world.calls().await, world.leads().await);
    let made: Vec<_> = leads
        .iter()
        .filter(|lead| lead.created_by_type.as_deref() == Some("voip"))
        .collect();
    assert_eq!(made.len(), 1);
    assert!(calls.iter().all(|call| call.lead == Some(made[0].id)));
    assert_eq!(
        calls.iter().map(|call| call.id.get()).collect::<BTreeSet<_>>(),
        ids
    );
    let events: BTreeSet<_> = world
        .events()
        .await
        .iter()
        .map(|event| event.call.get())
        .collect();
    assert_eq!(events, ids);
    world.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_new_numbers_create_a_lead_each() {
    let world = World::new().await;
    storm(&world, (0..40).map(|n| format!("554198888{n:04}"))).await;
    let made: BTreeSet<_> = world.calls().await.iter().filter_map(|call| call.lead).collect();
    assert_eq!(made.len(), 40);
    let answer = world
        .read(&world.wallet(7).await, "/leads?i=acme&limit=200")
        .await;
    assert_eq!(answer.body["data"]["total"], 46);
    assert_eq!(answer.body["data"]["leads"].as_array().map(Vec::len), Some(46));
    world.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_concurrent_calls_of_one_lead_are_stored() {
    let world = World::new().await;
    let ids = storm(&world, (0..40).map(|_| "+55 11 97326-3471".to_owned())).await;
    let calls = world.calls().await;
    assert!(calls.iter().all(|call| call.lead == Some(lead(1001))));
    assert_eq!(
        calls.iter().map(|call| call.id.get()).collect::<BTreeSet<_>>(),
        ids
    );
    assert_eq!(world.events().await.len(), 40);
    world.is_sound().await;
}

/// C-10: of concurrent equal requests with one key one does the work, and all return its call, with and
/// without faults, and also if they create a lead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_with_one_key_create_one_call() {
    let _sdk = over_sdk();
    for bad in [0, 30] {
        for phone in ["+55 11 97326-3471", "+55 41 98888-0001", "anonymous"] {
            let world = World::new().await.with_faults(super::bad_moments(bad));
            let answers = (0..50).map(async |_| {
                let call = world.webhook(&call(phone)).header("idempotency-key", "k");
                call.send().await
            });
            let answers = join_all(answers).await;
            let good: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
            assert!(bad > 0 || good.len() == 50);
            let calls = world.calls().await;
            assert!(
                calls.len() <= 1 && (calls.is_empty() == good.is_empty()),
                "{phone} {bad}"
            );
            for answer in &good {
                assert_eq!(answer.body, json!({ "msg": "created", "id": calls[0].id }));
            }
            let new = good
                .iter()
                .filter(|answer| answer.headers.get("idempotent-replayed").is_none());
            assert!(new.count() <= 1, "{phone} {bad}");
            assert!(world.events().await.len() <= 1);
            let made = world.leads().await;
            let made = made
                .iter()
                .filter(|lead| lead.created_by_type.as_deref() == Some("voip"));
            assert!(made.count() <= 1);
            world.with_faults(std::sync::Arc::new(|_| None)).is_sound().await;
        }
    }
}

/// With conflicts, throttling and timeouts after the commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_new_number_creates_one_lead_despite_faults() {
    let _sdk = over_sdk();
    let attempts = std::sync::atomic::AtomicU64::new(0);
    let plan = move |operation: &str| {
        // Spread by the golden ratio, so that no request gets a fault in every attempt.
        let attempt = attempts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let spread = attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        match (operation, spread % 11) {
            ("TransactWriteItems", 1) => Some(Fault::Conflict),
            ("TransactWriteItems", 3) => Some(Fault::FailedAfter),
            (_, 5) => Some(Fault::Throttled),
            _ => None,
        }
    };
    let world = World::new().await.with_faults(std::sync::Arc::new(plan));
    let ids = storm(&world, (0..20).map(|_| "+55 41 98888-0001".to_owned())).await;
    let calls = world.calls().await;
    assert_eq!(
        calls.iter().map(|call| call.id.get()).collect::<BTreeSet<_>>(),
        ids,
        "each call once"
    );
    let made = world
        .leads()
        .await
        .iter()
        .filter(|lead| lead.created_by_type.as_deref() == Some("voip"))
        .count();
    assert_eq!(made, 1);
    // A call with a fault in every attempt is stored without its lead (C-74), never with another.
    assert!(
        calls
            .iter()
            .all(|call| call.lead.is_none_or(|linked| linked == lead(1013)))
    );
    assert!(calls.iter().filter(|call| call.lead.is_some()).count() > 10);
    world.is_sound().await;
}
