//! A page of one column.
//!
//! A page continues at the end of the previous page (C-42), which is stored in a page cursor. The process also caches
//! the cursor, so the page can be read in parallel with it. A page requested without the previous one is an offset. The
//! daily counts locate it if skipping would cost more.

use super::asked::Asked;
use super::days::RangeDays;
use super::hit::HitSum;
use super::lists::VisibleLists;
use super::locate::Offset;
use super::plan::{ListPart, QueryPlan};
use super::rank::DayStart;
use super::request::BoardRequest;
use super::search::ScanSize;
use super::start::{PrefetchedBoard, PrefetchedColumn, PrefetchedEntries};
use super::totals::Totals;
use super::walk::{BoardScan, Bounds, Entry};
use crate::ids::ColumnId;
use crate::opportunity::TimeRange;
use crate::store::budget::ReadBudget;
use crate::store::key::BoardList;
use crate::store::leads::stale_markers::StaleMarkers;
use crate::store::lists::{FAR, NumberedPage, PageCursor, StoredStart};
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::opportunities::fresh::Fresh;
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{Reader, Writer};
use table::{KeyRange, StoreError};

impl Reader {
    /// Prefetches the stored cursor of a later page. In parallel, reads the entries from the expected start on, if a
    /// caller with the hint needs a single list without further filters. A get and a query.
    pub(crate) async fn begin_column(
        &self,
        request: &BoardRequest,
        column: ColumnId,
        hint: &PrefetchHint,
        visible: Option<&VisibleLists>,
    ) -> Result<PrefetchedColumn, StoreError> {
        let page = request.numbered(&self.caller);
        let skipped = hint.skipped(Some(request.page), request.limit);
        let only_list = visible.and_then(|visible| visible.only_list(request, column));
        let list = async {
            match (only_list, self.expected_start(&page, skipped)) {
                (Some(list), Some(cursor)) if !request.filtered => self
                    .prefetch_list(list, &cursor, usize::from(request.limit))
                    .await
                    .map(Some),
                _ => Ok(None),
            }
        };
        let (stored, list) = tokio::try_join!(self.stored_start(&page, skipped), list)?;
        Ok(PrefetchedColumn { stored, list })
    }

    /// Reads `limit` entries of a list from a cursor on. One query.
    async fn prefetch_list(
        &self,
        list: BoardList,
        cursor: &PageCursor,
        limit: usize,
    ) -> Result<PrefetchedEntries, StoreError> {
        let range = Bounds::new(cursor, &TimeRange::default()).span(self, list);
        let page = self
            .table
            .query(KeyRange {
                limit,
                ..range.clone()
            })
            .await?;
        Ok(PrefetchedEntries { range, page })
    }

    /// The totals that the page needs, and the place of `far_offset` if daily counts can locate it. The totals are
    /// empty if nothing needs them: they plan a merge of lists, compare a search with a scan, and show that an offset
    /// is beyond the end.
    async fn counts_for(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        prefetched: Option<Totals>,
        far_offset: Option<u64>,
    ) -> Result<(Totals, Offset), StoreError> {
        let prefetched = prefetched.filter(|totals| totals.serve(&asked.sight));
        // Daily counts cannot apply filters that need the records.
        if let Some(offset) = far_offset
            && !asked.filter.needs_records()
            && let Some(days) = RangeDays::to_locate(&asked.filter.created)
        {
            return self
                .totals_and_offset(asked, column, prefetched, (&days, offset))
                .await;
        }
        let needs_totals = far_offset.is_some() || asked.sight.lists() > 1 || asked.request.searched;
        let totals = match prefetched {
            Some(totals) => totals,
            None if needs_totals => {
                self.board_totals(asked.request, Some(column), &asked.sight)
                    .await?
            }
            None => Totals::default(),
        };
        Ok((totals, Offset::Unknown))
    }
}

