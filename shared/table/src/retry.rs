//! Retries, mostly of contested writes: number of attempts, and pauses between them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::StoreError;

/// Returns an unpredictable number below its argument, for retry jitter.
#[derive(Clone)]
pub struct Jitter(Arc<dyn Fn(u64) -> u64 + Send + Sync>);

impl Jitter {
    /// Creates it from a source of random numbers.
    pub fn new(below: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(below))
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        (self.0)(bound)
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}

/// Number of attempts, and growth of the pauses.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Maximum attempts.
    attempts: u32,
    /// Retries without a pause, because the refusal returned the current item.
    at_once: u32,
    /// Maximum doublings of the pause. With many competitors, longer pauses would favour later ones.
    doublings: u32,
}

impl Policy {
    /// Conflicts with transactions in progress: about 2 s of pauses in total. The pauses are short, because a
    /// transaction lasts some milliseconds and a rejected one does not block others. With long pauses, a contested item
    /// would be idle while its writers wait.
    pub const OVERLAP: Self = Self::new(30, 0, 3);
    /// Other transient conflicts, and throttling: about 2 s of pauses in total.
    pub const CONFLICT: Self = Self::new(12, 0, 5);
    /// A record that several callers change concurrently. One of them succeeds each time. About 6 s of pauses in total.
    pub const CONTESTED: Self = Self::new(80, 1, 3);
    /// A day that a hundred callers book concurrently. The pauses are long, so that only a few callers try at the same
    /// time.
    pub const CROWDED: Self = Self::new(64, 1, 5);

    const fn new(attempts: u32, at_once: u32, doublings: u32) -> Self {
        Self {
            attempts,
            at_once,
            doublings,
        }
    }

    /// The same pauses with another number of attempts.
    #[must_use]
    pub const fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }
}

/// Counts the attempts of one piece of work.
#[derive(Debug)]
pub struct Retry<'j> {
    jitter: &'j Jitter,
    policy: Policy,
    work: &'static str,
    retries: u32,
}

impl<'j> Retry<'j> {
    pub(crate) fn new(jitter: &'j Jitter, policy: Policy, work: &'static str) -> Self {
        Self {
            jitter,
            policy,
            work,
            retries: 0,
        }
    }
}

impl Retry<'_> {
    /// Waits before the next attempt. Returns whether it paused. After a pause, earlier reads are stale.
    ///
    /// # Errors
    /// [`StoreError::Contention`] after the last attempt.
    pub async fn again(&mut self) -> Result<bool, StoreError> {
        let Some(doublings) = self.count()?.checked_sub(self.policy.at_once) else {
            return Ok(false);
        };
        // Jitter, so that colliding writers do not collide again.
        let mean = 10_u64 << doublings.min(self.policy.doublings);
        let pause = mean / 2 + self.jitter.below(mean);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        Ok(true)
    }

    /// Counts an attempt without a pause.
    ///
    /// # Errors
    /// [`StoreError::Contention`] as for [`again`](Self::again).
    pub fn count(&mut self) -> Result<u32, StoreError> {
        let retry = self.retries;
        self.retries += 1;
        if self.retries == self.policy.attempts {
            return Err(StoreError::Contention(self.work));
        }
        Ok(retry)
    }
}
