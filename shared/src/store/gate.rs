//! How far a request may read before its check has passed (C-86).
//!
//! A handler's first reads run concurrently with the check of its caller, so that checking takes no round trip of its own.
//! A [`Gate`] stands in the way of those reads: of a caller that this process accepted lately it lets through a page, of
//! any other nothing, and the rest waits for the check. Where the check fails, what waits ends with an error that nobody
//! sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

use super::error::StoreError;

/// The most items of one list that are read before the check has passed.
pub const MAX_AHEAD: usize = 50;
/// The same for counters, which are far smaller than what they count: so many have the bytes of such a page.
pub const MAX_COUNTERS_AHEAD: usize = 400;
/// The same for markers of what may be out of date, which hold next to nothing.
const MAX_MARKERS_AHEAD: usize = 100;
/// The most items of a request but its counters and markers, all lists together: a list, what belongs to it, and single records.
const MAX_TOTAL_AHEAD: usize = 160;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pending,
    Passed,
    Refused,
}

/// What the reads of a request pass before its check has ended.
#[derive(Debug, Clone)]
pub struct Gate {
    left: Arc<Left>,
    verdict: watch::Receiver<Verdict>,
}

/// How much more may be read ahead.
#[derive(Debug)]
struct Left {
    items: AtomicUsize,
    counters: AtomicUsize,
}

/// Opens a [`Gate`], or has it refuse what waits.
#[derive(Debug)]
pub struct GateKeeper(watch::Sender<Verdict>);

impl GateKeeper {
    /// Ends the gate with the outcome of the check.
    pub fn judge(&self, passed: bool) {
        self.0
            .send_replace(if passed { Verdict::Passed } else { Verdict::Refused });
    }
}

impl Gate {
    /// A gate that lets a page through where the caller is `known`, else nothing.
    pub fn new(known: bool) -> (GateKeeper, Self) {
        let (keeper, verdict) = watch::channel(Verdict::Pending);
        let of = |most| AtomicUsize::new(if known { most } else { 0 });
        let left = Arc::new(Left {
            items: of(MAX_TOTAL_AHEAD),
            counters: of(MAX_COUNTERS_AHEAD + MAX_MARKERS_AHEAD),
        });
        (GateKeeper(keeper), Self { left, verdict })
    }

    /// Returns once `items` may be read: at once within what is left, else after the check.
    pub async fn pass(&self, items: usize) -> Result<(), StoreError> {
        // A list is cut to what may be read ahead by `stretch`; here all of it waits.
        let ahead = if items > MAX_AHEAD { 0 } else { items };
        self.stretch(ahead).await.map(drop)
    }

    /// Returns how many items of a list may be read now: `ahead` of them before the check, any number after
    /// it.
    pub async fn stretch(&self, ahead: usize) -> Result<usize, StoreError> {
        let left = if ahead > MAX_AHEAD {
            &self.left.counters
        } else {
            &self.left.items
        };
        let take = |left: usize| left.checked_sub(ahead);
        let take = || {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
        };
        let pending = *self.verdict.borrow() == Verdict::Pending;
        if pending && ahead > 0 && take() {
            return Ok(ahead);
        }
        let mut verdict = self.verdict.clone();
        let verdict = verdict.wait_for(|verdict| *verdict != Verdict::Pending).await;
        match verdict.as_deref() {
            Ok(Verdict::Passed) => Ok(usize::MAX),
            _ => Err(StoreError::Contention("reading for a caller who was refused")),
        }
    }
}
