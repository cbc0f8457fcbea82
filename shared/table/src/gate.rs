//! Limits on reads before the caller is checked (C-86).
//!
//! A handler's first reads run concurrently with the check of its caller, so the check takes no extra round trip. A
//! [`Gate`] limits those reads: it admits one page for a caller that this process accepted recently, and nothing for
//! others. Further reads wait for the check. If the check fails, waiting reads end with an error that is discarded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

use crate::error::StoreError;

/// Maximum items of one list that are read before the check.
pub const MAX_AHEAD: usize = 50;
/// Maximum counters that are read before the check. They are small, so this number has the bytes of a page.
pub const MAX_COUNTERS_AHEAD: usize = 400;
/// Maximum stale markers that are read before the check. They are almost empty.
const MAX_MARKERS_AHEAD: usize = 100;
/// Maximum items of a request read before the check, without counters and markers: a list, its related
/// records, and single records.
const MAX_TOTAL_AHEAD: usize = 160;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pending,
    Passed,
    Refused,
}

/// Delays the reads of a request until its caller is checked.
#[derive(Debug, Clone)]
pub struct Gate {
    left: Arc<Left>,
    verdict: watch::Receiver<Verdict>,
}

/// Remaining items that may be read before the check.
#[derive(Debug)]
struct Left {
    items: AtomicUsize,
    counters: AtomicUsize,
}

/// Opens or closes a [`Gate`].
#[derive(Debug)]
pub struct GateKeeper(watch::Sender<Verdict>);

impl GateKeeper {
    /// Sets the outcome of the check.
    pub fn judge(&self, passed: bool) {
        self.0
            .send_replace(if passed { Verdict::Passed } else { Verdict::Refused });
    }
}

impl Gate {
    /// A gate that admits one page if the caller is `known`, else nothing.
    #[must_use]
    pub fn new(known: bool) -> (GateKeeper, Self) {
        let (keeper, verdict) = watch::channel(Verdict::Pending);
        let of = |max| AtomicUsize::new(if known { max } else { 0 });
        let left = Arc::new(Left {
            items: of(MAX_TOTAL_AHEAD),
            counters: of(MAX_COUNTERS_AHEAD + MAX_MARKERS_AHEAD),
        });
        (GateKeeper(keeper), Self { left, verdict })
    }

    /// Whether it admits items before the check.
    #[must_use]
    pub fn admits_ahead(&self) -> bool {
        self.left.items.load(Ordering::Relaxed) > 0
    }

    /// Waits until this number of items may be read. Does not wait within the remaining limit; otherwise waits until
    /// the check has passed. [`StoreError::Contention`] if it fails.
    pub async fn admit(&self, items: usize) -> Result<(), StoreError> {
        // A read of more items waits for the check.
        let ahead = if items > MAX_AHEAD { 0 } else { items };
        self.admit_up_to(ahead).await.map(drop)
    }

    /// Number of items of a list that may be read: `ahead` before the check, if the remaining limit admits them; any
    /// number after it. More than [`MAX_AHEAD`] are counters or markers, which have a limit of their own. Otherwise
    /// waits like [`admit`](Self::admit).
    pub async fn admit_up_to(&self, ahead: usize) -> Result<usize, StoreError> {
        let left = if ahead > MAX_AHEAD {
            &self.left.counters
        } else {
            &self.left.items
        };
        let is_pending = *self.verdict.borrow() == Verdict::Pending;
        if is_pending && ahead > 0 {
            let subtract = |left: usize| left.checked_sub(ahead);
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
            if taken.is_ok() {
                return Ok(ahead);
            }
        }
        let mut verdict = self.verdict.clone();
        let verdict = verdict.wait_for(|verdict| *verdict != Verdict::Pending).await;
        match verdict.as_deref() {
            Ok(Verdict::Passed) => Ok(usize::MAX),
            _ => Err(StoreError::Contention("reading for a caller who was refused")),
        }
    }
}
