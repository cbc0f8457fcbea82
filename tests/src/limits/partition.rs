//! Partitions of an item collection, and their units within the last second.
//!
//! A collection begins as one partition. A partition that throttles is split at the key that halves its units of the last
//! second, if both parts have units of items older than a second. So an end that moves is never split: its items are new.
//! DynamoDB takes minutes for a split; the model shortens them to the warm-up of a run.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// Write units of a partition in any second.
const WRITES: f64 = 1_000.0;
/// Read units of a partition in any second.
const READS: f64 = 3_000.0;
const SECOND: Duration = Duration::from_secs(1);
/// Minimum units of old items in each part ÷ all units of a partition.
const SHARE: f64 = 0.1;

/// Units of reads or of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Write,
    Read,
}

/// The partitions of a collection by their first key.
#[derive(Debug)]
pub struct Collection {
    partitions: BTreeMap<Arc<str>, Partition>,
    /// The time from which an item is old.
    items: HashMap<Arc<str>, Instant>,
}

#[derive(Debug, Default)]
struct Partition {
    writes: Window,
    reads: Window,
}

/// Units of the last second by time and key.
#[derive(Debug, Default)]
struct Window {
    log: VecDeque<Entry>,
    units: f64,
}

#[derive(Debug)]
struct Entry {
    at: Instant,
    key: Arc<str>,
    units: f64,
    is_old: bool,
}

impl Default for Collection {
    fn default() -> Self {
        Self {
            partitions: BTreeMap::from([(Arc::from(""), Partition::default())]),
            items: HashMap::new(),
        }
    }
}

impl Collection {
    /// Adds an item that existed before the run.
    pub fn add_old(&mut self, key: &str, now: Instant) {
        self.items.insert(Arc::from(key), now);
    }

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
        if let Some(middle) = window.middle().filter(|middle| window.recurs(middle)) {
            let upper = partition.split(&middle);
            self.partitions.insert(middle, upper);
        }
        false
    }

    /// Adds units of a key.
    pub fn charge(&mut self, key: &str, kind: Kind, units: f64, now: Instant) {
        let key: Arc<str> = Arc::from(key);
        let old_from = self.items.entry(Arc::clone(&key)).or_insert(now + SECOND);
        let is_old = *old_from <= now;
        if let Some(partition) = self.partition(&key) {
            let (window, _) = partition.window(kind);
            window.expire(now);
            window.units += units;
            window.log.push_back(Entry {
                at: now,
                key,
                units,
                is_old,
            });
        }
    }

    /// The partition of a key.
    fn partition(&mut self, key: &str) -> Option<&mut Partition> {
        let until = (Bound::Unbounded, Bound::Included(key));
        let mut partitions = self.partitions.range_mut::<str, _>(until);
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
        while let Some(entry) = self.log.pop_front_if(|entry| entry.at + SECOND <= now) {
            self.units -= entry.units;
        }
    }

    /// The first key with at least half of the units before it, else the last one; `None` if there is only one key.
    fn middle(&self) -> Option<Arc<str>> {
        let mut keys: BTreeMap<&Arc<str>, f64> = BTreeMap::new();
        for entry in &self.log {
            *keys.entry(&entry.key).or_default() += entry.units;
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

    /// Whether the keys before and from `middle` on have units of old items.
    fn recurs(&self, middle: &str) -> bool {
        let mut parts = [0.0, 0.0];
        for entry in self.log.iter().filter(|entry| entry.is_old) {
            parts[usize::from(&*entry.key >= middle)] += entry.units;
        }
        parts.into_iter().all(|part| part > SHARE * self.units)
    }

    fn split(&mut self, middle: &str) -> Self {
        let (upper, lower) = std::mem::take(&mut self.log)
            .into_iter()
            .partition(|entry| &*entry.key >= middle);
        *self = Self::of(lower);
        Self::of(upper)
    }

    fn of(log: VecDeque<Entry>) -> Self {
        let units = log.iter().map(|entry| entry.units).sum();
        Self { log, units }
    }
}
