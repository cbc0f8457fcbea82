//! Faults of the table: the response is correct or an internal error, nothing is lost or done twice, nothing
//! internal reaches a caller.

mod bookings;
mod calls;
pub mod held;
mod jobs;
mod lost_answers;
mod matrix;
mod ticket_races;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dynamodb::faults::{Fault, FaultPlan};

use crate::model::tries_every_case;

/// Attempts of the SDK at one call.
pub const SDK_ATTEMPTS: usize = 4;

/// The first `times` attempts of `operation` get a fault.
pub fn first(operation: &'static str, fault: Fault, times: usize) -> FaultPlan {
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        let hit = called == operation && met.fetch_add(1, Ordering::Relaxed) < times;
        hit.then_some(fault)
    })
}

/// Every attempt of `operation` gets a fault.
pub fn always(operation: &'static str, fault: Fault) -> FaultPlan {
    first(operation, fault, usize::MAX)
}

/// Status and text of a write with a fault that persists.
pub fn failure(fault: Fault) -> (u16, &'static str) {
    match fault {
        Fault::Conflict | Fault::Throttled => (503, "Service unavailable"),
        _ => (500, "Internal error"),
    }
}

/// Every attempt of `operation` except the first `spared` gets a fault.
pub fn behind(operation: &'static str, fault: Fault, spared: usize) -> FaultPlan {
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        let hit = called == operation && met.fetch_add(1, Ordering::Relaxed) >= spared;
        hit.then_some(fault)
    })
}

/// The faults of both plans, the first plan taking precedence.
pub fn either(one: FaultPlan, other: FaultPlan) -> FaultPlan {
    Arc::new(move |called| one(called).or_else(|| other(called)))
}

pub fn none() -> FaultPlan {
    Arc::new(|_| None)
}

/// The process dies: the first `lived` attempts succeed, the next one gets `last`, and later ones do not arrive.
pub fn dying(lived: usize, last: Fault, met: &Arc<AtomicUsize>) -> FaultPlan {
    let met = Arc::clone(met);
    Arc::new(move |_| match met.fetch_add(1, Ordering::Relaxed) {
        at if at < lived => None,
        at if at == lived => Some(last),
        _ => Some(Fault::FailedBefore),
    })
}

/// The operations of a process without faults.
#[derive(Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    pub fn recorded(&self) -> FaultPlan {
        let calls = self.clone();
        Arc::new(move |operation| {
            calls.0.lock().expect("no panic").push(operation.to_owned());
            None
        })
    }

    pub fn count(&self) -> usize {
        self.0.lock().expect("no panic").len()
    }

    /// The numbers of calls after which a process dies. Reads leave the table unchanged, so the ordinary run lets it die
    /// at each write and each sixth read, `EVERY_CASE=1` at each call. With the last number it survives all calls.
    pub fn lives(&self) -> Vec<usize> {
        let calls = self.0.lock().expect("no panic");
        let reads = ["BatchGetItem", "GetItem", "Query", "Scan"];
        let is_tried = |at: &usize| {
            let writes = calls.get(*at).is_none_or(|call| !reads.contains(&call.as_str()));
            writes || at.is_multiple_of(6) || tries_every_case()
        };
        (0..=calls.len()).filter(is_tried).collect()
    }
}
