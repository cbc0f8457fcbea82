//! Rate limits (C-9): requests accepted per minute, counted over all processes.
//!
//! A minute of a budget is one item with the number of taken places. A process takes a block of places with one write
//! and accepts the next requests from memory. Each counted request has its own place, and no place is above the limit,
//! so all processes together never exceed it. A write of unknown outcome can only lose places. While the counter cannot
//! be reached, requests are accepted without a place.

mod budget;
mod lease;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use budget::{Budget, PublicRoute};

use super::Store;
use super::key::Keys;
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::time::Timestamp;
use table::StoreError;

use lease::{Lease, LeaseStep};

/// Maximum budgets with a lease in a process. A further budget drops all leases, and the rest of their blocks is lost
/// for that minute.
const MAX_LEASES: usize = 1000;
/// Timeout of a request's write to the counter, equal to that of one attempt of a function's other calls.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Seconds for which an unreachable counter is avoided; requests are accepted without it.
const COOLDOWN: u32 = 5;
/// Lifetime in seconds of a minute's item after its last write. It exceeds a minute, because clocks differ.
const KEPT_SECONDS: u32 = 600;

/// The remainder of a budget, as far as this process knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Requests per minute.
    pub limit: u32,
    /// Remaining requests of this minute.
    pub remaining: u64,
    /// Seconds until the next minute, 1 to 60.
    pub reset: u32,
}

/// Whether a request is accepted, and the remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    pub admitted: bool,
    pub allowance: Allowance,
}

/// The leases of a process, by budget.
#[derive(Debug, Clone, Default)]
pub struct Leases(Arc<Mutex<HashMap<String, SharedLease>>>);

/// The lease of one budget. Concurrent requests wait for the same response of the counter.
type SharedLease = Arc<tokio::sync::Mutex<Lease>>;

impl Leases {
    /// The lease of a budget, which is a new one if the process has none. The first lease beyond [`MAX_LEASES`] drops
    /// all others.
    fn of(&self, budget: &str) -> SharedLease {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if leases.len() >= MAX_LEASES && !leases.contains_key(budget) {
            leases.clear();
        }
        leases.entry(budget.to_owned()).or_default().clone()
    }

    /// Whether a request is accepted without a write. `false` if the lease is in use.
    fn has_place(&self, budget: &str, limit: Rate, now: Timestamp) -> bool {
        let leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lease = leases.get(budget).and_then(|lease| lease.try_lock().ok());
        lease.is_some_and(|lease| lease.has_place(minute(now), limit) || lease.avoids_counter(now))
    }
}

impl Store {
    /// Whether this process accepted all of these callers recently and has places left in their leases, so that one
    /// page may be read before they are checked again (C-86). An unreachable counter counts as a place.
    pub(crate) fn recently_accepted(&self, callers: &[String]) -> bool {
        let now = self.environment.now();
        let has_place = |(budget, limit): (String, Rate)| self.leases.has_place(&budget, limit, now);
        let is_accepted = |caller: &String| {
            let accepted = self.hints.accepted(caller, now);
            accepted.is_some_and(|accepted| accepted.budget.is_none_or(has_place))
        };
        !callers.is_empty() && callers.iter().all(is_accepted)
    }

    /// Remembers for some minutes that these callers were accepted under a budget.
    pub(crate) fn accept(
        &self,
        callers: &[String],
        instance: &InstanceName,
        (budget, limit): (Budget<'_>, Option<Rate>),
    ) {
        let now = self.environment.now();
        let budget = limit.map(|limit| (Keys::of(instance).rates(budget), limit));
        for caller in callers {
            self.hints.accept(caller, now, budget.clone());
        }
    }

    /// Forgets rejected callers.
    pub(crate) fn refuse(&self, callers: &[String]) {
        for caller in callers {
            self.hints.refuse(caller);
        }
    }
}

impl Store {
    /// Counts a request against a budget. No call if this process has places left or knows that no place is left; else
    /// one write. If the counter cannot be reached, the request is accepted, because a limit must not cause an outage.
    pub(crate) async fn spend(&self, instance: &InstanceName, budget: Budget<'_>, limit: Rate) -> Spent {
        let shared = self.leases.of(&Keys::of(instance).rates(budget));
        let mut lease = shared.lock().await;
        // Read after the wait, which may have lasted into the next minute.
        let now = self.environment.now();
        lease.start_minute(minute(now));
        let admitted = match lease.next_step(limit) {
            LeaseStep::Admitted => true,
            LeaseStep::Refused => false,
            // The counter was unreachable shortly before.
            LeaseStep::Take(_) if lease.avoids_counter(now) => true,
            LeaseStep::Take(block) => match self.take_block(instance, budget, block, limit, now).await {
                Ok(taken) => {
                    lease.record_taken(block, taken, limit);
                    lease.next_step(limit) == LeaseStep::Admitted
                }
                Err(cause) => {
                    tracing::warn!(%cause, %instance, "requests go on uncounted");
                    lease.avoid_counter_until(now.plus_seconds(COOLDOWN));
                    true
                }
            },
        };
        let allowance = Allowance {
            limit: limit.get(),
            remaining: lease.remaining(limit),
            reset: seconds_to_reset(now),
        };
        Spent { admitted, allowance }
    }

