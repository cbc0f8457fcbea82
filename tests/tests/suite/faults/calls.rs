//! Calls (endpoint 19) whose lead cannot be found or created. Other faults are in [matrix](super::matrix).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::Fault;
use serde_json::{Value, json};
use tests::World;
use tests::world::over_sdk;

use super::{SDK_ATTEMPTS, always, first};

fn call(phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip" } })
}

/// C-74: where the lead cannot be looked up, the call is stored without it.
#[tokio::test]
async fn a_failed_lookup_does_not_lose_the_call() {
    let _sdk = over_sdk();
    let world = World::new()
        .await
        .with_faults(always("Query", Fault::FailedBefore));
    world
        .webhook(&call("+55 11 97326-3471"))
        .send()
        .await
        .is(201, &json!({ "msg": "created", "id": 1 }));
    let world = world.with_faults(Arc::new(|_| None));
    let calls = world.calls().await;
    assert_eq!((calls.len(), calls[0].lead), (1, None));
    assert!(world.events().await.is_empty());
}

/// C-74, C-75: if the write with the lead fails, the call is stored without it; if it was executed and only
/// its response was lost, it is recognised. Either way there is one call.
#[tokio::test]
async fn writes_of_unknown_outcome_are_done_once() {
    let _sdk = over_sdk();
    for (phone, leads) in [("+55 11 97326-3471", 8), ("+55 41 98888-0001", 9)] {
        for (fault, linked) in [(Fault::FailedBefore, false), (Fault::FailedAfter, true)] {
            let world = World::new()
                .await
                .with_faults(first("TransactWriteItems", fault, SDK_ATTEMPTS));
            world
                .webhook(&call(phone))
                .send()
                .await
                .is(201, &json!({ "msg": "created", "id": 1 }));
            let (calls, events) = (world.calls().await, world.events().await);
            assert_eq!(
                (calls.len(), calls[0].lead.is_some()),
                (1, linked),
                "{phone} {fault:?}"
            );
            assert_eq!(
                events.len(),
                usize::from(linked),
                "call and event together or not at all"
            );
            assert_eq!(world.leads().await.len(), if linked { leads } else { 8 });
            world.is_sound().await;
        }
    }
}

/// C-75: the last attempt keeps the ids of an attempt of unknown outcome. With other ids both could be executed, and one
/// request would write two calls.
#[tokio::test]
async fn the_last_attempt_keeps_ids_of_unknown_outcome() {
    let _sdk = over_sdk();
    let world = World::new().await;
    for _ in 0..5 {
        world.webhook(&call("")).send().await;
    }
    // Without the counter, the ids 1, 1, 2, 3, 4 and 5 are tried first, and are taken.
    world.raw().delete("acme#counter", "call");
    let met = AtomicUsize::new(0);
    let seventh = 6..6 + SDK_ATTEMPTS;
    let world = world.with_faults(Arc::new(move |operation| {
        let hit = operation == "TransactWriteItems" && seventh.contains(&met.fetch_add(1, Ordering::Relaxed));
        hit.then_some(Fault::FailedBefore)
    }));
    let answer = world.webhook(&call("+55 11 97326-3471")).send().await;
    answer.is(201, &json!({ "msg": "created", "id": 6 }));
    assert_eq!(world.calls().await.len(), 6);
}
