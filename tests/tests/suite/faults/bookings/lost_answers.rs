//! Bookings of unknown outcome, and combinations of faults.

use dynamodb::faults::{Fault, FaultPlan};
use futures_util::future::join_all;
use serde_json::json;
use tests::bookings::{FREE, book, booking};
use tests::world::{at, over_sdk};

use super::{made, office};
use crate::concurrency::bookings::moves::moving;
use crate::concurrency::bookings::{meetings, visitors, with_key};
use crate::faults::{SDK_ATTEMPTS, always, either, failure, first};

const WRITE: &str = "TransactWriteItems";

/// The response was lost, and the next attempt conflicts with its own write: it is recognised and done once.
#[tokio::test]
async fn a_booking_recognises_its_own_write() {
    let _sdk = over_sdk();
    for times in 1..SDK_ATTEMPTS {
        let plan = || -> FaultPlan {
            either(
                first(WRITE, Fault::FailedAfter, times),
                first(WRITE, Fault::Conflict, 1),
            )
        };
        let world = office().await.with_faults(plan());
        let data = made(&book(&world, &booking(FREE[0], &json!({}))).await, &times);
        // The first booking creates the secret, the second one reads it.
        let world = world.with_faults(plan());
        made(&book(&world, &booking(FREE[1], &json!({}))).await, &times);
        let world = world.with_faults(plan());
        let moved = made(&book(&world, &moving(&data, FREE[3])).await, &times);
        let there = meetings(&world).await;
        assert_eq!(moved, with_key(&there[0], &data), "its key is the same");
        assert_eq!((there.len(), visitors(&world).await.len()), (2, 2));
        let again = book(&world.beside(), &moving(&moved, FREE[2])).await;
        assert_eq!(again.status, 200, "the key moves it");
        world.is_sound().await;
    }
}

/// A request whose ids were taken twice reserves ids with separate writes. A fault in those writes is invisible; if
/// it persists, every response that was sent still holds.
#[tokio::test]
async fn reserving_ids_survives_faults() {
    let _sdk = over_sdk();
    let by_eight = async |plan: FaultPlan, fault: Fault| {
        let world = office().await.with_faults(plan);
        let calls = (0..8).map(async |week: u32| {
            let date = at(FREE[0]).plus_days(7 * week).to_string();
            let answer = book(&world, &booking(&date, &json!({}))).await;
            if answer.status != 200 {
                let (status, text) = failure(fault);
                answer.is(status, &json!({ "error": text }));
            }
            usize::from(answer.status == 200)
        });
        let booked: usize = join_all(calls).await.into_iter().sum();
        assert_eq!(
            (meetings(&world).await.len(), visitors(&world).await.len()),
            (booked, booked)
        );
        world.is_sound().await;
        booked
    };
    for fault in [
        Fault::Throttled,
        Fault::FailedBefore,
        Fault::FailedAfter,
        Fault::Conflict,
    ] {
        assert_eq!(
            by_eight(first("UpdateItem", fault, 3), fault).await,
            8,
            "{fault:?}"
        );
        let booked = by_eight(always("UpdateItem", fault), fault).await;
        assert!((1..=8).contains(&booked), "{fault:?}: {booked}");
    }
}
