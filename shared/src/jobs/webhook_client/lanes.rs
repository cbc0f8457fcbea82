//! Lanes. A lane contains the deliveries to one receiver, independent of other receivers (C-87).
//!
//! A process serves a lane in one task at a time. A lane whose receiver timed out is slow for a minute. It gets one
//! delivery at a time, and `deliver_at_once` skips it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::time::Timestamp;

/// Seconds for which a lane is slow.
const COOLDOWN: u32 = 60;
/// Concurrent deliveries of a lane.
const CONCURRENCY: usize = 4;

/// The lanes that are served or slow in this process.
#[derive(Debug, Clone, Default)]
pub struct Lanes(Arc<Mutex<HashMap<String, Lane>>>);

#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    busy: bool,
    slow_until: Option<Timestamp>,
}

impl Lane {
    fn is_slow(&self, now: Timestamp) -> bool {
        self.slow_until.is_some_and(|until| now < until)
    }
}

impl Lanes {
    /// Whether a lane's receiver timed out recently.
    #[must_use]
    pub fn is_slow(&self, name: &str, now: Timestamp) -> bool {
        self.lock().get(name).is_some_and(|lane| lane.is_slow(now))
    }

    /// Takes a lane until the turn is dropped; `None` if another task of this process has it. Forgets lanes that are
    /// neither served nor slow.
    #[must_use]
    pub fn take(&self, name: &str, now: Timestamp) -> Option<Turn> {
        let mut lanes = self.lock();
        lanes.retain(|_, lane| lane.busy || lane.is_slow(now));
        let lane = lanes.entry(name.to_owned()).or_default();
        if lane.busy {
            return None;
        }
        lane.busy = true;
        let is_slow = lane.is_slow(now);
        Some(Turn {
            lanes: self.clone(),
            name: name.to_owned(),
            began: now,
            is_slow,
            late: AtomicBool::new(false),
            under_way: AtomicUsize::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lane in service until this is dropped. If that interrupts a delivery, the lane becomes slow.
#[derive(Debug)]
pub struct Turn {
    lanes: Lanes,
    name: String,
    began: Timestamp,
    is_slow: bool,
    /// Whether a delivery was late.
    late: AtomicBool,
    /// Number of deliveries that have begun and not ended.
    under_way: AtomicUsize,
}

impl Turn {
    /// Maximum number of concurrent deliveries.
    #[must_use]
    pub fn at_once(&self) -> usize {
        if self.is_slow { 1 } else { CONCURRENCY }
    }

    /// Whether a delivery was late, so no more may begin.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// Begins a delivery.
    pub fn begin(&self) {
        self.under_way.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a delivery. `late` if the delivery took too long.
    pub fn end(&self, late: bool) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        self.late.fetch_or(late, Ordering::Relaxed);
    }
}

impl Drop for Turn {
    /// Frees the lane. It becomes slow if a delivery was late or is interrupted; otherwise it is no longer slow.
    fn drop(&mut self) {
        let late = self.is_over() || self.under_way.load(Ordering::Relaxed) > 0;
        if let Some(lane) = self.lanes.lock().get_mut(&self.name) {
            lane.busy = false;
            lane.slow_until = late.then(|| self.began.plus_seconds(COOLDOWN));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_served_once_and_slow_for_a_minute_after_a_timeout() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        let lanes = Lanes::default();
        let turn = lanes.take("a", now).unwrap();
        assert!(lanes.take("a", now).is_none());
        assert!(lanes.take("b", now).is_some());
        assert_eq!((turn.at_once(), turn.is_over()), (CONCURRENCY, false));
        turn.begin();
        turn.end(false);
        drop(turn);
        assert!(!lanes.is_slow("a", now));
        for interrupted in [false, true] {
            let turn = lanes.take("a", now).unwrap();
            turn.begin();
            if !interrupted {
                turn.end(true);
                assert!(turn.is_over());
            }
            drop(turn);
            assert!(lanes.is_slow("a", now.plus_seconds(59)) && !lanes.is_slow("b", now));
            assert!(!lanes.is_slow("a", now.plus_seconds(60)));
            assert_eq!(lanes.take("a", now).map(|turn| turn.at_once()), Some(1));
            // A delivery in time ends the slow state.
            assert!(!lanes.is_slow("a", now));
        }
    }
}
