//! Clock and randomness of a process.
//!
//! Both are injected, so tests can freeze the clock and repeat a run. Only this module calls the system's clock and
//! randomness; `clippy.toml` forbids the calls elsewhere.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::time::Timestamp;

/// The clock and the source of randomness of a process.
#[derive(Clone)]
pub struct Environment {
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    random: Arc<dyn Fn() -> [u8; 32] + Send + Sync>,
}

impl Environment {
    /// The system's clock and cryptographic randomness.
    #[must_use]
    pub fn system() -> Self {
        Self {
            clock: Arc::new(system_now),
            random: Arc::new(system_random),
        }
    }

    /// A clock that moves only by [`FrozenClock::set`], with the system's randomness.
    #[must_use]
    pub fn frozen(at: Timestamp) -> (Self, FrozenClock) {
        let clock = FrozenClock(Arc::new(Mutex::new(at)));
        let same_clock = clock.clone();
        let environment = Self {
            clock: Arc::new(move || same_clock.get()),
            random: Arc::new(system_random),
        };
        (environment, clock)
    }

    /// The same clock with reproducible randomness: SHA-256 of `seed` and a counter.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        let counter = AtomicU64::new(0);
        let random = move || {
            let count = counter.fetch_add(1, Ordering::Relaxed);
            Sha256::digest([seed.to_be_bytes(), count.to_be_bytes()].concat()).into()
        };
        Self {
            random: Arc::new(random),
            ..self
        }
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// 32 unpredictable bytes.
    #[must_use]
    pub fn random(&self) -> [u8; 32] {
        (self.random)()
    }

    /// 16 unpredictable bytes in hexadecimal, as a unique identifier.
    #[must_use]
    pub fn token(&self) -> String {
        crate::text::hex(&self.random()[..16])
    }

    /// An unpredictable number below `bound` (0 if `bound` is 0), for retry jitter.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        let mut first_bytes = [0; 8];
        first_bytes.copy_from_slice(&self.random()[..8]);
        u64::from_be_bytes(first_bytes).checked_rem(bound).unwrap_or(0)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

/// Control of a [frozen](Environment::frozen) clock.
#[derive(Debug, Clone)]
pub struct FrozenClock(Arc<Mutex<Timestamp>>);

impl FrozenClock {
    /// The current time of the clock.
    #[must_use]
    pub fn get(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock.
    pub fn set(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the system's clock"
)]
fn system_now() -> Timestamp {
    Timestamp::from(chrono::Utc::now())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that draws the system's randomness"
)]
#[expect(
    clippy::panic,
    reason = "without randomness no credential is safe: the process must not go on"
)]
fn system_random() -> [u8; 32] {
    let mut bytes = [0; 32];
    if let Err(cause) = getrandom::fill(&mut bytes) {
        panic!("the system gives no randomness: {cause}");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_frozen_clock_moves_only_when_set() {
        let (environment, clock) = Environment::frozen(at("2026-11-21T12:00:00Z"));
        assert_eq!(environment.now(), at("2026-11-21T12:00:00Z"));
        clock.set(at("2026-11-22T12:00:00Z"));
        assert_eq!(environment.now(), at("2026-11-22T12:00:00Z"));
    }

    #[test]
    fn seeded_randomness_repeats_and_system_randomness_does_not() {
        let (held, _) = Environment::frozen(at("2026-11-21T12:00:00Z"));
        let (one, two) = (held.clone().seeded(7), held.clone().seeded(7));
        assert_eq!(one.random(), two.random());
        assert_ne!(one.random(), one.random());
        assert_ne!(held.random(), held.random());
        assert_eq!(held.below(0), 0);
    }
}
