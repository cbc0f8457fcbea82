//! Lists of tickets, files (C-62), users, funnels, tags and loss reasons. A request without `limit` reads the whole list
//! up to the maximum response; a request with `limit` reads a page of it.

use super::cursor::{CursorKey, NumberedPage, PageCursor, StoredStart};
use super::scan::ListScan;
use crate::store::budget::ReadBudget;
use crate::store::key::Keys;
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{Reader, Writer};
use crate::viewer::Viewer;
use table::item::{self, Item};
use table::{KeyRange, ListEntry, MAX_AHEAD, MergeScan, PAGE, StoreError};

/// Reads of a list without `limit` stop after this number of bytes: more than the 5 MB of a response, so that a longer
/// list is refused and not cut.
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
    /// Number of records before the page. Without a limit everything is on the first page.
    pub(crate) fn skipped(&self, access: &PrefetchHint) -> u64 {
        match self.limit {
            Some(limit) => access.skipped(self.page, limit),
            None if access.skipped(self.page, 1) == 0 => 0,
            None => u64::MAX,
        }
    }

    /// The records of the page, out of `all`.
    pub(crate) fn cut<T>(&self, viewer: &Viewer, all: Vec<T>) -> impl Iterator<Item = T> {
        let skipped = self.skipped(&PrefetchHint::of(viewer));
        let limit = self.limit.map_or(all.len(), usize::from);
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        all.into_iter().skip(skipped).take(limit)
    }
}

/// A kind of record in lists.
pub trait Listed: Sized {
    /// Selects the list and its filter.
    type Of: Copy;
    /// Whether new records come first. Otherwise they may be anywhere.
    const NEWEST_FIRST: bool = false;

    /// The list's partition.
    fn partition(keys: Keys<'_>, of: Self::Of) -> String;

    /// Decodes an item of the list.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it is unreadable.
    fn read(item: Item) -> Result<Self, StoreError>;

    /// The name of the filter by [`is_admitted`](Self::is_admitted), which distinguishes the cursors of its pages.
    fn filter_name(_of: Self::Of) -> Option<&'static str> {
        None
    }

    /// Whether the filter admits the record.
    fn is_admitted(&self, _of: Self::Of, _viewer: &Viewer) -> bool {
        true
    }
}

/// A record of a list, with the size of its item.
#[derive(Debug)]
struct Entry<T> {
    record: T,
    bytes: usize,
}

impl<T: Listed> ListEntry for Entry<T> {
    type Version = ();

    fn read(item: Item) -> Result<Self, StoreError> {
        let bytes = item::bytes(&item);
        let record = T::read(item)?;
        Ok(Self { record, bytes })
    }

    fn version(&self) {}
}

/// Prefetched reads of a list.
#[derive(Debug)]
pub struct List<T: Listed> {
    of: T::Of,
    request: ListRequest,
    page: NumberedPage,
    stored: StoredStart,
    /// The first records from the expected start of the page on, with that start.
    early: Option<(PageCursor, MergeScan<Entry<T>>)>,
}

impl<T: Listed> List<T> {
    /// The prefetched records.
    pub(in crate::store) fn early(&self) -> impl Iterator<Item = &T> {
        let lists = self.early.iter().flat_map(|(_, list)| list.buffered());
        lists.map(|entry| &entry.record)
    }
}

