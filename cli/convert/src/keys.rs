//! The keys of the id map that the records of a run have (C-105).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::ids::IdMap;

/// Variants of a key that are compared with a new one.
const MAX_VARIANTS: usize = 64;

/// The keys of the id map that records of this run have.
#[derive(Debug, Default)]
pub struct RunKeys(HashMap<u64, u32>);

impl RunKeys {
    /// Whether a record of the run has a key.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(&digest("", key))
    }

    /// A key that no other record of the run has: the n-th record with a key gets a number at its end.
    pub fn distinct(&mut self, key: String) -> String {
        loop {
            let count = self.0.entry(digest("", &key)).or_default();
            *count += 1;
            if *count == 1 {
                return key;
            }
            let own = format!("{key}#{count}");
            if self.0.insert(digest("", &own), 1).is_none() {
                return own;
            }
        }
    }

    /// The key of a record without an id in the export, which begins with `base`: that with the same `variant`, else one
    /// of an earlier run with a variant that fits, else a new one.
    pub fn variant(
        &mut self,
        ids: &IdMap,
        (kind, base, variant): (&str, &str, &str),
        fits: impl Fn(&str) -> bool,
    ) -> String {
        let key = format!("{base}|{variant}");
        let is_free = |key: &str| !self.has(key);
        if ids.known(kind, &key).is_some() && is_free(&key) {
            return self.distinct(key);
        }
        let mut earlier = ids.variants(kind, base).take(MAX_VARIANTS);
        let earlier = earlier.find(|(key, variant)| is_free(key) && fits(variant));
        let earlier = earlier.map(|(key, _)| key.to_owned());
        self.distinct(earlier.unwrap_or(key))
    }
}

/// A digest of a text, which needs less memory. Two of a million texts share one with a probability of 1 in 30 million.
pub fn digest(space: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (space, text).hash(&mut hasher);
    hasher.finish()
}
