//! Bad moments of the table: the answer is right or an honest error, nothing is lost or done twice, nothing internal
//! reaches a caller.

mod bookings;
mod calls;
pub mod held;
mod jobs;
mod lost_answers;
mod matrix;
mod opportunities;
mod ticket_races;
mod tickets;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shared::store::fault::{Fault, Plan};

/// A call is attempted so often before the SDK gives up.
pub const SDK_ATTEMPTS: usize = 4;

/// The first `times` attempts of `operation` meet a fault.
pub fn first(operation: &'static str, fault: Fault, times: usize) -> Plan {
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        let hit = called == operation && met.fetch_add(1, Ordering::Relaxed) < times;
        hit.then_some(fault)
    })
}

/// Every attempt of `operation` meets a fault.
pub fn always(operation: &'static str, fault: Fault) -> Plan {
    first(operation, fault, usize::MAX)
}

/// Every attempt of `operation` but the first `spared` meets a fault.
pub fn behind(operation: &'static str, fault: Fault, spared: usize) -> Plan {
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        let hit = called == operation && met.fetch_add(1, Ordering::Relaxed) >= spared;
        hit.then_some(fault)
    })
}

/// Those of the plans together: the first that has a fault for an attempt.
pub fn either(one: Plan, other: Plan) -> Plan {
    Arc::new(move |called| one(called).or_else(|| other(called)))
}

/// No faults.
pub fn none() -> Plan {
    Arc::new(|_| None)
}
