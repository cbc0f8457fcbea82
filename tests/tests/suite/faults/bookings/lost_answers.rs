//! Bookings of whose outcome nobody knows, and several things that go wrong together.

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::store::fault::{Fault, Plan};
use tests::World;
use tests::bookings::{FREE, book, booking};
use tests::world::{Answer, at};

use super::{is_failure, made, office};
use crate::concurrency::bookings::moves::moving;
use crate::concurrency::bookings::{meetings, visitors, with_key};
use crate::faults::{SDK_ATTEMPTS, always, either, first, none};

const WRITE: &str = "TransactWriteItems";

async fn keyed(world: &World, body: &Value) -> Answer {
    let call = world.call("POST", "/calendarmeeting?i=acme");
    call.header("idempotency-key", "k").json(body).send().await
}

/// Nobody heard, and the next attempt met a conflict: what stands in its way is its own work. It is answered as what it is,
/// and done once.
#[tokio::test]
async fn in_its_own_way() {
    for times in 1..SDK_ATTEMPTS {
        let plan = || -> Plan {
            either(
                first(WRITE, Fault::FailedAfter, times),
                first(WRITE, Fault::Conflict, 1),
            )
        };
        let world = office().await.with_faults(plan());
        let data = made(&book(&world, &booking(FREE[0], &json!({}))).await, &times);
        // The first one makes the secret, the second one finds it.
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

/// Nobody heard, and it cannot be looked up either: an honest failure. With a key the same request finds what it made; a
/// move can simply be sent again; without a key a booking finds its time taken.
#[tokio::test]
async fn not_to_be_found() {
    let nothing_heard = || either(always(WRITE, Fault::FailedAfter), second_get());
    for (is_keyed, status) in [(true, 200), (false, 409)] {
        let body = booking(FREE[0], &json!({}));
        let send = async |world: &World| {
            if is_keyed {
                keyed(world, &body).await
            } else {
                book(world, &body).await
            }
        };
        let world = office().await.with_faults(nothing_heard());
        is_failure(&send(&world).await, &is_keyed);
        let world = world.with_faults(none());
        let again = send(&world).await;
        assert_eq!(again.status, status, "{}", again.body);
        assert_eq!(again.headers.contains_key("idempotent-replayed"), is_keyed);
        assert_eq!(
            (meetings(&world).await.len(), visitors(&world).await.len()),
            (1, 1)
        );
        world.is_sound().await;
    }
    let world = office().await;
    let data = made(&book(&world, &booking(FREE[0], &json!({}))).await, &"arranged");
    let world = world.with_faults(nothing_heard());
    is_failure(&book(&world, &moving(&data, FREE[2])).await, &"moved");
    let world = world.with_faults(none());
    made(&book(&world, &moving(&data, FREE[2])).await, &"moved again");
    let there = meetings(&world).await;
    assert_eq!((there.len(), there[0].date), (1, at(FREE[2])));
    made(
        &book(&world, &booking(FREE[0], &json!({}))).await,
        &"its time is free",
    );
    world.is_sound().await;
}

/// The directory is got first; what is got behind it fails.
fn second_get() -> Plan {
    let moment = super::Moment {
        operation: "GetItem".to_owned(),
        nth: 2,
        fault: Fault::FailedBefore,
        stays: true,
    };
    moment.plan()
}

/// What fails before anything is done is done when it is sent again, once (C-10).
#[tokio::test]
async fn refused_and_sent_again() {
    for fault in [Fault::Throttled, Fault::FailedBefore, Fault::Conflict] {
        let body = booking(FREE[0], &json!({}));
        let world = office().await.with_faults(always(WRITE, fault));
        is_failure(&keyed(&world, &body).await, &fault);
        assert!(meetings(&world).await.is_empty() && visitors(&world).await.is_empty());
        let world = world.with_faults(none());
        for replayed in [false, true] {
            let answer = keyed(&world, &body).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body["data"]["id"]),
                (200, &json!(1))
            );
            assert_eq!(answer.headers.contains_key("idempotent-replayed"), replayed);
        }
        assert_eq!(meetings(&world).await.len(), 1);
        world.is_sound().await;
    }
}

/// Whoever finds its numbers taken twice takes them by writes of their own. A fault that passes there is not seen; where it
/// stays, whoever was answered has what was answered.
#[tokio::test]
async fn numbers_taken_meanwhile() {
    let by_eight = async |plan: Plan| {
        let world = office().await.with_faults(plan);
        let calls = (0..8).map(async |week: u32| {
            let date = at(FREE[0]).plus_days(7 * week).to_string();
            let answer = book(&world, &booking(&date, &json!({}))).await;
            if answer.status != 200 {
                is_failure(&answer, &week);
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
        assert_eq!(by_eight(first("UpdateItem", fault, 3)).await, 8, "{fault:?}");
        let booked = by_eight(always("UpdateItem", fault)).await;
        assert!((1..=8).contains(&booked), "{fault:?}: {booked}");
    }
}
