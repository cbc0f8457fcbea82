//! A process that dies at any call of a deletion or of the later erasure: the next process completes it
//! (C-24), and until then nothing shows the lead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::Fault;
use serde_json::json;
use shared::store::Store;
use tests::world::over_sdk;
use tests::{Wallet, World};

use super::{PERSON, betrayed, erase, exported, is_erased, stage, tend};
use crate::delete_leads_id::delete;
use crate::faults::{Calls, dying};

/// Faults of the last call of a process: the call does not arrive, or its response is lost.
const LAST: [Fault; 2] = [Fault::FailedBefore, Fault::FailedAfter];

/// The person is not in a list, by id, or in an export.
async fn nothing_is_shown(world: &World, wallet: &Wallet) {
    let gone = world.read(wallet, &format!("/leads/{PERSON}?i=acme")).await;
    gone.is(404, &json!({ "error": "Not found" }));
    assert_eq!(betrayed(&exported(world).await), [""; 0]);
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let board = world
        .call("POST", &uri)
        .json(&tests::sales::page(1, 25, &json!({})))
        .send()
        .await;
    let meetings = tests::bookings::meetings(world, wallet, 5).await;
    for text in [board.body.to_string(), meetings.to_string()] {
        assert_eq!(betrayed(&text), [""; 0]);
    }
}

/// The lead is deleted or not, never partly; a repeated request deletes it.
#[tokio::test]
async fn a_crash_in_a_deletion_leaves_no_partial_state() {
    let _sdk = over_sdk();
    let (stage, calls) = (stage().await, Calls::default());
    let wallet = stage.wallet(7).await;
    let healthy = stage.copy().await.with_faults(calls.recorded());
    assert_eq!(delete(&healthy, &wallet, &PERSON.to_string()).await.status, 200);
    assert!(calls.count() > 2, "a deletion is more than one call");
    for last in LAST {
        for lived in calls.lives() {
            let world = stage.copy().await;
            let met = Arc::new(AtomicUsize::new(0));
            let world = world.with_faults(dying(lived, last, &met));
            let answer = delete(&world, &wallet, &PERSON.to_string()).await;
            let world = world.with_faults(Arc::new(|_| None));
            let again = delete(&world, &wallet, &PERSON.to_string()).await;
            if answer.status == 500 {
                answer.is(500, &json!({ "error": "Internal error" }));
                let happened = again.status == 404;
                assert!(happened || again.status == 200, "{lived}: {}", again.body);
                assert!(!happened || last == Fault::FailedAfter, "{lived}");
            } else {
                assert_eq!(
                    (answer.status.as_u16(), again.status.as_u16()),
                    (200, 404),
                    "{lived}"
                );
            }
            world.is_sound().await;
            nothing_is_shown(&world, &wallet).await;
            erase(&world).await;
            is_erased(&world).await;
            assert!(lived < calls.count() || answer.status == 200);
        }
    }
}

/// Every call of the erasure and of the deletion of its marker. The doctor finds no inconsistency at any time
/// (C-84).
#[tokio::test]
async fn a_crash_in_an_erasure_is_completed() {
    let _sdk = over_sdk();
    let (stage, calls) = (stage().await, Calls::default());
    let wallet = stage.wallet(7).await;
    super::delete_person(&stage, &wallet).await;
    let world = stage.copy().await;
    let healthy = world.faulty(calls.recorded());
    let is_completed = async |world: &World, store: &Store, is_over: &dyn Fn() -> bool| {
        let mut died = false;
        for _ in 0..2 {
            died |= maintenance::tend(store).await.is_err();
            if is_over() {
                break;
            }
            world.clock.set(world.clock.get().plus_seconds(60));
        }
        !died
    };
    assert!(is_completed(&world, &healthy, &|| false).await);
    assert!(calls.count() > 20, "an erasure has only {} calls", calls.count());
    for last in LAST {
        for lived in calls.lives() {
            let world = stage.copy().await;
            let met = Arc::new(AtomicUsize::new(0));
            let dead = world.faulty(dying(lived, last, &met));
            let is_over = || met.load(Ordering::Relaxed) > lived;
            let completed = is_completed(&world, &dead, &is_over).await;
            nothing_is_shown(&world, &wallet).await;
            world.is_sound().await;
            tend(&world).await;
            nothing_is_shown(&world, &wallet).await;
            erase(&world).await;
            is_erased(&world).await;
            assert!(completed || lived < calls.count());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_erasures_do_the_work_once() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    super::delete_person(&world, &wallet).await;
    for _ in 0..3 {
        let others: Vec<_> = (0..6).map(|_| world.store.elsewhere()).collect();
        let others = others.iter().map(maintenance::tend);
        for done in futures_util::future::join_all(others).await {
            done.expect("it is tended");
        }
        nothing_is_shown(&world, &wallet).await;
        world.is_sound().await;
        world.clock.set(world.clock.get().plus_seconds(60));
    }
    is_erased(&world).await;
}
