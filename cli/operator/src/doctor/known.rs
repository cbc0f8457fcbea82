//! The derived items of the records, up to a maximum that bounds memory. The scan of the table is compared with them,
//! without reading items or records again.

use table::Key;

use crate::content::digest;

/// Maximum noted items of 12 bytes each, enough for a million opportunities.
const MAX_NOTES: usize = 12_000_000;
/// The bits of a note's last word: the digest of the content, the index of the kind, and whether the scan found the
/// item.
const CONTENT: u32 = (1 << 26) - 1;
const KIND_SHIFT: u32 = 26;
const SEEN: u32 = 1 << 31;

/// Notes of derived items. A note is three words: two of the digest of the key, and one with the bits above. An item
/// without a record has the digest of a noted key with a probability of 1 in 10^12, and a wrong item has that of the
/// right one with 1 in 10^7.
#[derive(Debug)]
pub struct DerivedItems(Vec<[u32; 3]>);

impl Default for DerivedItems {
    /// Reserves the maximum at once. A growing vector needs its memory twice while it moves; reserved memory that no
    /// note uses needs none.
    fn default() -> Self {
        Self(Vec::with_capacity(MAX_NOTES))
    }
}

impl DerivedItems {
    /// Notes the items of a record of kind number `kind`, each with the digest of its content. Returns `false` if there
    /// is no room for all of them, and then notes none.
    pub fn note<'k>(&mut self, kind: usize, items: impl ExactSizeIterator<Item = (&'k Key, u32)>) -> bool {
        self.note_up_to(MAX_NOTES, kind, items)
    }

    fn note_up_to<'k>(
        &mut self,
        max_notes: usize,
        kind: usize,
        items: impl ExactSizeIterator<Item = (&'k Key, u32)>,
    ) -> bool {
        if self.0.len() + items.len() > max_notes {
            return false;
        }
        let kind = u32::try_from(kind).unwrap_or_default() << KIND_SHIFT;
        self.0.extend(items.map(|(key, content)| {
            let [high, low] = key_words(key);
            [high, low, kind | (content & CONTENT)]
        }));
        true
    }

    /// Sorts the notes. [`find`](Self::find) and [`is_missed`](Self::is_missed) require it.
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// The note of an item, with any content.
    pub fn find(&mut self, key: &Key) -> Option<KnownItem<'_>> {
        let at = self.position(key)?;
        self.0.get_mut(at).map(KnownItem)
    }

    /// Whether an item is noted and was not found with this content.
    pub fn is_missed(&self, key: &Key, content: u32) -> bool {
        let note = self.position(key).and_then(|at| self.0.get(at));
        note.is_some_and(|note| note[2] & SEEN == 0 || (content ^ note[2]) & CONTENT != 0)
    }

    /// Whether all noted items of kind number `kind` were found.
    pub fn are_seen(&self, kind: usize) -> bool {
        let kind = u32::try_from(kind).unwrap_or_default();
        let is_of_kind = |note: &&[u32; 3]| (note[2] & !SEEN) >> KIND_SHIFT == kind;
        let is_seen = |note: &[u32; 3]| note[2] & SEEN != 0;
        self.0.iter().filter(is_of_kind).all(is_seen)
    }

    /// The index of the note of a key. The notes must be sorted.
    fn position(&self, key: &Key) -> Option<usize> {
        let words = key_words(key);
        self.0.binary_search_by(|note| note[..2].cmp(&words)).ok()
    }
}

/// The note of an item.
pub struct KnownItem<'n>(&'n mut [u32; 3]);

impl KnownItem<'_> {
    /// Marks the item as seen if it is noted with this content.
    pub fn mark_if_equal(self, content: Option<u32>) {
        if content.is_some_and(|content| (content ^ self.0[2]) & CONTENT == 0) {
            self.0[2] |= SEEN;
        }
    }
}

/// The digest of a key.
fn key_words(key: &Key) -> [u32; 2] {
    let digest = digest(&(&key.pk, &key.sk));
    #[expect(clippy::cast_possible_truncation, reason = "the lower word")]
    [(digest >> 32) as u32, digest as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> [Key; 4] {
        ["c", "a", "d", "b"].map(|sort| Key::new("p", sort))
    }

    #[test]
    fn items_are_seen_with_their_content() {
        let keys = keys();
        let mut known = DerivedItems::default();
        assert!(known.note_up_to(4, 0, keys[..2].iter().zip([1, 2])));
        assert!(known.note_up_to(4, 31, keys[2..].iter().zip([CONTENT, 4])));
        assert!(!known.note_up_to(4, 31, keys[..1].iter().zip([9])));
        known.sort();
        assert!(known.find(&Key::new("q", "a")).is_none());
        for (key, content) in keys.iter().zip([Some(1), Some(3), Some(CONTENT), None]) {
            known.find(key).unwrap().mark_if_equal(content);
        }
        let missed: Vec<_> = keys
            .iter()
            .zip([1, 2, CONTENT, 4])
            .map(|(key, content)| known.is_missed(key, content))
            .collect();
        assert_eq!(missed, [false, true, false, true]);
        assert_eq!([0, 5, 31].map(|kind| known.are_seen(kind)), [false, true, false]);
        known.find(&keys[1]).unwrap().mark_if_equal(Some(2));
        assert!(
            known.are_seen(0) && known.is_missed(&keys[1], 3) && !known.is_missed(&Key::new("q", "a"), 3)
        );
    }
}
