//! Sums that are spread over several items.
//!
//! Transactions that add to one item at the same time conflict. A sum that may be spread is one item until a
//! transaction conflicts on it. That transaction, and the next transactions of this process, then add to a random shard
//! of the sum instead. The sum is the total of all its items, so a single item may be negative.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::key::Key;
use crate::retry::Jitter;

/// Number of shards of a sum, in addition to its main item.
pub const SHARDS: u8 = 32;
/// Separates the sort key of a sum from the number of a shard. Sort keys of sums do not contain it.
const MARK: char = '~';
/// Number of a process's additions to a sum that go to shards after a conflict.
const ADDITIONS_AFTER_CONFLICT: u32 = 500;
/// Maximum number of remembered sums. At this number, all are forgotten.
const MAX_SUMS: usize = 1000;

/// All shards of a sum.
pub fn shards(sum: &Key) -> impl Iterator<Item = Key> + '_ {
    (0..SHARDS).map(|number| shard(sum, number.into()))
}

fn shard(sum: &Key, number: u64) -> Key {
    Key::new(sum.pk.as_str(), format!("{}{MARK}{number:02}", sum.sk))
}

/// The sum that a shard belongs to. Returns `None` for the key of another item.
#[must_use]
pub fn shard_of(key: &Key) -> Option<Key> {
    let (sum, _) = key.sk.split_once(MARK)?;
    Some(Key::new(key.pk.as_str(), sum))
}

/// The sort key of the sum that a shard belongs to. Returns the sort key of another item unchanged.
#[must_use]
pub fn unsharded(sort: &str) -> &str {
    sort.split_once(MARK).map_or(sort, |(sum, _)| sum)
}

/// Sums whose additions conflicted in this process, with the number of further additions to spread.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContestedSums(Arc<Mutex<HashMap<Key, u32>>>);

impl ContestedSums {
    /// Records a conflict at a sum or at one of its shards.
    pub fn note(&self, item: Key) {
        let sum = shard_of(&item).unwrap_or(item);
        let mut sums = self.sums();
        if sums.len() >= MAX_SUMS {
            sums.clear();
        }
        sums.insert(sum, ADDITIONS_AFTER_CONFLICT);
    }

    /// Returns the shard that the next addition goes to, and counts the addition. Returns `None` for the main item of
    /// the sum.
    pub fn shard(&self, sum: &Key, jitter: &Jitter) -> Option<Key> {
        let mut sums = self.sums();
        let left = sums.get_mut(sum)?;
        *left -= 1;
        if *left == 0 {
            sums.remove(sum);
        }
        Some(shard(sum, jitter.below(SHARDS.into())))
    }

    fn sums(&self) -> MutexGuard<'_, HashMap<Key, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_are_spread_for_a_while_after_a_conflict() {
        let (sums, jitter) = (ContestedSums::default(), Jitter::new(|bound| bound - 1));
        let [contested, other] = ["31", "32"].map(|sort| Key::new("totals", sort));
        assert_eq!(sums.shard(&contested, &jitter), None);
        sums.note(contested.clone());
        assert_eq!(sums.shard(&other, &jitter), None);
        for _ in 0..ADDITIONS_AFTER_CONFLICT {
            let shard = sums.shard(&contested, &jitter).unwrap();
            assert_eq!(shard, Key::new("totals", "31~31"));
            assert_eq!(shard_of(&shard), Some(contested.clone()));
            assert!(shards(&contested).any(|one| one == shard));
        }
        assert_eq!(sums.shard(&contested, &jitter), None);
        assert_eq!(shard_of(&contested), None);
    }

    #[test]
    fn sums_are_kept_in_bounded_memory() {
        let sums = ContestedSums::default();
        for number in 0..3 * MAX_SUMS {
            sums.note(Key::new("totals", number.to_string()));
        }
        assert!(sums.sums().len() <= MAX_SUMS);
    }
}
