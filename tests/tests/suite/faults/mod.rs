//! Faults of the table: the response is correct or an internal error, nothing is lost or done twice, nothing
//! internal reaches a caller.

mod bookings;
mod calls;
pub mod held;
mod jobs;
mod lost_answers;
mod matrix;
mod ticket_races;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shared::store::testing::faults::{Fault, FaultPlan};

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
        Fault::Conflict => (503, "Service unavailable"),
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
