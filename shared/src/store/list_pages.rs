//! Pages of tickets, files (C-62), users, funnels, tags and loss reasons. A request without `limit` reads the whole
//! list up to the maximum response. A request with `limit` continues at the end of the previous page. A page without a
//! cursor is an offset, read within the instance's read budget.
//!
//! The start of a page is prefetched in parallel with authentication; the rest is read after it.

use std::fmt;
use std::sync::Arc;

use crate::store::budget::ReadBudget;
use crate::store::page_cursor::{CursorKey, PageCursor};
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{CallerId, Reader, Writer};
use crate::viewer::Viewer;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, MAX_AHEAD, PAGE, Page, key_of};

/// Reads of a list without `limit` stop after this number of bytes. A response above 5 MB is refused.
pub const MAX_BYTES: usize = 6 * 1024 * 1024;

/// The requested page of a list.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// Number of the page, in the page base of the instance [default: the first].
    pub page: Option<u64>,
    /// Records of a page [default: the first page has all].
    pub limit: Option<u16>,
}

impl ListRequest {
    /// Number of records before the page.
    pub(crate) fn skipped(&self, caller: &PrefetchHint) -> u64 {
        // Without a limit everything is on the first page.
        caller.skipped(self.page, self.limit.unwrap_or(u16::MAX))
    }

    /// The key of the cursors of this request's pages.
    fn cursor_key(&self, caller: &CallerId, list: &PagedList) -> CursorKey {
        let (partition, limit) = (&list.partition, self.limit.unwrap_or_default());
        match &list.filter {
            None => CursorKey::new(caller, &format!("{partition} {limit}")),
            Some(EntryFilter { name, .. }) => CursorKey::new(caller, &format!("{partition} {limit} {name}")),
        }
    }
}

/// A list, and the filter of its entries.
#[derive(Debug, Clone)]
pub(crate) struct PagedList {
    partition: String,
    filter: Option<EntryFilter>,
}

/// A filter of a list's entries.
#[derive(Clone)]
pub(crate) struct EntryFilter {
    /// Distinguishes the cursors of pages under the filter.
    pub name: &'static str,
    /// Whether an entry passes.
    pub admits: Arc<dyn Fn(&Item) -> bool + Send + Sync>,
}

impl fmt::Debug for EntryFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl From<String> for PagedList {
    fn from(partition: String) -> Self {
        Self {
            partition,
            filter: None,
        }
    }
}

impl PagedList {
    /// The list with a filter.
    pub fn filtered(self, filter: EntryFilter) -> Self {
        Self {
            filter: Some(filter),
            ..self
        }
    }
}

/// Prefetched reads of a list.
#[derive(Debug)]
pub struct PrefetchedList {
    list: PagedList,
    /// The stored cursor of the page.
    cursor: Option<PageCursor>,
    /// The first entries after the expected cursor of the page, with that cursor.
    early: Option<(PageCursor, Page)>,
}

impl PrefetchedList {
    /// The same list with a filter that depends on the viewer. The filter must have the name of the one that it
    /// replaces, because the name is part of the cursor's key.
    pub(super) fn filtered(mut self, filter: EntryFilter) -> Self {
        self.list.filter = Some(filter);
        self
    }

    /// The entries that were read.
    pub(super) fn early(&self) -> &[Item] {
        self.early.as_ref().map_or(&[], |(_, page)| &page.items)
    }
}

/// The position of new entries in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// At the front: the newest come first.
    Front,
    /// Anywhere.
    Anywhere,
}

impl Reader {
    /// Prefetches the start of a page. At most two calls, in parallel.
    pub(crate) async fn begin_list(
        &self,
        list: impl Into<PagedList>,
        request: &ListRequest,
    ) -> Result<PrefetchedList, StoreError> {
        let list = list.into();
        let key = request.cursor_key(&self.caller, &list);
        let hint = self.hints.of(&self.caller.credentials);
        let expected = if request.skipped(&hint) == 0 {
            Some(PageCursor::default())
        } else {
            let page = request.page;
            page.and_then(|page| self.hints.pages.get(&key.page(page)))
        };
        let cursor = async {
            match (request.page, request.limit) {
                (Some(page @ 1..), Some(_)) => self.page_cursor(&key, page).await,
                _ => Ok(None),
            }
        };
        let early = async {
            let Some(expected) = expected else {
                return Ok(None);
            };
            let limit = request.limit.map_or(MAX_AHEAD, usize::from).min(MAX_AHEAD);
            let page = self.table.query(range_after(&list, &expected, limit)).await?;
            Ok::<_, StoreError>(Some((expected, page)))
        };
        let (cursor, early) = tokio::try_join!(cursor, early)?;
        Ok(PrefetchedList { list, cursor, early })
    }
}

