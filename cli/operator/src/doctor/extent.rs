//! The amount of work of a doctor's run, for its progress bar: an estimate that costs one batch of gets.
//!
//! The first half is the records, measured by their ids. Kinds without a sequence are small and not counted. The second
//! half is the scan, which is expected to find as many items as the first half has checked.

use std::collections::BTreeMap;

use shared::store::unscoped::key::Counter;
use table::{Key, StoreError, item};

use super::kind::KindRef;
use crate::Operator;

/// The sequences by the names of their kinds.
const SEQUENCES: [(Counter, &str); 5] = [
    (Counter::Lead, "lead"),
    (Counter::Opportunity, "opportunity"),
    (Counter::Meeting, "meeting"),
    (Counter::Ticket, "ticket"),
    (Counter::Call, "call"),
];

/// The progress of a run.
#[derive(Debug, Default)]
pub struct Extent {
    /// The last id of each kind with a sequence.
    last_ids: BTreeMap<&'static str, u64>,
    /// The finished work, in ids.
    pub done: u64,
    /// The finished work when the checked kind began.
    done_before_kind: u64,
    /// The number of scanned items.
    scanned: u64,
}

impl Extent {
    /// The progress from which a later run resumes.
    pub fn progress(&self) -> [u64; 3] {
        [self.done, self.done_before_kind, self.scanned]
    }

    /// Goes on from the progress of an earlier run.
    pub fn resume(&mut self, progress: [u64; 3]) {
        [self.done, self.done_before_kind, self.scanned] = progress;
    }

    /// The finished work when the scan begins.
    fn half(&self) -> u64 {
        self.last_ids.values().sum()
    }

    pub fn total(&self) -> u64 {
        self.half() * 2
    }

    /// Advances to the last record of a batch.
    pub fn reach(&mut self, kind: KindRef, record: &Key) {
        let ids = self.last_ids.get(kind.name()).copied().unwrap_or_default();
        let id = record.sk.parse().unwrap_or(0);
        self.done = self.done_before_kind + ids.min(id);
    }

    /// Advances to the end of a kind.
    pub fn end(&mut self, kind: KindRef) {
        self.done_before_kind += self.last_ids.get(kind.name()).copied().unwrap_or_default();
        self.done = self.done_before_kind;
    }

    /// Advances by items of the scan, out of about `expected`.
    pub fn scan(&mut self, items: usize, expected: u64) {
        self.scanned += items as u64;
        let (half, expected) = (self.half(), expected.max(1));
        let share = u128::from(half) * u128::from(self.scanned.min(expected)) / u128::from(expected);
        self.done = half + u64::try_from(share).unwrap_or(half);
    }
}

impl Operator {
    /// The extent of a run that has not begun. One batch of gets.
    pub(super) async fn extent(&self) -> Result<Extent, StoreError> {
        let key = |counter| self.keys().counter(counter);
        let items = self
            .reads()
            .get_many(SEQUENCES.map(|(counter, _)| key(counter)))
            .await?;
        let mut last_ids = BTreeMap::new();
        for (counter, name) in SEQUENCES {
            // A counter that cannot be read is a finding of the run.
            let number = items
                .get(&key(counter))
                .map(|item| item::number("counter", item, name));
            last_ids.insert(name, number.and_then(Result::ok).unwrap_or_default());
        }
        Ok(Extent {
            last_ids,
            ..Extent::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scan_is_the_second_half() {
        let mut extent = Extent {
            last_ids: [("lead", 300), ("call", 100)].into(),
            ..Extent::default()
        };
        extent.scan(10, 40);
        assert_eq!((extent.done, extent.total()), (500, 800));
        extent.scan(90, 40);
        assert_eq!(extent.done, 800);
    }
}
