//! A model of DynamoDB's limits between the service and the emulator, in simulated time: tokio's paused clock,
//! which advances when all tasks wait.
//!
//! - A call takes a fixed time. A write is executed at the end of it, a read at its start.
//! - Transactions that share an item conflict while they overlap, also by conditions alone: the later one is cancelled.
//!   A write of an item that a transaction is writing conflicts with it. Plain reads never conflict.
//! - A partition admits 1,000 write and 3,000 read units in any second ([`partition`]); more are throttled. A get and a
//!   write count at their item, a query at its first item. A transaction costs twice the units.
//! - Rejected calls cost nothing and last as long as a plain call.
//!
//! Not modelled: the network, units of writes with a failed condition, the limits of the account, several partition keys
//! in one partition. The service makes no `TransactGetItems`.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a model that meets what it does not know must stop, and say where"
)]

mod call;
mod partition;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dynamodb::{Api, Emulator};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::world::TABLE;
use call::{Address, Touch};
use partition::{Collection, Kind};

/// The most items of a transaction.
const MAX_WRITES: usize = 100;

/// Durations of calls.
#[derive(Debug, Clone, Copy)]
pub struct Latency {
    /// Of a read or a write of one item.
    pub call: Duration,
    /// Of a transaction.
    pub transaction: Duration,
}

/// Why a call was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// A transaction is writing the item.
    Conflict,
    /// The partition has no write units left.
    Writes,
    /// The partition has no read units left.
    Reads,
}

/// Rejected calls by the kind of item that stopped them; see [`Limits::stops`].
pub type Stops = BTreeMap<(String, Stop), u64>;

/// An emulator with limits.
pub struct Limits {
    engine: Emulator,
    latency: Latency,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Items of transactions in progress.
    held: HashSet<Address>,
    collections: HashMap<String, Collection>,
    stops: Stops,
}

type Response = (u16, String);

impl Limits {
    /// Limits of an emulator.
    #[must_use]
    pub fn new(engine: Emulator, latency: Latency) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self {
            engine,
            latency,
            state,
        })
    }

    /// Notes the items of the table, whose partitions can be split.
    pub fn note_items(&self) {
        let mut request = json!({ "TableName": TABLE, "ProjectionExpression": "pk, sk", "Limit": 1_000 });
        loop {
            let (_, page) = self.engine.answer("Scan", request.to_string().as_bytes());
            let page: Value = serde_json::from_str(&page).expect("a response is JSON");
            let mut state = self.state();
            for item in page["Items"].as_array().expect("items") {
                let Address { partition, sort } = Address::of(item);
                state
                    .collections
                    .entry(partition)
                    .or_default()
                    .add_old(&sort, now());
            }
            match page.get("LastEvaluatedKey") {
                Some(last) => request["ExclusiveStartKey"] = last.clone(),
                None => break,
            }
        }
    }

    /// Rejected calls since the last `stops`.
    #[must_use]
    pub fn stops(&self) -> Stops {
        std::mem::take(&mut self.state().stops)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn transact(&self, body: &[u8]) -> Response {
        let touched = call::transaction(body);
        if touched.len() > MAX_WRITES {
            return call::too_long();
        }
        let stops = self.state().begin(&touched);
        if stops.iter().any(Option::is_some) {
            sleep(self.latency.call).await;
            return call::cancelled(&stops);
        }
        let held = Held {
            limits: self,
            touched: &touched,
        };
        sleep(self.latency.transaction).await;
        let response = self.engine.answer("TransactWriteItems", body);
        self.state().charge_rest(&touched, call::billed(&response));
        drop(held);
        response
    }

    async fn write(&self, operation: &str, body: &[u8]) -> Response {
        let touch = call::write(body);
        let stop = self.state().stop_of(&touch, Kind::Write);
        sleep(self.latency.call).await;
        if let Some(stop) = stop {
            return call::rejected(stop);
        }
        let response = self.engine.answer(operation, body);
        self.state().charge_rest(&[touch], call::billed(&response));
        response
    }

    async fn read(&self, operation: &str, body: &[u8]) -> Response {
        let response = self.engine.answer(operation, body);
        let touch = call::read(body, &response);
        let stop = self.state().stop_of(&touch, Kind::Read);
        sleep(self.latency.call).await;
        stop.map_or(response, call::rejected)
    }

    async fn batch(&self, operation: &str, body: &[u8]) -> Response {
        let response = self.engine.answer(operation, body);
        let mut answer: Value = serde_json::from_str(&response.1).expect("a response is JSON");
        let (mut stopped, mut read) = (None, false);
        for (key, touch) in call::batch(body, &answer) {
            match self.state().stop_of(&touch, Kind::Read) {
                None => read = true,
                Some(stop) => {
                    stopped = Some(stop);
                    call::leave(&mut answer, &key);
                }
            }
        }
        sleep(self.latency.call).await;
        match stopped {
            None => response,
            Some(_) if read => (response.0, answer.to_string()),
            Some(stop) => call::rejected(stop),
        }
    }
}

