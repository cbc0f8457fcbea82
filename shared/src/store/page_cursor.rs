//! Cursors of consecutive pages.
//!
//! Clients read pages in order. Each page stores the position of its end. The next page continues at this position,
//! regardless of concurrent insertions (C-42). A cursor belongs to a caller, a query, a program and a source address.
//! Reads that agree in all of these share a cursor. The last page read determines it.
//!
//! If a cursor cannot be stored, the page fails, because the next page would continue an earlier read.

use sha2::{Digest, Sha256};

use super::{CallerId, Reader, Writer};
use crate::text::hex;
use table::StoreError;
use table::item::{self, Item, n, s};

/// Lifetime of a cursor in seconds: the maximum pause of a client between two pages.
const LIFETIME_SECONDS: u32 = 3600;

/// Consecutive reads of one query, identified by a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorKey(String);

impl CursorKey {
    /// The key for a caller and the text of a query.
    pub fn new(caller: &CallerId, query: &str) -> Self {
        let CallerId {
            credentials, client, ..
        } = caller;
        // Length prefixes separate the parts.
        let text = format!(
            "{}:{credentials} {}:{client} {query}",
            credentials.len(),
            client.len()
        );
        Self(hex(&Sha256::digest(text)[..16]))
    }

    /// Key of a page in the process's cache.
    pub fn page(&self, page: u64) -> String {
        format!("{} {page}", self.0)
    }
}

/// Start of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageCursor {
    /// Starts after this sort key; at the start of the list if absent.
    pub after: Option<String>,
    /// Ends before this sort key, because everything from there was already shown.
    pub before: Option<String>,
    /// Sort key of the newest shown entry since the read started at the head of the list.
    newest: Option<String>,
    /// Pages may be missing: the read started at an offset.
    partial: bool,
}

impl PageCursor {
    /// Starts after a sort key, or at the head of the list.
    pub fn after(after: Option<String>) -> Self {
        Self {
            after,
            ..Self::default()
        }
    }

    /// Starts at an offset whose previous entries were not shown.
    pub fn at_offset(after: Option<String>) -> Self {
        Self {
            after,
            partial: true,
            ..Self::default()
        }
    }

    /// The start of the next page of a list with the newest first. `shown` contains the first and last sort keys of
    /// this page, which `is_full` if it has as many entries as requested. After an incomplete page only newer entries
    /// are left, which sort before all shown ones. `None` if unknown: the next page uses an offset.
    pub fn next(self, shown: Option<(&str, &str)>, is_full: bool) -> Option<Self> {
        // The first page of a read shows the newest entry, unless the read started at an offset.
        let newest = self
            .newest
            .or_else(|| shown.filter(|_| !self.partial).map(|(first, _)| first.to_owned()));
        if is_full {
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

    /// The inclusive end of a key range before [`before`](Self::before), for sort keys that end with a digit: the last
    /// character is replaced by the one before it and `~`, which sorts after all digits.
    pub fn through(&self) -> Option<String> {
        let mut through = self.before.clone()?;
        let last = through.pop()?;
        through.extend([char::from_u32(u32::from(last) - 1)?, '~']);
        Some(through)
    }

    /// Whether it contains a position. A stored cursor without one marks an unknown start.
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
    /// Start of a page; `None` if the previous page was not read within the hour or its end is unknown. One get.
    pub(crate) async fn page_cursor(
        &self,
        key: &CursorKey,
        page: u64,
    ) -> Result<Option<PageCursor>, StoreError> {
        let item = self
            .table
            .get(&self.keys().page_cursor(&key.0, page))
            .await?
            .unwrap_or_default();
        // DynamoDB deletes expired items within days, not at once.
        let now = u64::try_from(self.environment.now().unix_seconds()).unwrap_or(0);
        let is_valid = item::number("bookmark", &item, "ttl")? > now;
        let cursor = PageCursor::decode(&item);
        Ok((is_valid && cursor.is_known()).then_some(cursor))
    }
}

impl Writer {
    /// Stores the start of a page, also in the process's cache. `None` replaces an earlier cursor, so the page uses an
    /// offset. One put.
    pub(crate) async fn put_page_cursor(
        &self,
        key: &CursorKey,
        page: u64,
        cursor: Option<PageCursor>,
    ) -> Result<(), StoreError> {
        let cursor = cursor.unwrap_or_default();
        let expiry = self.reader.environment.now().plus_seconds(LIFETIME_SECONDS);
        let mut item = cursor.encode();
        item.insert("ttl".to_owned(), n(expiry.unix_seconds()));
        self.table
            .put(&self.keys().page_cursor(&key.0, page), item)
            .await?;
        let known = Some(cursor).filter(PageCursor::is_known);
        self.reader.hints.pages.set(key.page(page), known);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of a list with the newest first: 90 is newer than 91.
    #[test]
    fn a_walk_ends_with_what_was_added_since() {
        let first = PageCursor::default().next(Some(("50", "59")), true).unwrap();
        assert_eq!((first.after.as_deref(), first.through()), (Some("59"), None));
        let last = first.next(Some(("60", "63")), false).unwrap();
        assert_eq!(
            (last.after.as_deref(), last.through().as_deref()),
            (None, Some("5/~"))
        );
        // A full page of new entries, the rest of them, then newer ones.
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
