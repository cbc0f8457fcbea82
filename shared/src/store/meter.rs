//! What a request costs: its DynamoDB calls, how many of them waited for another, and the units they consumed.
//!
//! The edge puts a [`Meter`] around every request; the table adds each call to the one it finds around itself.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// One call to DynamoDB.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The API operation, such as `BatchGetItem`.
    pub operation: &'static str,
    /// Read capacity units consumed.
    pub read_units: f64,
    /// Write capacity units consumed.
    pub write_units: f64,
}

/// What a piece of work has cost so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// The calls in the order they were answered.
    pub calls: Vec<Call>,
    /// Sequential round trips: the longest chain of calls each of which began after another had ended.
    pub round_trips: u32,
}

impl Cost {
    /// Read capacity units of all calls.
    #[must_use]
    pub fn read_units(&self) -> f64 {
        self.calls.iter().fold(0.0, |sum, call| sum + call.read_units)
    }

    /// Write capacity units of all calls.
    #[must_use]
    pub fn write_units(&self) -> f64 {
        self.calls.iter().fold(0.0, |sum, call| sum + call.write_units)
    }
}

/// What work that no request set off came to, for its line in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deeds {
    /// Leads whose copies were written.
    pub copies: u64,
    /// Deleted leads of which something was left when it began.
    pub erasures: u64,
    /// For how many seconds the oldest of them has been deleted.
    pub oldest_erasure_seconds: u64,
    /// Reports that were refreshed.
    pub reports: u64,
    /// Triggers and notifications that were in an outbox when it began.
    pub outbox: u64,
    /// Triggers that are at their end.
    pub triggers: u64,
    /// Actions that could not be done and were left out.
    pub actions_left_out: u64,
    /// Notifications that were delivered, or had nothing to say any more.
    pub notifications: u64,
    /// Notifications that will be tried again.
    pub notifications_put_off: u64,
    /// Notifications that were tried for the last time, in vain.
    pub notifications_given_up: u64,
}

/// Counts the calls of one piece of work, and what it came to.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    cost: Cost,
    deeds: Deeds,
    /// The length of the longest chain of calls that have been answered.
    answered: u32,
}

tokio::task_local! {
    static CURRENT: Meter;
}

impl Meter {
    /// Runs `work` with this meter counting its calls.
    pub async fn measure<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }

    /// The cost so far.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.lock().cost.clone()
    }

    /// What it came to so far.
    #[must_use]
    pub fn deeds(&self) -> Deeds {
        self.lock().deeds
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes what the work that runs came to.
pub(super) fn note(change: impl FnOnce(&mut Deeds)) {
    // Work without a meter has nobody who asks.
    let _ = CURRENT.try_with(|meter| change(&mut meter.lock().deeds));
}

/// A call that has begun; [`ended`](Begun::ended) counts it.
pub(super) struct Begun {
    place: u32,
}

/// Notes that a call begins: its place in the chain is behind everything that has been answered.
pub(super) fn begin() -> Begun {
    let place = CURRENT.try_with(|meter| meter.lock().answered + 1);
    Begun {
        place: place.unwrap_or(0),
    }
}

impl Begun {
    pub(super) fn ended(self, call: Call) {
        // Work outside a request, such as the operator's commands, has no meter and is not counted.
        let _ = CURRENT.try_with(|meter| {
            let mut state = meter.lock();
            state.answered = state.answered.max(self.place);
            state.cost.round_trips = state.answered;
            state.cost.calls.push(call);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(read_units: f64) -> Call {
        Call {
            operation: "GetItem",
            read_units,
            write_units: 0.0,
        }
    }

    #[tokio::test]
    async fn parallel_calls_are_one_round_trip() {
        let meter = Meter::default();
        let work = async {
            let (first, second) = (begin(), begin());
            first.ended(call(1.0));
            second.ended(call(0.5));
            begin().ended(call(2.0));
        };
        meter.measure(work).await;
        let cost = meter.cost();
        assert_eq!((cost.calls.len(), cost.round_trips), (3, 2));
        assert!((cost.read_units() - 3.5).abs() < f64::EPSILON);
    }

    #[tokio::test]
    async fn work_without_a_meter_goes_uncounted() {
        begin().ended(call(1.0));
    }
}
