//! Cursors of consecutive pages.
//!
//! A walk is the sequence of pages that a client reads. Each page stores the position of its end. The next page
//! continues at this position, regardless of concurrent insertions (C-42). A cursor belongs to a caller, a program, a
//! source address, a query and the number of a page. Concurrent walks that agree in all of these share it.
//!
//! A page has an expected start, by what this process remembers; a stored one, which is read concurrently with the check
//! of the caller; and the actual one. If a cursor cannot be stored, the page fails, because the next page would continue
//! an earlier walk.

use sha2::{Digest, Sha256};

use crate::store::{CallerId, Reader, Writer};
use crate::text::hex;
use table::StoreError;
use table::item::{self, Item, n, s};

/// Lifetime of a cursor in seconds: the maximum pause of a client between two pages.
const LIFETIME_SECONDS: u32 = 3600;

/// Digest of a caller and a query, which identifies the pages of a walk.
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

/// A page of a query.
#[derive(Debug)]
pub struct NumberedPage {
    pub key: CursorKey,
    /// `None` for a request without page number: it reads from the head and stores no cursor.
    pub number: Option<u64>,
}

/// The cursor of a page, as far as it was read before the caller was known.
#[derive(Debug)]
pub enum StoredStart {
    /// Not read, because the page was expected to be the first or near, or has no number.
    Unread,
    /// `None` if there is none.
    Read(Option<PageCursor>),
}

/// Start of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageCursor {
    /// Starts after this sort key; at the start of the list if absent.
    pub after: Option<String>,
    /// Ends before this sort key, because everything from there was already shown.
    pub before: Option<String>,
    /// Sort key of the newest shown entry since the walk started at the head of the list.
    newest: Option<String>,
    /// Whether the walk started at an offset, so that earlier pages may be missing.
    from_offset: bool,
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
            from_offset: true,
            ..Self::default()
        }
    }

    /// The start of the next page of a list with the newest first. `shown` contains the first and last sort keys of
    /// this page; `is_full` states whether it has as many entries as requested. After a full page, the next one
    /// continues after the last key. After another, only entries are left that were added since: they sort before the
    /// newest shown one. `None` if that is unknown: the next page starts at its offset.
    pub fn next(self, shown: Option<(&str, &str)>, is_full: bool) -> Option<Self> {
        // The first page of a walk shows the newest entry, unless the walk started at an offset.
        let newest = self.newest.or_else(|| {
            shown
                .filter(|_| !self.from_offset)
                .map(|(first, _)| first.to_owned())
        });
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
    /// character is replaced by the one before it and `~`, which sorts after all digits. Before `50` is `5/~`.
    pub fn through(&self) -> Option<String> {
        let mut through = self.before.clone()?;
        let last = through.pop()?;
        through.extend([char::from_u32(u32::from(last) - 1)?, '~']);
        Some(through)
    }

    /// Whether both have the same bounds.
    pub fn has_bounds_of(&self, other: &Self) -> bool {
        (&self.after, &self.before) == (&other.after, &other.before)
    }

    /// Whether it contains a position. No page starts at the head of a list because of a stored cursor, so a stored one
    /// without position marks an unknown start.
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
            .chain(self.from_offset.then(|| ("partial".to_owned(), n(1))))
            .collect()
    }

    fn decode(item: &Item) -> Self {
        let text = |name: &str| item.get(name).and_then(|text| text.as_s().ok()).cloned();
        Self {
            after: text("after"),
            before: text("before"),
            newest: text("newest"),
            from_offset: item.contains_key("partial"),
        }
    }
}

impl Reader {
    /// The start that this process expects of a page after `skipped` records: the head of the list, or a cached cursor. `None` if
    /// it knows none.
    pub(crate) fn expected_start(&self, page: &NumberedPage, skipped: u64) -> Option<PageCursor> {
        if skipped == 0 {
            return Some(PageCursor::default());
        }
        self.hints.pages.get(&page.key.page(page.number?))
    }

    /// The stored start of a page that is expected to be after `skipped` records. One get; no call for the
    /// first page or without number.
    pub(crate) async fn stored_start(
        &self,
        page: &NumberedPage,
        skipped: u64,
    ) -> Result<StoredStart, StoreError> {
        match page.number {
            Some(number) if skipped > 0 => self.page_cursor(&page.key, number).await.map(StoredStart::Read),
            _ => Ok(StoredStart::Unread),
        }
    }

    /// The start of a page after `skipped` records, and the number of records to skip from there: none after a stored
    /// start. No call unless the page was expected to be the first and is not; then one get.
    pub(crate) async fn start_of_page(
        &self,
        page: &NumberedPage,
        stored: StoredStart,
        skipped: u64,
    ) -> Result<(PageCursor, u64), StoreError> {
        if skipped == 0 {
            // The first page starts at the head, even if its number has a stored cursor.
            return Ok((PageCursor::default(), 0));
        }
        let stored = match (stored, page.number) {
            (StoredStart::Read(cursor), _) => cursor,
            (StoredStart::Unread, Some(number)) => self.page_cursor(&page.key, number).await?,
            (StoredStart::Unread, None) => None,
        };
        // Without a cursor, as after a pause of an hour, the page starts at its offset.
        Ok(stored.map_or((PageCursor::at_offset(None), skipped), |cursor| (cursor, 0)))
    }

    /// Start of a page; `None` if the previous page was not read within the hour or its end is unknown. One get.
    async fn page_cursor(&self, key: &CursorKey, page: u64) -> Result<Option<PageCursor>, StoreError> {
        let Some(item) = self.table.get(&self.keys().page_cursor(&key.0, page)).await? else {
            return Ok(None);
        };
        // DynamoDB deletes expired items within days, not at once.
        let now = u64::try_from(self.environment.now().unix_seconds()).unwrap_or(0);
        let is_valid = item::number("page cursor", &item, "ttl")? > now;
        let cursor = PageCursor::decode(&item);
        Ok((is_valid && cursor.is_known()).then_some(cursor))
    }
}

impl Writer {
    /// Stores `cursor` as the start of the page after this one, also in the process's cache. `first` is the number of the
    /// first page. A cursor of `None` replaces an earlier one, so the next page starts at its offset. One put; no call
    /// without number.
    pub(crate) async fn end_page(
        &self,
        NumberedPage { key, number }: &NumberedPage,
        first: u64,
        cursor: Option<PageCursor>,
    ) -> Result<(), StoreError> {
        let Some(number) = number else {
            return Ok(());
        };
        // With base 1, page 0 is also the first page, and page 2 follows it (C-40).
        let page = first.max(*number).saturating_add(1);
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
    fn what_began_at_an_offset_ends_without_a_cursor() {
        let second = PageCursor::at_offset(None)
            .next(Some(("50", "59")), true)
            .unwrap();
        assert_eq!(PageCursor::decode(&second.encode()), second);
        assert_eq!(second.next(Some(("60", "63")), false), None);
        assert_eq!(PageCursor::default().next(None, false), None);
    }
}
