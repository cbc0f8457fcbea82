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
use table::{KeyRange, PAGE, Page, key_of};

/// Maximum entries that are read before authentication (C-86).
const MAX_EARLY: usize = 50;
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

    fn walk(&self, caller: &CallerId, list: &PagedList) -> CursorKey {
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
    bookmark: Option<PageCursor>,
    early: Option<(PageCursor, Page)>,
}

impl PrefetchedList {
    /// The same list with a filter that depends on the viewer. It has the name of the filter that it replaces.
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
        let walk = request.walk(&self.caller, &list);
        let guess = self.hints.of(&self.caller.credentials);
        let begins = if request.skipped(&guess) == 0 {
            Some(PageCursor::default())
        } else {
            request
                .page
                .and_then(|page| self.hints.pages.get(&walk.page(page)))
        };
        let bookmark = async {
            match (request.page, request.limit) {
                (Some(page @ 1..), Some(_)) => self.bookmark(&walk, page).await,
                _ => Ok(None),
            }
        };
        let early = async {
            let Some(begins) = begins else { return Ok(None) };
            let limit = request.limit.map_or(MAX_EARLY, usize::from).min(MAX_EARLY);
            let page = self.table.query(span(&list, &begins, limit)).await?;
            Ok::<_, StoreError>(Some((begins, page)))
        };
        let (bookmark, early) = tokio::try_join!(bookmark, early)?;
        Ok(PrefetchedList {
            list,
            bookmark,
            early,
        })
    }
}

impl Writer {
    /// The entries of the page, including prefetched ones. Without `limit`, the first page is the whole list and later
    /// pages are empty. With `limit`, stores the cursor at which the next page starts. Caches the caller's settings, from
    /// which the prefetch of its next request guesses.
    pub(crate) async fn finish_list(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        start: PrefetchedList,
        growth: Growth,
    ) -> Result<Vec<Item>, StoreError> {
        let truth = PrefetchHint::truth(viewer);
        self.reader
            .hints
            .learn(&self.reader.caller.credentials, truth.clone());
        let skipped = request.skipped(&truth);
        let Some(limit) = request.limit.map(usize::from) else {
            return match skipped {
                0 => self.whole_list(start).await,
                _ => Ok(Vec::new()),
            };
        };
        // Start of the page, and the number of entries to skip from there.
        let (begins, skip) = match &start.bookmark {
            // The first page starts at the head, even if its number has a stored cursor.
            _ if skipped == 0 => (PageCursor::default(), 0),
            Some(begins) => (begins.clone(), 0),
            // No cursor: the previous pages of this walk were not requested.
            None => (PageCursor::at_offset(None), skipped),
        };
        let walk = request.walk(&self.reader.caller, &start.list);
        let budget = ReadBudget::of(viewer);
        let mut list = PageReader::new(start, begins.clone());
        let page = ReadBudget::in_time(list.page(&self.reader, &budget, skip, limit)).await?;
        let keys = page.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        let ends = keys.first().zip(keys.last());
        let ends = ends.map(|(first, last)| (first.sk.as_str(), last.sk.as_str()));
        // With page base 1, page 0 is the first page too.
        let next = request.page.unwrap_or(0).max(truth.page_base).saturating_add(1);
        // `None` if unknown: the next page uses an offset.
        let next_begins = match growth {
            // After the last page, only entries that were added at the front since.
            Growth::Front => begins.next(ends, page.len() == limit),
            // After the last entry. An empty page keeps the position.
            Growth::Anywhere => {
                let after = ends.map(|(_, last)| last.to_owned()).or(begins.after);
                after.map(|after| PageCursor::after(Some(after)))
            }
        };
        self.put_bookmark(&walk, next, next_begins).await?;
        Ok(page)
    }

    /// All entries, up to [`MAX_BYTES`].
    async fn whole_list(&self, start: PrefetchedList) -> Result<Vec<Item>, StoreError> {
        let mut rest = PageReader::new(start, PageCursor::default());
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

fn span(list: &PagedList, begins: &PageCursor, limit: usize) -> KeyRange {
    KeyRange {
        partition: list.partition.clone(),
        after: begins.after.clone(),
        through: begins.through(),
        limit,
    }
}

/// The unread rest of a list.
struct PageReader {
    list: PagedList,
    begins: PageCursor,
    early: Option<Page>,
    more: bool,
}

impl PageReader {
    fn new(start: PrefetchedList, begins: PageCursor) -> Self {
        let early = start.early.filter(|(guess, _)| *guess == begins);
        Self {
            list: start.list,
            begins,
            early: early.map(|(_, page)| page),
            more: true,
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
        // A filter may pass few entries, so the size of queries doubles.
        let mut least = self.list.filter.as_ref().map_or(0, |_| MAX_EARLY);
        while page.len() < limit {
            let sought = usize::try_from(skip).unwrap_or(PAGE);
            let sought = sought.saturating_add(limit - page.len()).max(least);
            least = (2 * least).min(PAGE);
            let Some(read) = self.read(reader, Some(budget), sought).await? else {
                break;
            };
            let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(read.len());
            skip -= skipped as u64;
            let room = limit - page.len();
            page.extend(read.into_iter().skip(skipped).take(room));
        }
        Ok(page)
    }

    /// The entries of the next read that pass the filter, possibly none; `None` at the end of the list.
    async fn read(
        &mut self,
        reader: &Reader,
        budget: Option<&ReadBudget>,
        limit: usize,
    ) -> Result<Option<Vec<Item>>, StoreError> {
        if !self.more {
            return Ok(None);
        }
        let mut page = match (self.early.take(), budget) {
            (Some(early), _) => early,
            (None, Some(budget)) => {
                let span = span(&self.list, &self.begins, limit);
                budget.query(&reader.table, span).await?
            }
            (None, None) => {
                let span = span(&self.list, &self.begins, limit);
                reader.table.query_megabyte(span).await?
            }
        };
        self.more = page.more;
        if let Some(last) = page.items.last() {
            self.begins.after = Some(key_of(last)?.sk);
        }
        if let Some(EntryFilter { admits, .. }) = &self.list.filter {
            page.items.retain(|item| admits(item));
        }
        Ok(Some(page.items))
    }
}
