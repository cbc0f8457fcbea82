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
    pub(crate) async fn wait(&self) {
        let turn = self.state().turn(now());
        if let Some(turn) = turn {
            sleep_until(turn).await;
        }
    }

    /// Adapts the pace after a transaction.
    pub(crate) fn adapt(&self, throttled: bool) {
        let mut state = self.state();
        if throttled {
            state.slow(now());
        } else {
            state.hasten();
        }
    }

    fn state(&self) -> MutexGuard<'_, PaceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PaceState {
    fn turn(&mut self, now: Instant) -> Option<Instant> {
        self.since.get_or_insert(now);
        let turn = self.next.map_or(now, |next| next.max(now));
        self.next = Some(turn + Duration::from_secs_f64(1.0 / self.rate?));
        Some(turn)
    }

    fn slow(&mut self, now: Instant) {
        let since = self.since.unwrap_or(now);
        let lasted = now.saturating_duration_since(since);
        let rate = match self.rate {
            Some(_) if lasted < SETTLE => return,
            Some(rate) => rate,
            None => f64::from(self.written) / lasted.max(SETTLE).as_secs_f64(),
        };
        self.rate = Some((rate / 2.0).max(MIN_RATE));
        self.since = Some(now);
        // The capacity of this second is used up.
        self.next = self.next.max(Some(now + SETTLE / 2));
    }

    fn hasten(&mut self) {
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