impl Writer {
    /// The entries of the page, including prefetched ones. Without `limit`, the first page is the whole list and later
    /// pages are empty. With `limit`, stores the cursor at which the next page starts. Caches the caller's permissions
    /// and settings for the prefetch of its next request.
    pub(crate) async fn finish_list(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        prefetched: PrefetchedList,
        growth: Growth,
    ) -> Result<Vec<Item>, StoreError> {
        let truth = PrefetchHint::of(viewer);
        self.reader
            .hints
            .cache_caller(&self.reader.caller.credentials, truth.clone());
        let offset = request.skipped(&truth);
        let Some(limit) = request.limit.map(usize::from) else {
            return match offset {
                0 => self.whole_list(prefetched).await,
                _ => Ok(Vec::new()),
            };
        };
        // Start of the page, and the number of entries to skip from there.
        let (cursor, skip) = match &prefetched.cursor {
            // The first page starts at the head, even if its number has a stored cursor.
            _ if offset == 0 => (PageCursor::default(), 0),
            Some(cursor) => (cursor.clone(), 0),
            // The previous page was not requested within the hour.
            None => (PageCursor::at_offset(None), offset),
        };
        let key = request.cursor_key(&self.reader.caller, &prefetched.list);
        let budget = ReadBudget::of(viewer);
        let mut list = PageReader::new(prefetched, cursor.clone());
        let page = ReadBudget::in_time(list.page(&self.reader, &budget, skip, limit)).await?;
        let keys = page.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        let first_and_last = keys.first().zip(keys.last());
        let shown = first_and_last.map(|(first, last)| (first.sk.as_str(), last.sk.as_str()));
        // With page base 1, page 0 is the first page too.
        let next = request.page.unwrap_or(0).max(truth.page_base).saturating_add(1);
        // `None` if unknown: the next page uses an offset.
        let next_cursor = match growth {
            // After the last page, only entries that were added at the front since.
            Growth::Front => cursor.next(shown, page.len() == limit),
            // After the last entry. An empty page keeps the position.
            Growth::Anywhere => {
                let after = shown.map(|(_, last)| last.to_owned()).or(cursor.after);
                after.map(|after| PageCursor::after(Some(after)))
            }
        };
        self.put_page_cursor(&key, next, next_cursor).await?;
        Ok(page)
    }

    /// All entries, up to [`MAX_BYTES`].
    async fn whole_list(&self, prefetched: PrefetchedList) -> Result<Vec<Item>, StoreError> {
        let mut rest = PageReader::new(prefetched, PageCursor::default());
        let (mut items, mut bytes) = (Vec::new(), 0);
        while bytes <= MAX_BYTES {
            let Some(page) = rest.read(&self.reader, None, PAGE).await? else {
                break;
            };
            bytes += page.iter().map(item::bytes).sum::<usize>();
            items.extend(page);
        }
        Ok(items)
    }
}

/// The range of at most `limit` entries of a list from a cursor on.
fn range_after(list: &PagedList, cursor: &PageCursor, limit: usize) -> KeyRange {
    KeyRange {
        partition: list.partition.clone(),
        after: cursor.after.clone(),
        through: cursor.through(),
        limit,
    }
}

/// The unread rest of a list.
struct PageReader {
    list: PagedList,
    /// The position after the last read entry.
    cursor: PageCursor,
    /// Prefetched entries that were not yet returned.
    early: Option<Page>,
    has_more: bool,
}

impl PageReader {
    /// Starts at a cursor. Prefetched entries after another cursor are dropped.
    fn new(prefetched: PrefetchedList, cursor: PageCursor) -> Self {
        let early = prefetched.early.filter(|(expected, _)| *expected == cursor);
        Self {
            list: prefetched.list,
            cursor,
            early: early.map(|(_, page)| page),
            has_more: true,
        }
    }

    /// The next `limit` entries, after the next `skip`, which are only counted.
    async fn page(
        &mut self,
        reader: &Reader,
        budget: &ReadBudget,
        mut skip: u64,
        limit: usize,
    ) -> Result<Vec<Item>, StoreError> {
        let mut page = Vec::with_capacity(limit);
        // A filter may pass few entries, so the minimum size of queries doubles.
        let mut min_size = self.list.filter.as_ref().map_or(0, |_| MAX_AHEAD);
        while page.len() < limit {
            let to_skip = usize::try_from(skip).unwrap_or(PAGE);
            let size = to_skip.saturating_add(limit - page.len()).max(min_size);
            min_size = (2 * min_size).min(PAGE);
            let Some(entries) = self.read(reader, Some(budget), size).await? else {
                break;
            };
            let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(entries.len());
            skip -= skipped as u64;
            let missing = limit - page.len();
            page.extend(entries.into_iter().skip(skipped).take(missing));
        }
        Ok(page)
    }

    /// The entries of the next read that pass the filter, possibly none; `None` at the end of the list. The first read
    /// returns the prefetched entries, if any. Without a budget, a query reads up to 1 MB.
    async fn read(
        &mut self,
        reader: &Reader,
        budget: Option<&ReadBudget>,
        limit: usize,
    ) -> Result<Option<Vec<Item>>, StoreError> {
        if !self.has_more {
            return Ok(None);
        }
        let mut page = match (self.early.take(), budget) {
            (Some(early), _) => early,
            (None, Some(budget)) => {
                let range = range_after(&self.list, &self.cursor, limit);
                budget.query(&reader.table, range).await?
            }
            (None, None) => {
                let range = range_after(&self.list, &self.cursor, limit);
                reader.table.query_megabyte(range).await?
            }
        };
        self.has_more = page.more;
        if let Some(last) = page.items.last() {
            self.cursor.after = Some(key_of(last)?.sk);
        }
        if let Some(EntryFilter { admits, .. }) = &self.list.filter {
            page.items.retain(|item| admits(item));
        }
        Ok(Some(page.items))
    }
}
