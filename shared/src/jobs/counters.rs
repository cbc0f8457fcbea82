//! Counters of background jobs, for log lines and metrics.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// Counters of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobCounters {
    /// Leads with refreshed copies.
    pub copies: u64,
    /// Deleted leads with remains at the start.
    pub erasures: u64,
    /// Seconds since the oldest of them was deleted.
    pub oldest_erasure_seconds: u64,
    /// Refreshed reports.
    pub reports: u64,
    /// Triggers and notifications in outboxes at the start.
    pub outbox: u64,
    /// Completed triggers.
    pub triggers: u64,
    /// Actions that could not be performed and were skipped.
    pub actions_left_out: u64,
    /// Notifications delivered or obsolete.
    pub notifications: u64,
    /// Notifications to be retried.
    pub notifications_put_off: u64,
    /// Notifications given up after the last try.
    pub notifications_given_up: u64,
}

/// Collects the counters of one job.
#[derive(Debug, Clone, Default)]
pub struct JobLog(Arc<Mutex<JobCounters>>);

tokio::task_local! {
    static CURRENT: JobLog;
}

impl JobLog {
    /// Runs `work` with these counters.
    pub async fn record<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> JobCounters {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes the counters of the current job.
pub(crate) fn count(change: impl FnOnce(&mut JobCounters)) {
    // Work outside a job, as in tests, is not counted.
    let _ = CURRENT.try_with(|log| change(&mut log.0.lock().unwrap_or_else(PoisonError::into_inner)));
}
