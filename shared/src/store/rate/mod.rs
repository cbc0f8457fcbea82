//! Rate limits (C-9): how many requests of a minute are let in, counted over all processes.
//!
//! A minute of a budget is one item, which says how much of it is taken. A process takes a block of it with one write and
//! lets the next requests of that minute in from memory. Each request let in has a place of its own among those that were
//! taken, and none beyond the limit is let in, so all processes together never exceed it, whatever becomes of a write.

mod lease;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Store;
use super::key::Keys;
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::time::Timestamp;
use table::StoreError;

use lease::{Lease, Step};

/// Budgets of which a process remembers what it has; with more, all are forgotten, and what was left of their blocks is
/// lost to that minute.
const MOST: usize = 1000;
/// How long a request waits for the counter: as long as for one attempt of any other call.
const TIMEOUT: Duration = Duration::from_secs(3);
/// For so many seconds a counter that could not be reached is left alone, and requests go on without it.
const COOLDOWN: u32 = 5;
/// For so long a minute's item outlasts it, because clocks differ.
const KEPT_SECONDS: u32 = 600;

/// The requests that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget<'a> {
    /// Those of an instance with a key that has no limit of its own.
    Keys,
    /// Those with the key of this public id.
    Key(&'a str),
    /// Those without credentials to one route.
    Public(PublicRoute),
    /// Calls that proved the webhook's secret.
    Webhook,
}

/// A route that takes requests without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicRoute {
    /// `POST /calendarmeeting`.
    Booking,
    /// `GET /calendarmeeting/slots`.
    Slots,
    /// `POST /voip/webhook` of an instance without a secret.
    Webhook,
}

impl PublicRoute {
    /// The name in keys.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Booking => "booking",
            Self::Slots => "slots",
            Self::Webhook => "webhook",
        }
    }
}

/// The remainder of a budget, as far as this process knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Requests a minute.
    pub limit: u32,
    /// How many more of them this minute has room for.
    pub remaining: u64,
    /// Seconds until the next minute begins, 1 to 60.
    pub reset: u32,
}

/// Whether a request is let in, and what is left then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    pub admitted: bool,
    pub allowance: Allowance,
}

/// The leases of a process, by budget.
#[derive(Debug, Clone, Default)]
pub struct Leases(Arc<Mutex<HashMap<String, Held>>>);

/// The lease of one budget. All requests wait for one answer of the counter.
type Held = Arc<tokio::sync::Mutex<Lease>>;

impl Leases {
    fn of(&self, budget: &str) -> Held {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if leases.len() >= MOST && !leases.contains_key(budget) {
            leases.clear();
        }
        leases.entry(budget.to_owned()).or_default().clone()
    }

    /// Whether a request is let in without a look at the counter, as far as is known without waiting.
    fn has_place(&self, budget: &str, limit: Rate, now: Timestamp) -> bool {
        let leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lease = leases.get(budget).and_then(|held| held.try_lock().ok());
        lease.is_some_and(|lease| lease.has_place(minute(now), limit) || lease.rests(now))
    }
}

impl Store {
    /// Whether this process let all of these callers in lately and holds a place of their budgets, so that a page may be
    /// read before they are checked again (C-86).
    pub(crate) fn knows(&self, callers: &[String]) -> bool {
        let now = self.environment.now();
        let has_place = |(budget, limit): (String, Rate)| self.leases.has_place(&budget, limit, now);
        let known = |caller: &String| {
            let accepted = self.hints.accepted(caller, now);
            accepted.is_some_and(|accepted| accepted.budget.is_none_or(has_place))
        };
        !callers.is_empty() && callers.iter().all(known)
    }

    /// Remembers for some minutes that these callers were let in, under a budget.
    pub(crate) fn accept(
        &self,
        callers: &[String],
        instance: &InstanceName,
        (budget, limit): (Budget<'_>, Option<Rate>),
    ) {
        let now = self.environment.now();
        let budget = limit.map(|limit| (Keys(instance).rates(budget), limit));
        for caller in callers {
            self.hints.accept(caller, now, budget.clone());
        }
    }

    /// Forgets callers that were refused.
    pub(crate) fn refuse(&self, callers: &[String]) {
        for caller in callers {
            self.hints.refuse(caller);
        }
    }
}

impl Store {
    /// Counts a request against a budget. No call while this process has some of it left, or knows that nothing is; else
    /// one write. Where the counter cannot be reached the request is let in: a limit must not take the service down.
    pub(crate) async fn spend(&self, instance: &InstanceName, budget: Budget<'_>, limit: Rate) -> Spent {
        let held = self.leases.of(&Keys(instance).rates(budget));
        let mut lease = held.lock().await;
        // Only now, because whoever waited may have waited into the next minute.
        let now = self.environment.now();
        lease.turn(minute(now));
        let admitted = match lease.step(limit) {
            Step::Admitted => true,
            Step::Refused => false,
            Step::Take(_) if lease.rests(now) => true,
            Step::Take(block) => match self.take_block(instance, budget, block, limit, now).await {
                Ok(taken) => {
                    lease.took(block, taken, limit);
                    lease.step(limit) == Step::Admitted
                }
                Err(cause) => {
                    tracing::warn!(%cause, %instance, "requests go on uncounted");
                    lease.rest_until(now.plus_seconds(COOLDOWN));
                    true
                }
            },
        };
        let allowance = Allowance {
            limit: limit.get(),
            remaining: lease.remaining(limit),
            reset: reset(now),
        };
        Spent { admitted, allowance }
    }

    /// Takes a block of a minute; what is taken with it, or `None` where nothing was left.
    async fn take_block(
        &self,
        instance: &InstanceName,
        budget: Budget<'_>,
        block: u64,
        limit: Rate,
        now: Timestamp,
    ) -> Result<Option<u64>, StoreError> {
        let key = Keys(instance).rate(budget, minute(now));
        let until = now.plus_seconds(KEPT_SECONDS).unix_seconds();
        let taking = self
            .table
            .add_below(&key, "taken", block, limit.get().into(), until);
        let patient = tokio::time::timeout(TIMEOUT, taking).await;
        patient.unwrap_or_else(|_| {
            let cause = format!("no answer within {} s", TIMEOUT.as_secs());
            Err(StoreError::Unavailable {
                operation: "UpdateItem",
                cause,
            })
        })
    }
}

/// Which minute it is, counted from 1970.
fn minute(now: Timestamp) -> u64 {
    u64::try_from(now.unix_seconds() / 60).unwrap_or(0)
}

/// The seconds until the next minute begins, each started one counted.
fn reset(now: Timestamp) -> u32 {
    let gone = now.unix_millis().rem_euclid(60_000);
    u32::try_from((60_000 - gone + 999) / 1000).unwrap_or(60)
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
            assert_eq!((reset(now), minute(now)), (seconds, 29_921_040), "{now}");
        }
    }

    /// A request waits for one attempt, and those after it for none.
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
        for budget in 0..3 * MOST {
            leases.of(&budget.to_string());
        }
        assert!(leases.0.lock().unwrap().len() <= MOST);
    }
}
