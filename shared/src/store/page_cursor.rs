//! Where the pages of a walk through a list begin.
//!
//! Clients read pages in order, so each page remembers where it ended and the next one goes on there, whatever was added
//! concurrently (C-42). A walk is told apart by who asks, for what, with which program, and from which address; walks that differ
//! in none of these cannot be told apart by anyone, and the latest counts.
//!
//! A page whose cursor cannot be stored fails: the next page would continue at a cursor of an earlier walk.

use sha2::{Digest, Sha256};

use super::{CallerId, InstanceStore, Reader};
use crate::text::hex;
use table::StoreError;
use table::item::{self, Item, n, s};

/// How long a client may rest between two pages without the walk starting anew.
const SECONDS: u32 = 3600;

/// A walk through the pages of one query, by a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorKey(String);

impl CursorKey {
    /// The walk of a caller's program through what `query` asks for.
    pub fn new(caller: &CallerId, query: &str) -> Self {
        let CallerId {
            credentials, client, ..
        } = caller;
        // Lengths keep the parts apart, whatever they hold.
        let text = format!(
            "{}:{credentials} {}:{client} {query}",
            credentials.len(),
            client.len()
        );
        Self(hex(&Sha256::digest(text)[..16]))
    }

    /// The key of a page within a process.
    pub fn page(&self, page: u64) -> String {
        format!("{} {page}", self.0)
    }
}

/// Where a page begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageCursor {
    /// After this sort key; from the list's beginning on where absent.
    pub after: Option<String>,
    /// Before this sort key: from there on the walk has shown everything.
    pub before: Option<String>,
    /// The sort key of the newest that the walk has shown since it last began at the list's beginning.
    newest: Option<String>,
    /// Pages of the walk may be missing: it began at an offset.
    partial: bool,
}

impl PageCursor {
    /// After a sort key, or from the list's beginning on.
    pub fn after(after: Option<String>) -> Self {
        Self {
            after,
            ..Self::default()
        }
    }

    /// After entries that the walk has not shown, at or after a sort key.
    pub fn at_offset(after: Option<String>) -> Self {
        Self {
            after,
            partial: true,
            ..Self::default()
        }
    }

    /// Where the page begins that follows one with these first and last sort keys, in a list whose newest come first. After a
    /// page that is not full only what was added since is left: it sorts before all that the walk has shown. `None` where
    /// nothing is known of it, and the next page is an offset.
    pub fn next(self, shown: Option<(&str, &str)>, full: bool) -> Option<Self> {
        let newest = self
            .newest
            .or_else(|| shown.filter(|_| !self.partial).map(|(first, _)| first.to_owned()));
        if full {
            let after = shown.map(|(_, last)| last.to_owned());
            return Some(Self {
                after,
                newest,
                ..self
            });
        }
        let before = newest.or(self.before)?;
        Some(Self {
            before: Some(before),
            ..Self::default()
        })
    }

    /// The last sort key that can lie before [`before`](Self::before): keys of one list that end with a digit.
    pub fn through(&self) -> Option<String> {
        let mut through = self.before.clone()?;
        let last = through.pop()?;
        through.extend([char::from_u32(u32::from(last) - 1)?, '~']);
        Some(through)
    }

    fn is_known(&self) -> bool {
        self.after.is_some() || self.before.is_some()
    }

    fn encode(&self) -> Item {
        let texts = [
            ("after", &self.after),
            ("before", &self.before),
            ("newest", &self.newest),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), s(text.clone()?))));
        texts
            .chain(self.partial.then(|| ("partial".to_owned(), n(1))))
            .collect()
    }

    fn decode(item: &Item) -> Self {
        let text = |name: &str| item.get(name).and_then(|text| text.as_s().ok()).cloned();
        Self {
            after: text("after"),
            before: text("before"),
            newest: text("newest"),
            partial: item.contains_key("partial"),
        }
    }
}

impl Reader {
    /// Where a page begins, if the page before was read within the hour. One get.
    pub(crate) async fn bookmark(
        &self,
        walk: &CursorKey,
        page: u64,
    ) -> Result<Option<PageCursor>, StoreError> {
        let item = self
            .table
            .get(&self.keys().bookmark(&walk.0, page))
            .await?
            .unwrap_or_default();
        // DynamoDB deletes expired items within days, not at once.
        let now = u64::try_from(self.environment.now().unix_seconds()).unwrap_or(0);
        let fresh = item::number("bookmark", &item, "ttl")? > now;
        Ok(Some(PageCursor::decode(&item)).filter(|cursor| fresh && cursor.is_known()))
    }
}

impl InstanceStore {
    /// Remembers where a page of the walk begins; without a cursor, that nothing is known of it. One put.
    pub(crate) async fn put_bookmark(
        &self,
        walk: &CursorKey,
        page: u64,
        cursor: Option<PageCursor>,
    ) -> Result<(), StoreError> {
        let cursor = cursor.unwrap_or_default();
        let expiry = self.environment.now().plus_seconds(SECONDS);
        let mut item = cursor.encode();
        item.insert("ttl".to_owned(), n(expiry.unix_seconds()));
        self.table.put(&self.keys().bookmark(&walk.0, page), item).await?;
        let known = Some(cursor).filter(PageCursor::is_known);
        self.hints.pages.set(walk.page(page), known);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of a list whose newest come first: 90 is newer than 91.
    #[test]
    fn a_walk_ends_with_what_was_added_since() {
        let first = PageCursor::default().next(Some(("50", "59")), true).unwrap();
        assert_eq!((first.after.as_deref(), first.through()), (Some("59"), None));
        let last = first.next(Some(("60", "63")), false).unwrap();
        assert_eq!(
            (last.after.as_deref(), last.through().as_deref()),
            (None, Some("5/~"))
        );
        // A full page of what is new, then the rest of it, then what is newer still.
        let new = last.next(Some(("20", "29")), true).unwrap();
        assert_eq!(
            (new.after.as_deref(), new.through().as_deref()),
            (Some("29"), Some("5/~"))
        );
        let newer = new.next(Some(("30", "33")), false).unwrap();
        assert_eq!(
            (newer.after.as_deref(), newer.through().as_deref()),
            (None, Some("2/~"))
        );
        let nothing = newer.clone().next(None, false).unwrap();
        assert_eq!(nothing, newer);
    }

    #[test]
    fn what_began_at_an_offset_ends_without_a_bookmark() {
        let second = PageCursor::at_offset(None)
            .next(Some(("50", "59")), true)
            .unwrap();
        assert_eq!(PageCursor::decode(&second.encode()), second);
        assert_eq!(second.next(Some(("60", "63")), false), None);
        assert_eq!(PageCursor::default().next(None, false), None);
    }
}
