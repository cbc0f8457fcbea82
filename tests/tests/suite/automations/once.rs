//! Each action happens exactly once, despite redeliveries and crashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::Fault;
use futures_util::future::join_all;
use serde_json::json;
use shared::ids::CallId;
use shared::store::Store;
use tests::people::user;
use tests::world::over_sdk;
use tests::{ACME, World};

use super::{MARIA, automation, call, lead_of, opportunities, outbox, receive, world};
use crate::faults::{Calls, dying};

async fn two_automations() -> World {
    let first = json!([
        { "type": "addPoints", "points": 5 },
        { "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligou" },
    ]);
    let second = json!([{ "type": "setOwner", "user": 9 }, { "type": "addPoints", "points": 1 }]);
    world(&[automation(1, true, &first), automation(2, true, &second)]).await
}

async fn run_one(store: &Store, world: &World, call: u64) -> bool {
    let (acme, call) = (
        world.operator(ACME).instance().clone(),
        CallId::new(call).expect("an id"),
    );
    store.run_trigger(&acme, call).await.is_ok()
}

/// Requires the results of this number of the lead's calls.
async fn is_done(world: &World, calls: usize, case: &str) {
    let lead = lead_of(world, 1001).await;
    assert_eq!(lead.points, (6 * calls).into(), "{case}");
    assert_eq!(lead.owner, Some(user(9)), "{case}");
    assert_eq!(opportunities(world).await.len(), calls, "{case}");
    assert_eq!(outbox(world).await, 0, "{case}");
    world.is_sound().await;
}

#[tokio::test]
async fn redelivered_records_do_nothing() {
    let world = two_automations().await;
    receive(&world, &call("INCOMING", MARIA)).await;
    for _ in 0..3 {
        assert!(run_one(&world.store, &world, 1).await);
    }
    is_done(&world, 1, "repeated").await;
}

#[tokio::test]
async fn twenty_processes_do_the_work_once() {
    let world = two_automations().await;
    receive(&world, &call("INCOMING", MARIA)).await;
    let others: Vec<_> = (0..20).map(|_| world.store.elsewhere()).collect();
    let runs = others.iter().map(|store| run_one(store, &world, 1));
    assert!(join_all(runs).await.into_iter().all(|done| done));
    is_done(&world, 1, "twenty processes").await;
}

#[tokio::test]
async fn concurrent_calls_of_one_lead_all_count() {
    let world = two_automations().await;
    for _ in 0..6 {
        receive(&world, &call("INCOMING", MARIA)).await;
    }
    let others: Vec<_> = (0..12).map(|_| world.store.elsewhere()).collect();
    let runs = others
        .iter()
        .zip((1..=6).cycle())
        .map(|(store, call)| run_one(store, &world, call));
    join_all(runs).await;
    super::run(&world).await;
    is_done(&world, 6, "six calls").await;
}

#[tokio::test]
async fn actions_happen_once_despite_a_crash_at_any_call() {
    let _sdk = over_sdk();
    let stage = two_automations().await;
    receive(&stage, &call("INCOMING", MARIA)).await;
    let (world, calls) = (stage.copy().await, Calls::default());
    let healthy = world.faulty(calls.recorded());
    assert!(run_one(&healthy, &world, 1).await);
    assert!(calls.count() > 10);
    for last in [Fault::FailedBefore, Fault::FailedAfter, Fault::Throttled] {
        for lived in calls.lives() {
            let world = stage.copy().await;
            let met = Arc::new(AtomicUsize::new(0));
            let mortal = world.faulty(dying(lived, last, &met));
            let survived = run_one(&mortal, &world, 1).await;
            assert!(run_one(&world.store, &world, 1).await);
            is_done(&world, 1, &format!("{last:?} after {lived}")).await;
            assert_eq!(survived, met.load(Ordering::Relaxed) <= lived);
            assert_eq!(survived, lived == calls.count());
        }
    }
}

#[tokio::test]
async fn a_transient_fault_is_retried() {
    let _sdk = over_sdk();
    for fault in [Fault::Conflict, Fault::Throttled, Fault::FailedAfter] {
        for operation in ["BatchGetItem", "GetItem", "Query", "TransactWriteItems"] {
            let world = two_automations().await;
            receive(&world, &call("INCOMING", MARIA)).await;
            let store = world.faulty(crate::faults::first(operation, fault, 1));
            assert!(run_one(&store, &world, 1).await, "{operation} {fault:?}");
            is_done(&world, 1, operation).await;
        }
    }
}

/// C-75, C-76: a call with a write of unknown outcome writes its trigger once, and only with its lead.
#[tokio::test]
async fn a_call_and_its_trigger_are_written_together() {
    let _sdk = over_sdk();
    for (fault, times, raised) in [
        (Fault::FailedAfter, 1, 1),
        (Fault::FailedAfter, 4, 1),
        (Fault::FailedBefore, 1, 1),
        (Fault::FailedBefore, 4, 0),
    ] {
        let world = two_automations().await;
        let world = world.with_faults(crate::faults::first("TransactWriteItems", fault, times));
        receive(&world, &call("INCOMING", MARIA)).await;
        assert_eq!(outbox(&world).await, raised, "{fault:?} {times}");
        assert_eq!(world.calls().await.len(), 1);
    }
}
