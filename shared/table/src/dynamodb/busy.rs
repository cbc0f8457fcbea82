//! Patience with a table that is too busy (C-110): one classification of all forms in which DynamoDB says so, and the
//! time for which a call is repeated.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use tokio::time::{Instant, sleep};

use super::DynamoDb;
use crate::error::StoreError;
use crate::retry::Jitter;

/// Codes of exceptions, and of reasons of a cancelled transaction, for a table or an account over its throughput.
const THROTTLED: [&str; 7] = [
    "LimitExceededException",
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "Throttling",
    "ThrottlingError",
    "ThrottlingException",
];
/// The code for a transaction whose earlier attempt, with the same token, is still in progress.
const IN_PROGRESS: &str = "TransactionInProgressException";

/// Time for which a request repeats a throttled call, and one in progress.
const REQUEST: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(6)];
/// The same for bulk work.
const BULK: [Duration; 2] = [Duration::from_mins(1); 2];

/// The first pause, and the longest of a request and of bulk work.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_millis(500);
const MAX_BULK_PAUSE: Duration = Duration::from_secs(5);

/// Why DynamoDB did not execute a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// The throughput is used up.
    Throttled,
    /// An earlier attempt is still in progress.
    InProgress,
}

/// Whether this code says that the throughput is used up.
pub fn is_throttled(code: &str) -> bool {
    THROTTLED.contains(&code)
}

/// The reason of an error that ends when the table is less busy; `None` for another error.
pub fn reason<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> Option<Busy> {
    let code = error.as_service_error()?.code()?;
    if code == IN_PROGRESS {
        Some(Busy::InProgress)
    } else {
        is_throttled(code).then_some(Busy::Throttled)
    }
}

/// Repeats one call while the table is too busy.
pub struct Patience<'e> {
    operation: &'static str,
    jitter: &'e Jitter,
    is_bulk: bool,
    /// The time of the first refusal.
    since: Option<Instant>,
    pause: Duration,
}

impl DynamoDb {
    pub(super) fn patience(&self, operation: &'static str) -> Patience<'_> {
        Patience {
            operation,
            jitter: &self.jitter,
            is_bulk: self.pace.is_some(),
            since: None,
            pause: FIRST_PAUSE,
        }
    }
}

impl Patience<'_> {
    /// Waits before the next attempt.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if the time for this reason is over.
    pub async fn again(&mut self, reason: Busy) -> Result<(), StoreError> {
        let ([throttled, in_progress], longest) = if self.is_bulk {
            (BULK, MAX_BULK_PAUSE)
        } else {
            (REQUEST, MAX_PAUSE)
        };
        let limit = match reason {
            Busy::Throttled => throttled,
            Busy::InProgress => in_progress,
        };
        let now = now();
        // Jitter, so that refused callers do not return together.
        let pause = self.pause / 2 + Duration::from_millis(self.jitter.below(millis(self.pause)));
        if now + pause > *self.since.get_or_insert(now) + limit {
            return Err(StoreError::Busy(self.operation));
        }
        self.pause = (self.pause * 2).min(longest);
        sleep(pause).await;
        Ok(())
    }
}

fn millis(pause: Duration) -> u64 {
    u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "tokio's clock, which its timers use")]
fn now() -> Instant {
    Instant::now()
}
