//! A process that dies at any call of a deletion or of the later erasure: the next process completes it
//! (C-24), and until then nothing shows the lead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use shared::store::testing::faults::{Fault, FaultPlan};
use tests::{Wallet, World};

use super::{PERSON, betrayed, erase, exported, is_erased, stage, tend};
use crate::delete_leads_id::delete;

/// The process dies at its `nth` call, so later calls do not arrive. If that call is executed, its response
/// is lost. Calls are counted.
fn dying(nth: usize, carried_out: bool, count: &Arc<AtomicUsize>) -> FaultPlan {
    let count = count.clone();
    Arc::new(move |operation| {
        let call = count.fetch_add(1, Ordering::Relaxed) + 1;
        if call < nth {
            return None;
        }
        // The SDK's retries fail too.
        let happens = carried_out && call == nth && operation != "Query";
        Some(if happens {
            Fault::FailedAfter
        } else {
            Fault::FailedBefore
        })
    })
}

/// The person is not in a list, by id, or in an export.
async fn nothing_is_shown(world: &World, wallet: &Wallet) {
    let gone = world
        .get(&format!("/leads/{PERSON}?i=acme"))
        .with(wallet)
        .send()
        .await;
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
    for carried_out in [false, true] {
        for nth in 1.. {
            let world = stage().await;
            let wallet = world.wallet(7).await;
            let calls = Arc::new(AtomicUsize::new(0));
            let world = world.with_faults(dying(nth, carried_out, &calls));
            let answer = delete(&world, &wallet, &PERSON.to_string()).await;
            let world = world.with_faults(Arc::new(|_| None));
            let again = delete(&world, &wallet, &PERSON.to_string()).await;
            if answer.status == 500 {
                answer.is(500, &json!({ "error": "Internal error" }));
                let happened = again.status == 404;
                assert!(happened || again.status == 200, "{nth}: {}", again.body);
                assert!(!happened || carried_out, "{nth}");
            } else {
                assert_eq!(
                    (answer.status.as_u16(), again.status.as_u16()),
                    (200, 404),
                    "{nth}"
                );
            }
            world.is_sound().await;
            nothing_is_shown(&world, &wallet).await;
            erase(&world).await;
            is_erased(&world).await;
            if calls.load(Ordering::Relaxed) < nth {
                assert!(nth > 2, "a deletion is more than one call");
                break;
            }
        }
    }
}

/// Every call of the erasure and of the deletion of its marker. The doctor finds no inconsistency at any time
/// (C-84).
#[tokio::test]
async fn a_crash_in_an_erasure_is_completed() {
    for carried_out in [false, true] {
        for nth in 1.. {
            let world = stage().await;
            let wallet = world.wallet(7).await;
            super::delete_person(&world, &wallet).await;
            let calls = Arc::new(AtomicUsize::new(0));
            let dead = world.store.clone().with_faults(dying(nth, carried_out, &calls));
            let mut died = false;
            for _ in 0..2 {
                died |= maintenance::tend(&dead).await.is_err();
                if calls.load(Ordering::Relaxed) >= nth {
                    break;
                }
                world.clock.set(world.clock.get().plus_seconds(60));
            }
            nothing_is_shown(&world, &wallet).await;
            world.is_sound().await;
            tend(&world).await;
            nothing_is_shown(&world, &wallet).await;
            erase(&world).await;
            is_erased(&world).await;
            if calls.load(Ordering::Relaxed) < nth {
                assert!(!died && nth > 20, "an erasure has only {nth} calls");
                break;
            }
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
