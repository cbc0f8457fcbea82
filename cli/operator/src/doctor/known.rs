//! The derived items that records have, as far as they fit into bounded memory: the scan of the table need not read and
//! derive the records of these again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use table::Key;

/// The most items that are remembered, in 8 bytes each: those of a million opportunities.
const MAX: usize = 12_000_000;

/// Digests of keys. An item that no record derives has the digest of one that is known with a probability of 1 in 10^12.
#[derive(Debug, Default)]
pub struct DerivedKeys(Vec<u64>);

impl DerivedKeys {
    /// Remembers keys, unless there are too many.
    pub fn note<'k>(&mut self, keys: impl Iterator<Item = &'k Key>) {
        self.note_up_to(MAX, keys);
    }

    fn note_up_to<'k>(&mut self, most: usize, keys: impl Iterator<Item = &'k Key>) {
        let left = most.saturating_sub(self.0.len());
        self.0.extend(keys.take(left).map(digest));
    }

    /// Ends the notes. Only then [`has`](Self::has) finds any.
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// Whether a key was remembered.
    pub fn has(&self, key: &Key) -> bool {
        self.0.binary_search(&digest(key)).is_ok()
    }
}

fn digest(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&key.pk, &key.sk).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_beyond_the_maximum_are_unknown() {
        let keys = ["c", "a", "d", "b"].map(|sort| Key::new("p", sort));
        let mut known = DerivedKeys::default();
        known.note_up_to(3, keys[..2].iter());
        known.note_up_to(3, keys[2..].iter());
        known.sort();
        assert_eq!(
            keys.each_ref().map(|key| known.has(key)),
            [true, true, true, false]
        );
        assert!(!known.has(&Key::new("q", "a")));
    }
}
