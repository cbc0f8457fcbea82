//! Calendars, meetings and public booking (endpoints 11 to 13) in bad moments of the table: a fault of any kind in any call
//! that they make.
//!
//! A fault that passes is not seen; one that stays is an honest failure that tells nothing. Whoever sends a booking again
//! gets what it should: with an `Idempotency-Key` the meeting that was made, if it was, and never a second one (C-10).

mod corrupt;
mod lost_answers;
mod reads;
mod writes;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use shared::store::fault::{Fault, Plan};
use tests::bookings::open_calendars;
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::world::Answer;
use tests::{ACME, World};

const FAULTS: [Fault; 5] = [
    Fault::Throttled,
    Fault::FailedBefore,
    Fault::FailedAfter,
    Fault::Conflict,
    Fault::Unprocessed,
];

/// Calls by their operation.
type Calls = BTreeMap<String, usize>;

/// `acme` with its calendars, and with opportunity 1 of lead 1001.
async fn furnish(world: &World) {
    let operator = world.operator(ACME);
    open_calendars(&operator).await;
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 7, 0)]).await;
}

async fn office() -> World {
    let world = World::new().await;
    furnish(&world).await;
    world
}

/// No faults; counts the calls.
fn counting() -> (Plan, Arc<Mutex<Calls>>) {
    let calls = Arc::new(Mutex::new(Calls::new()));
    let counted = calls.clone();
    let plan = move |operation: &str| {
        let mut calls = counted.lock().expect("no panic");
        *calls.entry(operation.to_owned()).or_default() += 1;
        None
    };
    (Arc::new(plan), calls)
}

/// A bad moment: the `nth` attempt of an operation, or all attempts from that one on.
#[derive(Debug, Clone)]
struct Moment {
    operation: String,
    nth: usize,
    fault: Fault,
    stays: bool,
}

impl Moment {
    /// Every moment that can go wrong for whoever makes these calls.
    fn all(calls: &Calls) -> Vec<Self> {
        let mut moments = Vec::new();
        for (operation, count) in calls {
            let possible = |fault: &Fault| *fault != Fault::Unprocessed || operation == "BatchGetItem";
            for fault in FAULTS.into_iter().filter(possible) {
                for at in 0..2 * count {
                    let (operation, nth, stays) = (operation.clone(), at / 2 + 1, at % 2 == 1);
                    moments.push(Self {
                        operation,
                        nth,
                        fault,
                        stays,
                    });
                }
            }
        }
        moments
    }

    fn plan(&self) -> Plan {
        let (moment, met) = (self.clone(), AtomicUsize::new(0));
        Arc::new(move |called| {
            if called != moment.operation {
                return None;
            }
            let at = met.fetch_add(1, Ordering::Relaxed) + 1;
            let is_bad = at == moment.nth || moment.stays && at > moment.nth;
            is_bad.then_some(moment.fault)
        })
    }

    /// Whether the request can be answered all the same: the fault passes, or it loses the answer to a write, which is
    /// looked up then.
    fn is_overcome(&self) -> bool {
        !self.stays || self.is_lost_write()
    }

    fn is_lost_write(&self) -> bool {
        self.operation == "TransactWriteItems" && self.fault == Fault::FailedAfter
    }
}

#[track_caller]
fn is_failure(answer: &Answer, what: &dyn std::fmt::Debug) {
    let failed = json!({ "error": "Internal error" });
    assert_eq!((answer.status.as_u16(), &answer.body), (500, &failed), "{what:?}");
}

/// The answer's data, where it was made.
#[track_caller]
fn made(answer: &Answer, what: &dyn std::fmt::Debug) -> Value {
    assert_eq!(
        (answer.status.as_u16(), &answer.body["msg"]),
        (200, &json!("created")),
        "{what:?}: {}",
        answer.body
    );
    answer.body["data"].clone()
}
