//! An unreachable counter: the service continues, and never accepts more than the limit when it can count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::Fault;
use tests::World;
use tests::world::{at, over_sdk};

use super::{beyond, keyed, said, within};
use crate::faults::{SDK_ATTEMPTS, always, first, none};

async fn world(limit: u32) -> World {
    super::world("requests_per_minute", limit).await
}

/// The counter is not tried for five seconds; then requests are counted again.
#[tokio::test]
async fn requests_continue_without_the_counter() {
    let _sdk = over_sdk();
    for fault in [Fault::Throttled, Fault::FailedBefore] {
        let world = world(1).await;
        let wallet = world.wallet(7).await;
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let world = world.with_faults(Arc::new(move |operation| {
            let hit = operation == "UpdateItem";
            counted.fetch_add(usize::from(hit), Ordering::Relaxed);
            hit.then_some(fault)
        }));
        for (time, reset, is_tried) in [
            ("2026-11-21T12:00:00.000Z", 60, true),
            ("2026-11-21T12:00:04.999Z", 56, false),
            ("2026-11-21T12:00:05.000Z", 55, true),
        ] {
            world.clock.set(at(time));
            for is_tried in [is_tried, false, false] {
                asked.store(0, Ordering::Relaxed);
                let answer = keyed(&world, &wallet).send().await;
                assert_eq!(said(&answer), within(200, 1, 1, reset), "{fault:?}");
                assert_eq!(asked.load(Ordering::Relaxed) > 0, is_tried, "{fault:?} {time}");
            }
        }
        let world = world.with_faults(none());
        world.clock.set(at("2026-11-21T12:00:10Z"));
        assert_eq!(said(&keyed(&world, &wallet).send().await), within(200, 1, 0, 50));
        assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(1, 50));
    }
}

#[tokio::test]
async fn a_transient_fault_is_retried() {
    let _sdk = over_sdk();
    for fault in [Fault::Throttled, Fault::FailedBefore, Fault::Conflict] {
        let world = world(2).await;
        let wallet = world.wallet(7).await;
        let world = world.with_faults(first("UpdateItem", fault, 1));
        for expected in [within(200, 2, 1, 60), within(200, 2, 0, 60), beyond(2, 60)] {
            assert_eq!(said(&keyed(&world, &wallet).send().await), expected, "{fault:?}");
        }
    }
}

/// A block with a lost response is not used in this minute, so the limit is not exceeded.
#[tokio::test]
async fn a_block_with_a_lost_response_is_not_used() {
    let _sdk = over_sdk();
    let world = world(3).await;
    let wallet = world.wallet(7).await;
    let world = world.with_faults(first("UpdateItem", Fault::FailedAfter, 1));
    for expected in [within(200, 3, 1, 60), within(200, 3, 0, 60), beyond(3, 60)] {
        assert_eq!(said(&keyed(&world, &wallet).send().await), expected);
    }
    let world = world.with_faults(first("UpdateItem", Fault::FailedAfter, SDK_ATTEMPTS));
    world.clock.set(at("2026-11-21T12:01:00Z"));
    assert_eq!(said(&keyed(&world, &wallet).send().await), within(200, 3, 3, 60));
    world.clock.set(at("2026-11-21T12:01:05Z"));
    assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(3, 55));
}

#[tokio::test]
async fn an_exhausted_limit_stays_exhausted_without_the_counter() {
    let _sdk = over_sdk();
    let world = world(1).await;
    let wallet = world.wallet(7).await;
    keyed(&world, &wallet).send().await;
    let there = world
        .elsewhere()
        .with_faults(always("UpdateItem", Fault::FailedBefore));
    let world = world.with_faults(always("UpdateItem", Fault::FailedBefore));
    assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(1, 60));
    assert_eq!(said(&keyed(&there, &wallet).send().await), within(200, 1, 1, 60));
}