impl Writer {
    /// The page, with current leads. Reads the hits of a search if that costs less than the lists, otherwise the lists
    /// from the cursor, the located offset, or the start of the column. `access` contains the viewer's actual
    /// permissions and page base.
    pub(crate) async fn finish_column(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        access: &PrefetchHint,
        start: PrefetchedBoard,
    ) -> Result<Vec<OpportunitySnapshot>, StoreError> {
        let (request, markers) = (asked.request, start.markers);
        let (stored, prefetched_list) = start
            .column
            .map_or((StoredStart::Unread, None), |column| (column.stored, column.list));
        let number = request.numbered(&self.reader.caller);
        let skipped = access.skipped(Some(request.page), request.limit);
        let (cursor, skip) = self.reader.start_of_page(&number, stored, skipped).await?;
        let is_far = skip >= FAR;
        let counts = self
            .reader
            .counts_for(asked, column, start.totals, is_far.then_some(skip));
        let ((totals, offset), fresh) =
            tokio::try_join!(ReadBudget::in_time(counts), self.fresh(asked, &markers))?;
        if is_far && skip >= totals.most(asked, column) {
            return Ok(Vec::new());
        }
        let (cursor, skip) = match offset {
            Offset::Unknown => (cursor, skip),
            Offset::At(DayStart { after, skip }) => (PageCursor::at_offset(Some(after)), skip),
            Offset::Beyond => return Ok(Vec::new()),
        };
        let bounds = Bounds::new(&cursor, &asked.filter.created);
        let size = ScanSize {
            entries: totals.most(asked, column),
            needed: Some(skip.saturating_add(request.limit.into())),
        };
        let found = self.page_of_hits(asked, &fresh, size, (&bounds, skip));
        let (page, reached) = if let Some(page) = ReadBudget::in_time(found).await? {
            (page, None)
        } else {
            let from = (bounds, skip, prefetched_list);
            self.page_of_lists(asked, &fresh, (column, &totals), from).await?
        };
        let next_cursor = next_cursor(cursor, &page, (request.limit, reached));
        self.finish_column_page((&number, access), &markers, page, next_cursor)
            .await
    }

    /// The page from the lists: what is within `bounds`, without the first `skip`. Of a search that could not read all
    /// that it needed, also the sort key of the last entry that it looked at.
    async fn page_of_lists(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        (column, totals): (ColumnId, &Totals),
        (bounds, skip, prefetched): (Bounds, u64, Option<PrefetchedEntries>),
    ) -> Result<(Vec<Entry>, Option<String>), StoreError> {
        let request = asked.request;
        let plan = match asked.sight.only_list(request, column) {
            Some(list) => QueryPlan::Merge(vec![ListPart { list, share: 1.0 }]),
            None => asked.sight.plan(request, column, totals),
        };
        let mut scan = BoardScan::new(&self.reader, asked, fresh, plan, &bounds);
        if let Some(list) = prefetched {
            scan.begin_with(&list.range, list.page)?;
        }
        let page = ReadBudget::in_time(scan.page(skip, usize::from(request.limit))).await?;
        let reached = scan.reached().filter(|_| asked.budget.is_partial());
        Ok((page, reached.map(str::to_owned)))
    }

    /// The page of a search: the hits within `bounds` without the first `skip`. `None` if there is no search or the lists
    /// must be read.
    async fn page_of_hits(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        size: ScanSize,
        (bounds, skip): (&Bounds, u64),
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let shown = skip.saturating_add(asked.request.limit.into());
        let sums = self.sums_of_search(asked, fresh, size, (bounds, shown)).await?;
        // `admitted` omits the hits of other columns, so there is at most one sum.
        let hits = sums.map(|sums| sums.into_values().flat_map(HitSum::newest));
        Ok(hits.map(|hits| hits.skip(skip).collect()))
    }

    /// For a search by lead, the leads with stale copies, because it compares the copy in every record. Otherwise none.
    pub(crate) async fn fresh(&self, asked: &Asked<'_>, markers: &StaleMarkers) -> Result<Fresh, StoreError> {
        if asked.compares_leads() {
            return asked
                .budget
                .or_end(self.reader.fresh_leads(markers, &asked.budget).await);
        }
        Ok(Fresh::default())
    }

    /// The opportunities of a page, with current leads. Stores the cursor of the next page concurrently.
    async fn finish_column_page(
        &self,
        (number, access): (&NumberedPage, &PrefetchHint),
        markers: &StaleMarkers,
        page: Vec<Entry>,
        next_cursor: Option<PageCursor>,
    ) -> Result<Vec<OpportunitySnapshot>, StoreError> {
        let mut cards: Vec<_> = page.into_iter().map(|entry| *entry.card).collect();
        let put_cursor = self.end_page(number, access.page_base, next_cursor);
        let mut borrowed: Vec<_> = cards.iter_mut().collect();
        tokio::try_join!(self.reader.refresh_snapshots(markers, &mut borrowed), put_cursor)?;
        Ok(cards)
    }
}

/// The start of the page after one that began at `cursor`. After a page that the budget ended, that of the entries after
/// the last one `reached`.
fn next_cursor(
    cursor: PageCursor,
    page: &[Entry],
    (limit, reached): (u16, Option<String>),
) -> Option<PageCursor> {
    let first = page.first().map(|entry| entry.place.as_str());
    let last = page.last().map(|entry| entry.place.as_str());
    match reached.as_deref() {
        Some(reached) => cursor.next(Some((first.unwrap_or(reached), reached)), true),
        None => cursor.next(first.zip(last), page.len() == usize::from(limit)),
    }
}
