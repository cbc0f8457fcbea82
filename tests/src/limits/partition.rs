//! Partitions of an item collection, and their units within the last second.
//!
//! A collection begins as one partition. A partition that throttles is split at the key that halves its units of the last
//! second, if both parts have units in both halves of that second. So an end that moves is never split: the older part of
//! its keys has no units any more. DynamoDB takes minutes for a split; the model shortens them to the warm-up of a run.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// Write units of a partition in any second.
const WRITES: f64 = 1_000.0;
/// Read units of a partition in any second.
const READS: f64 = 3_000.0;
const SECOND: Duration = Duration::from_secs(1);
/// Minimum share of each part in the units of each half of a second.
const SHARE: f64 = 0.1;

/// Units of reads or of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Write,
    Read,
}

/// The partitions of a collection by their first key.
#[derive(Debug)]
pub struct Collection(BTreeMap<Arc<str>, Partition>);

#[derive(Debug, Default)]
struct Partition {
    writes: Window,
    reads: Window,
}

/// Units of the last second by time and key.
#[derive(Debug, Default)]
struct Window {
    log: VecDeque<(Instant, Arc<str>, f64)>,
    units: f64,
}

impl Default for Collection {
    fn default() -> Self {
        Self(BTreeMap::from([(Arc::from(""), Partition::default())]))
    }
}

impl Collection {
    /// Whether the partition of a key admits units now. Splits it if not.
    pub fn admits(&mut self, key: &str, kind: Kind, units: f64, now: Instant) -> bool {
        let Some(partition) = self.partition(key) else {
            return true;
        };
        let (window, limit) = partition.window(kind);
        window.expire(now);
        if window.units + units <= limit {
            return true;
        }
        if let Some(middle) = window.middle().filter(|middle| window.recurs(middle, now)) {
            let upper = partition.split(&middle);
            self.0.insert(middle, upper);
        }
        false
    }

    /// Adds units of a key.
    pub fn charge(&mut self, key: &str, kind: Kind, units: f64, now: Instant) {
        if let Some(partition) = self.partition(key) {
            let (window, _) = partition.window(kind);
            window.expire(now);
            window.log.push_back((now, Arc::from(key), units));
            window.units += units;
        }
    }

    /// The partition of a key.
    fn partition(&mut self, key: &str) -> Option<&mut Partition> {
        let until = (Bound::Unbounded, Bound::Included(key));
        let mut partitions = self.0.range_mut::<str, _>(until);
        partitions.next_back().map(|(_, partition)| partition)
    }
}

impl Partition {
    fn window(&mut self, kind: Kind) -> (&mut Window, f64) {
        match kind {
            Kind::Write => (&mut self.writes, WRITES),
            Kind::Read => (&mut self.reads, READS),
        }
    }

    /// Returns the part from a key on.
    fn split(&mut self, middle: &str) -> Self {
        Self {
            writes: self.writes.split(middle),
            reads: self.reads.split(middle),
        }
    }
}

impl Window {
    fn expire(&mut self, now: Instant) {
        while let Some((_, _, units)) = self.log.pop_front_if(|(at, _, _)| *at + SECOND <= now) {
            self.units -= units;
        }
    }

    /// The first key with at least half of the units before it, else the last one; `None` if there is only one key.
    fn middle(&self) -> Option<Arc<str>> {
        let mut keys: BTreeMap<&Arc<str>, f64> = BTreeMap::new();
        for (_, key, units) in &self.log {
            *keys.entry(key).or_default() += units;
        }
        let mut before = 0.0;
        let mut keys = keys.into_iter();
        before += keys.next()?.1;
        let mut last = None;
        for (key, units) in keys {
            last = Some(key);
            if before >= self.units / 2.0 {
                break;
            }
            before += units;
        }
        last.cloned()
    }

    /// Whether the keys before and from `middle` on have units in both halves of the last second.
    fn recurs(&self, middle: &str, now: Instant) -> bool {
        let mut parts = [[0.0; 2]; 2];
        for (at, key, units) in &self.log {
            let half = usize::from(*at + SECOND / 2 > now);
            parts[half][usize::from(&**key >= middle)] += units;
        }
        let has_both = |[lower, upper]: [f64; 2]| lower.min(upper) > SHARE * (lower + upper);
        parts.into_iter().all(has_both)
    }

    fn split(&mut self, middle: &str) -> Self {
        let (upper, lower) = std::mem::take(&mut self.log)
            .into_iter()
            .partition(|(_, key, _)| &**key >= middle);
        *self = Self::of(lower);
        Self::of(upper)
    }

    fn of(log: VecDeque<(Instant, Arc<str>, f64)>) -> Self {
        let units = log.iter().map(|(_, _, units)| units).sum();
        Self { log, units }
    }
}
