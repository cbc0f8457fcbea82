//! The pace of bulk writes: the number of transactions per second that the table admits, found by additive increase and
//! multiplicative decrease.
//!
//! Transactions start one after another, at this pace. There are no pauses until a transaction is throttled. The first
//! throttled transaction sets the pace to half of the rate so far. Further ones halve it, at most once per second,
//! because the table counts the units of each second.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Minimum pace, in transactions per second.
const MIN_RATE: f64 = 0.5;
/// Increase of the rate per second, as a fraction of the rate, and its minimum.
const INCREASE: f64 = 0.05;
const MIN_INCREASE: f64 = 0.5;
/// Minimum interval between decreases.
const SETTLE: Duration = Duration::from_secs(1);

/// A pace that transactions share.
#[derive(Debug, Clone, Default)]
pub struct Pace(Arc<Mutex<PaceState>>);

#[derive(Debug, Default)]
struct PaceState {
    /// Transactions per second; `None` until one is throttled.
    rate: Option<f64>,
    /// The start of the next transaction.
    next: Option<Instant>,
    /// Time of the last decrease, or else of the first transaction.
    since: Option<Instant>,
    /// Number of transactions written so far.
    written: u32,
}

impl Pace {
    /// Waits until the next transaction may start.
    pub async fn wait(&self) {
        let start = self.state().next_start(now());
        if let Some(start) = start {
            sleep_until(start).await;
        }
    }

    /// Adapts the pace after a transaction.
    pub fn adapt(&self, throttled: bool) {
        let mut state = self.state();
        if throttled {
            state.decrease(now());
        } else {
            state.increase();
        }
    }

    fn state(&self) -> MutexGuard<'_, PaceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PaceState {
    /// The time at which the next transaction may start; `None` for at once, while no transaction was throttled.
    fn next_start(&mut self, now: Instant) -> Option<Instant> {
        self.since.get_or_insert(now);
        let start = self.next.map_or(now, |next| next.max(now));
        self.next = Some(start + Duration::from_secs_f64(1.0 / self.rate?));
        Some(start)
    }

    /// Halves the rate after a throttled transaction, unless that was done within [`SETTLE`].
    fn decrease(&mut self, now: Instant) {
        let since = self.since.unwrap_or(now);
        let elapsed = now.saturating_duration_since(since);
        let rate = match self.rate {
            Some(_) if elapsed < SETTLE => return,
            Some(rate) => rate,
            None => f64::from(self.written) / elapsed.max(SETTLE).as_secs_f64(),
        };
        self.rate = Some((rate / 2.0).max(MIN_RATE));
        self.since = Some(now);
        // The capacity of this second is used up.
        self.next = self.next.max(Some(now + SETTLE / 2));
    }

    /// Counts a written transaction and raises the rate by this transaction's part of the increase of a second.
    fn increase(&mut self) {
        self.written = self.written.saturating_add(1);
        self.rate = self
            .rate
            .map(|rate| rate + (rate * INCREASE).max(MIN_INCREASE) / rate);
    }
}

#[expect(clippy::disallowed_methods, reason = "tokio's clock, which its timers use")]
fn now() -> Instant {
    Instant::now()
}
