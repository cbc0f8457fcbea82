//! Cost of a request: DynamoDB calls, sequential round trips and consumed units.
//!
//! The HTTP middleware runs every request with a [`Meter`]. The engine adds each call to the current meter.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use crate::key::Key;

/// One call to DynamoDB.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCall {
    /// The API operation, such as `BatchGetItem`.
    pub operation: &'static str,
    /// Read capacity units consumed.
    pub read_units: f64,
    /// Write capacity units consumed.
    pub write_units: f64,
}

/// The cost of a piece of work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// Calls in order of completion.
    pub calls: Vec<TableCall>,
    /// Sequential round trips: the longest chain of calls that each began after the previous one ended.
    pub round_trips: u32,
    /// Items omitted from lists because they cannot be read (`readable`).
    pub unreadable: BTreeSet<Key>,
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

/// Counts the calls of one piece of work.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<MeterState>>);

#[derive(Debug, Default)]
struct MeterState {
    cost: Cost,
    /// Length of the longest chain of completed calls.
    completed_chain: u32,
}

tokio::task_local! {
    static CURRENT: Meter;
}

impl Meter {
    /// Runs `work` and counts its calls.
    pub async fn measure<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }

    /// The cost so far.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.lock().cost.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, MeterState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in progress. [`ended`](CallInProgress::ended) counts it.
#[derive(Debug)]
pub struct CallInProgress {
    /// Length of the longest chain of calls that ends with this one; 0 without a meter.
    chain_length: u32,
}

/// Registers the start of an engine's call. In the chain, it follows every completed call.
#[must_use]
pub fn begin() -> CallInProgress {
    let chain_length = CURRENT.try_with(|meter| meter.lock().completed_chain + 1);
    CallInProgress {
        chain_length: chain_length.unwrap_or(0),
    }
}

impl CallInProgress {
    /// Counts the call.
    pub fn ended(self, call: TableCall) {
        // Work outside a request, such as operators' commands, has no meter.
        let _ = CURRENT.try_with(|meter| {
            let mut state = meter.lock();
            state.completed_chain = state.completed_chain.max(self.chain_length);
            state.cost.round_trips = state.completed_chain;
            state.cost.calls.push(call);
        });
    }
}

/// Counts an unreadable item of a list once, even if it is read several times.
pub(crate) fn omitted(key: Key) {
    let _ = CURRENT.try_with(|meter| meter.lock().cost.unreadable.insert(key));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(read_units: f64) -> TableCall {
        TableCall {
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