impl State {
    /// Begins a transaction, or returns why not, for each item.
    fn begin(&mut self, touched: &[Touch]) -> Vec<Option<Stop>> {
        let held = touched.iter().map(|touch| self.held.contains(&touch.at));
        let mut stops: Vec<_> = held.map(|held| held.then_some(Stop::Conflict)).collect();
        if stops.iter().all(Option::is_none) {
            stops = touched
                .iter()
                .map(|touch| self.throttle(touch, Kind::Write))
                .collect();
        }
        for (touch, stop) in touched.iter().zip(&stops) {
            if let Some(stop) = stop {
                self.note(&touch.at, *stop);
            }
        }
        if stops.iter().all(Option::is_none) {
            for touch in touched {
                self.charge(touch, Kind::Write, touch.units);
                self.held.insert(touch.at.clone());
            }
        }
        stops
    }

    /// Charges one item, or returns why not.
    fn stop_of(&mut self, touch: &Touch, kind: Kind) -> Option<Stop> {
        let conflicts = kind == Kind::Write && self.held.contains(&touch.at);
        let stop = if conflicts {
            Some(Stop::Conflict)
        } else {
            self.throttle(touch, kind)
        };
        match stop {
            Some(stop) => self.note(&touch.at, stop),
            None => self.charge(touch, kind, touch.units),
        }
        stop
    }

    fn throttle(&mut self, touch: &Touch, kind: Kind) -> Option<Stop> {
        let collection = self.collections.get_mut(&touch.at.partition)?;
        let admits = collection.admits(&touch.at.sort, kind, touch.units, now());
        let stop = match kind {
            Kind::Write => Stop::Writes,
            Kind::Read => Stop::Reads,
        };
        (!admits).then_some(stop)
    }

    fn charge(&mut self, touch: &Touch, kind: Kind, units: f64) {
        let collection = self.collections.entry(touch.at.partition.clone()).or_default();
        collection.charge(&touch.at.sort, kind, units, now());
    }

    /// Charges the units beyond those charged at the begin, which the request does not show, in equal parts to the items whose
    /// size it does not contain.
    fn charge_rest(&mut self, touched: &[Touch], billed: f64) {
        let rest = billed - touched.iter().map(|touch| touch.units).sum::<f64>();
        let unknown: Vec<_> = touched.iter().filter(|touch| !touch.is_whole).collect();
        if rest > 0.0 {
            let parts = f64::from(u32::try_from(unknown.len()).expect("a transaction is short"));
            for touch in unknown {
                self.charge(touch, Kind::Write, rest / parts);
            }
        }
    }

    fn note(&mut self, at: &Address, stop: Stop) {
        *self.stops.entry((at.kind(), stop)).or_default() += 1;
    }
}

/// A transaction in progress. Ends on drop, also if its caller has given up.
struct Held<'t> {
    limits: &'t Limits,
    touched: &'t [Touch],
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.limits.state();
        for touch in self.touched {
            state.held.remove(&touch.at);
        }
    }
}

impl Api for Limits {
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, Response> {
        async move {
            match operation.as_str() {
                "TransactWriteItems" => self.transact(&body).await,
                "PutItem" | "UpdateItem" | "DeleteItem" => self.write(&operation, &body).await,
                "GetItem" | "Query" => self.read(&operation, &body).await,
                "BatchGetItem" => self.batch(&operation, &body).await,
                other => panic!("{other} is not modelled"),
            }
        }
        .boxed()
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").finish_non_exhaustive()
    }
}

#[expect(clippy::disallowed_methods, reason = "tokio's clock is the simulated one")]
fn now() -> Instant {
    Instant::now()
}