    /// Takes a block of a minute's places at the counter and returns its last place; `None` if no place was left.
    async fn take_block(
        &self,
        instance: &InstanceName,
        budget: Budget<'_>,
        block: u64,
        limit: Rate,
        now: Timestamp,
    ) -> Result<Option<u64>, StoreError> {
        let key = Keys::of(instance).rate(budget, minute(now));
        let until = now.plus_seconds(KEPT_SECONDS).unix_seconds();
        let taking = self
            .table
            .add_below(&key, "taken", block, limit.get().into(), until);
        let taken = tokio::time::timeout(TIMEOUT, taking).await;
        taken.unwrap_or_else(|_| {
            let cause = format!("no answer within {} s", TIMEOUT.as_secs());
            Err(StoreError::Unavailable {
                operation: "UpdateItem",
                cause,
            })
        })
    }
}

/// Number of the current minute since 1970.
fn minute(now: Timestamp) -> u64 {
    u64::try_from(now.unix_seconds() / 60).unwrap_or(0)
}

/// Seconds until the next minute, rounded up: 1 to 60.
fn seconds_to_reset(now: Timestamp) -> u32 {
    let elapsed = now.unix_millis().rem_euclid(60_000);
    u32::try_from((60_000 - elapsed + 999) / 1000).unwrap_or(60)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::environment::Environment;
    use crate::store::Location;

    #[test]
    fn the_minute_ends_on_the_minute() {
        for (now, seconds) in [
            ("2026-11-21T12:00:00.000Z", 60),
            ("2026-11-21T12:00:00.001Z", 60),
            ("2026-11-21T12:00:01.000Z", 59),
            ("2026-11-21T12:00:59.000Z", 1),
            ("2026-11-21T12:00:59.999Z", 1),
        ] {
            let now = Timestamp::parse(now).unwrap();
            assert_eq!(
                (seconds_to_reset(now), minute(now)),
                (seconds, 29_921_040),
                "{now}"
            );
        }
    }

    /// The first request waits for one attempt, and concurrent ones make no attempt.
    #[tokio::test]
    async fn a_counter_that_never_answers() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        silent.set_nonblocking(true).unwrap();
        let location = Location {
            table: "silent".to_owned(),
            endpoint: Some(format!("http://{}", silent.local_addr().unwrap())),
        };
        let (environment, _clock) = Environment::frozen(Timestamp::parse("2026-11-21T12:00:00Z").unwrap());
        let store = Store::connect(location, environment).await;
        let instance = InstanceName::parse("acme").unwrap();
        let spend = || {
            store.spend(
                &instance,
                Budget::Public(PublicRoute::Slots),
                Rate::new(5).unwrap(),
            )
        };
        let (first, second) = tokio::join!(spend(), spend());
        let allowance = Allowance {
            limit: 5,
            remaining: 5,
            reset: 60,
        };
        let admitted = true;
        let uncounted = Spent { admitted, allowance };
        assert_eq!([first, second], [uncounted; 2]);
        let attempts = std::iter::from_fn(|| silent.accept().ok()).count();
        assert_eq!(attempts, 1);
    }

    #[test]
    fn memory_is_bounded() {
        let leases = Leases::default();
        for budget in 0..3 * MAX_LEASES {
            leases.of(&budget.to_string());
        }
        assert!(leases.0.lock().unwrap().len() <= MAX_LEASES);
    }
}