impl Reader {
    /// Prefetches the start of a page: one query of at most 50 records, concurrently with the cursor of a later page.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_list<T: Listed>(
        &self,
        of: T::Of,
        request: &ListRequest,
    ) -> Result<List<T>, StoreError> {
        let skipped = request.skipped(&self.hints.of(&self.caller.credentials));
        let page = self.numbered_page::<T>(of, request);
        let early = async {
            let Some(start) = self.expected_start(&page, skipped) else {
                return Ok(None);
            };
            let mut list = self.list_from::<T>(of, &start);
            let limit = request.limit.map_or(MAX_AHEAD, usize::from).min(MAX_AHEAD);
            list.fill(|_| limit, |range| self.table.query(range)).await?;
            Ok(Some((start, list)))
        };
        let (stored, early) = tokio::try_join!(self.stored_start(&page, skipped), early)?;
        Ok(List {
            of,
            request: request.clone(),
            page,
            stored,
            early,
        })
    }

    /// The requested page. Pages of another limit are another walk.
    fn numbered_page<T: Listed>(&self, of: T::Of, request: &ListRequest) -> NumberedPage {
        let limit = request.limit.unwrap_or_default();
        let mut query = format!("{} {limit}", T::partition(self.keys(), of));
        if let Some(filter) = T::filter_name(of) {
            query.extend([" ", filter]);
        }
        NumberedPage {
            key: CursorKey::new(&self.caller, &query),
            // Page 0 is the first in both bases (C-40). Without a limit there is no next page.
            number: request.limit.map(|_| request.page.unwrap_or(0)),
        }
    }

    /// The list from the start of a page on, as a merge of one list, which [`ListScan`] reads.
    fn list_from<T: Listed>(&self, of: T::Of, start: &PageCursor) -> MergeScan<Entry<T>> {
        let range = KeyRange {
            after: start.after.clone(),
            through: start.through(),
            ..KeyRange::whole(T::partition(self.keys(), of))
        };
        MergeScan::new([range], 1)
    }

    /// The prefetched list if it was read from this start on, else the unread list.
    fn early_or_anew<T: Listed>(
        &self,
        of: T::Of,
        early: Option<(PageCursor, MergeScan<Entry<T>>)>,
        start: &PageCursor,
    ) -> MergeScan<Entry<T>> {
        let early = early.filter(|(expected, _)| expected.has_bounds_of(start));
        early.map_or_else(|| self.list_from(of, start), |(_, list)| list)
    }
}

impl Writer {
    /// The readable records of the page that the viewer sees. Without `limit` all records up to [`MAX_BYTES`], with a
    /// query per MB of those that were not prefetched. With `limit` queries of the others within the read budget, and a
    /// put of the cursor of the next page.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] if a distant page or a filter needs more than the read budget; [`StoreError`] if they
    /// cannot be read.
    pub async fn finish_list<T: Listed>(&self, viewer: &Viewer, list: List<T>) -> Result<Vec<T>, StoreError> {
        let access = self.cache_access(viewer);
        let (of, offset) = (list.of, list.request.skipped(&access));
        let admit = |entry: Entry<T>| entry.record.is_admitted(of, viewer).then_some(entry.record);
        let Some(limit) = list.request.limit.map(usize::from) else {
            let entries = match offset {
                0 => self.whole_list(list).await?,
                _ => Vec::new(),
            };
            return Ok(entries.into_iter().filter_map(admit).collect());
        };
        let (start, mut skip) = self.reader.start_of_page(&list.page, list.stored, offset).await?;
        let entries = self.reader.early_or_anew(of, list.early, &start);
        let budget = ReadBudget::of(viewer);
        // A filter may admit few records.
        let least = T::filter_name(of).map_or(1, |_| MAX_AHEAD);
        let mut scan = ListScan::new((&self.reader, &budget), entries).with_first_read_of(least);
        let page = ReadBudget::in_time(scan.page(&mut skip, limit, admit)).await?;
        let keys = page.first().zip(page.last());
        let shown = keys.map(|((first, _), (last, _))| (first.as_str(), last.as_str()));
        let next = if T::NEWEST_FIRST {
            start.next(shown, page.len() == limit)
        } else {
            // After the last record. An empty page keeps the position.
            let after = shown.map(|(_, last)| last.to_owned()).or(start.after);
            after.map(|after| PageCursor::after(Some(after)))
        };
        self.end_page(&list.page, access.page_base, next).await?;
        Ok(page.into_iter().map(|(_, record)| record).collect())
    }

    /// All entries, up to [`MAX_BYTES`]. Each query reads 1 MB.
    async fn whole_list<T: Listed>(&self, list: List<T>) -> Result<Vec<Entry<T>>, StoreError> {
        let start = PageCursor::default();
        let mut rest: MergeScan<Entry<T>> = self.reader.early_or_anew(list.of, list.early, &start);
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while bytes <= MAX_BYTES && rest.has_more() {
            let table = &self.reader.table;
            rest.fill(|_| PAGE, |range| table.query_megabyte(range)).await?;
            while let Some((_, entry)) = rest.next() {
                bytes += entry.bytes;
                entries.push(entry);
            }
        }
        Ok(entries)
    }
}
