//! C-76: calls of archived leads write no trigger, whatever happens after the call.

use dynamodb::faults::Fault;
use futures_util::future::join_all;
use serde_json::json;
use tests::people::lead;
use tests::world::over_sdk;
use tests::{Wallet, World};

use super::{MARIA, automation, call, call_for, lead_of, outbox, receive, run, world};

/// Each call of a lead adds seven points.
async fn shop() -> (World, Wallet) {
    let points = json!([{ "type": "addPoints", "points": 7 }]);
    let world = world(&[automation(1, true, &points)]).await;
    let wallet = world.wallet(7).await;
    (world, wallet)
}

async fn archive(world: &World, wallet: &Wallet, id: u64, archived: bool) {
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    let body = json!({ "id": id, "archived": archived });
    assert_eq!(world.call("POST", &uri).json(&body).send().await.status, 200);
}

/// Also not if the lead is unarchived before the trigger would run.
#[tokio::test]
async fn calls_of_archived_leads_write_no_trigger() {
    let (world, wallet) = shop().await;
    archive(&world, &wallet, 1001, true).await;
    for call in [call_for(1001), call("INCOMING", MARIA)] {
        receive(&world, &call).await;
    }
    assert_eq!(outbox(&world).await, 0);
    let linked: Vec<_> = world.calls().await.into_iter().map(|call| call.lead).collect();
    assert_eq!(linked, [Some(lead(1001)); 2]);
    assert_eq!(world.events().await.len(), 2);
    archive(&world, &wallet, 1001, false).await;
    run(&world).await;
    assert_eq!(lead_of(&world, 1001).await.points, 0.into());
    receive(&world, &call_for(1001)).await;
    run(&world).await;
    assert_eq!(lead_of(&world, 1001).await.points, 7.into());
    world.is_sound().await;
}

#[tokio::test]
async fn archiving_after_the_call_does_not_stop_its_trigger() {
    let (world, wallet) = shop().await;
    receive(&world, &call_for(1001)).await;
    archive(&world, &wallet, 1001, true).await;
    run(&world).await;
    let lead = lead_of(&world, 1001).await;
    assert_eq!((lead.points, lead.archived), (7.into(), true));
    assert_eq!(outbox(&world).await, 0);
    world.is_sound().await;
}

/// C-74, C-75: concurrent archiving does not lose, duplicate or unlink calls.
#[tokio::test]
async fn concurrent_archiving_keeps_every_call() {
    let (world, wallet) = shop().await;
    let calls = (0..8).map(async |_| receive(&world.elsewhere(), &call_for(1001)).await);
    let moves = (0..8).map(async |at| archive(&world.elsewhere(), &wallet, 1001, at % 2 == 0).await);
    futures_util::future::join(join_all(calls), join_all(moves)).await;
    let linked: Vec<_> = world.calls().await.into_iter().map(|call| call.lead).collect();
    assert_eq!(linked, [Some(lead(1001)); 8]);
    let raised = outbox(&world).await;
    run(&world).await;
    assert_eq!(lead_of(&world, 1001).await.points, (7 * raised).into());
    world.is_sound().await;
}

/// A transaction of unknown outcome still records one call and no trigger.
#[tokio::test]
async fn unknown_outcomes_write_no_trigger_for_archived_leads() {
    let _sdk = over_sdk();
    for spared in 0..2 {
        for (fault, times) in [
            (Fault::FailedAfter, 1),
            (Fault::FailedAfter, 4),
            (Fault::Conflict, 1),
        ] {
            let (world, wallet) = shop().await;
            archive(&world, &wallet, 1001, true).await;
            let met = std::sync::atomic::AtomicUsize::new(0);
            let world = world.with_faults(std::sync::Arc::new(move |called| {
                let count = || met.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let hit = called == "TransactWriteItems" && (spared..spared + times).contains(&count());
                hit.then_some(fault)
            }));
            receive(&world, &call_for(1001)).await;
            assert_eq!(outbox(&world).await, 0, "{fault:?} {times} behind {spared}");
            assert_eq!(world.calls().await.len(), 1);
            world.is_sound().await;
        }
    }
}
