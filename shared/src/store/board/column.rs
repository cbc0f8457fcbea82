//! A page of one column.
//!
//! A page continues at the end of the previous page (C-42), which is stored in a page cursor. The process also caches
//! the cursor, so the page can be read in parallel with it. A page requested without the previous one is an offset. The
//! daily counts locate it if skipping would cost more.

use super::days::RangeDays;
use super::lists::{ListPart, QueryPlan, VisibleLists};
use super::locate::Offset;
use super::rank::Near;
use super::search::ScanSize;
use super::totals::Totals;
use super::walk::{BoardScan, Bounds, Entry};
use super::{Asked, BoardRequest, PrefetchedBoard};
use crate::ids::ColumnId;
use crate::opportunity::TimeRange;
use crate::store::budget::ReadBudget;
use crate::store::key::BoardList;
use crate::store::leads::stale_markers::StaleMarkers;
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::opportunities::fresh::Fresh;
use crate::store::page_cursor::PageCursor;
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{Reader, Writer};
use table::{KeyRange, Page, StoreError};

/// Number of entries from which skipping costs more than reading the daily counts.
const WORTH_RANKS: u64 = 500;

/// Prefetched reads of a column.
#[derive(Debug)]
pub struct PrefetchedColumn {
    /// Start of the page.
    bookmark: Option<PageCursor>,
    early: Option<Early>,
}

/// A prefetched list, from the likely start of the page.
#[derive(Debug)]
struct Early {
    range: KeyRange,
    page: Page,
}

impl Reader {
    pub(crate) async fn begin_column(
        &self,
        request: &BoardRequest,
        column: ColumnId,
        guess: &PrefetchHint,
        sight: Option<&VisibleLists>,
    ) -> Result<PrefetchedColumn, StoreError> {
        let walk = request.walk(&self.caller);
        let first = guess.skipped(Some(request.page), request.limit) == 0;
        let bookmark = async {
            // Whether page 1 is the first depends on a setting that is not known yet.
            match request.page {
                0 => Ok(None),
                page => self.bookmark(&walk, page).await,
            }
        };
        let begins = if first {
            Some(PageCursor::default())
        } else {
            self.hints.pages.get(&walk.page(request.page))
        };
        let list = sight.and_then(|sight| sight.only_list(request, column));
        let early = async {
            match (list, begins) {
                (Some(list), Some(begins)) if !request.filtered => self
                    .early(list, &begins, usize::from(request.limit))
                    .await
                    .map(Some),
                _ => Ok(None),
            }
        };
        let (bookmark, early) = tokio::try_join!(bookmark, early)?;
        Ok(PrefetchedColumn { bookmark, early })
    }

    async fn early(&self, list: BoardList, begins: &PageCursor, limit: usize) -> Result<Early, StoreError> {
        let range = Bounds::new(begins, &TimeRange::default()).span(self, list);
        let page = self
            .table
            .query(KeyRange {
                limit,
                ..range.clone()
            })
            .await?;
        Ok(Early { range, page })
    }

    /// The needed totals, and the place of an offset: if the column's lists are merged, or the offset is distant.
    async fn counts_for(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        read: Option<Totals>,
        far: Option<u64>,
    ) -> Result<(Totals, Offset), StoreError> {
        let read = read.filter(|totals| totals.serve(&asked.sight));
        // Daily counts cannot apply filters that need the records.
        if let Some(offset) = far
            && !asked.filter.needs_records()
            && let Some(days) = RangeDays::to_locate(&asked.filter.created)
        {
            return self.located(asked, column, read, (&days, offset)).await;
        }
        let totals = match read {
            None if far.is_some() || asked.sight.lists() > 1 || asked.request.searched => {
                self.board_totals(asked.request, Some(column), &asked.sight)
                    .await?
            }
            read => read.unwrap_or_default(),
        };
        Ok((totals, Offset::Unknown))
    }
}

impl Writer {
    pub(crate) async fn finish_column(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        truth: &PrefetchHint,
        start: PrefetchedBoard,
    ) -> Result<Vec<OpportunitySnapshot>, StoreError> {
        let (request, markers) = (asked.request, start.markers);
        let (bookmark, early) = start
            .column
            .map_or((None, None), |start| (start.bookmark, start.early));
        let skipped = truth.skipped(Some(request.page), request.limit);
        let far = bookmark.is_none() && skipped >= WORTH_RANKS;
        let counts = self
            .reader
            .counts_for(asked, column, start.totals, far.then_some(skipped));
        let ((totals, offset), fresh) =
            tokio::try_join!(ReadBudget::in_time(counts), self.fresh(asked, &markers))?;
        if far && skipped >= asked.most(column, &totals) {
            return Ok(Vec::new());
        }
        let (begins, skip) = match (bookmark, offset) {
            _ if skipped == 0 => (PageCursor::default(), 0),
            (Some(begins), _) => (begins, 0),
            (None, Offset::Unknown) => (PageCursor::at_offset(None), skipped),
            (None, Offset::At(Near { after, skip })) => (PageCursor::at_offset(Some(after)), skip),
            (None, Offset::Beyond) => return Ok(Vec::new()),
        };
        let bounds = Bounds::new(&begins, &asked.filter.created);
        let size = ScanSize {
            entries: asked.most(column, &totals),
            needed: Some(skipped.saturating_add(request.limit.into())),
        };
        if let Some(mut hits) = ReadBudget::in_time(self.search_hits(asked, &fresh, size)).await? {
            hits.retain(|hit| bounds.contain(&hit.place));
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            let page = hits.into_iter().skip(skip).take(request.limit.into());
            return self.shown(request, truth, &markers, page.collect(), begins).await;
        }
        let plan = match asked.sight.only_list(request, column) {
            Some(list) => QueryPlan::Merge(vec![ListPart { list, share: 1.0 }]),
            None => asked.sight.plan(request, column, &totals),
        };
        let mut walk = BoardScan::new(&self.reader, asked, &fresh, plan, &bounds);
        if let Some(early) = early {
            walk.begin_with(&early.range, early.page)?;
        }
        let page = ReadBudget::in_time(walk.page(skip, usize::from(request.limit))).await?;
        self.shown(request, truth, &markers, page, begins).await
    }

    /// For a search, the leads with stale copies, because it compares the copy in every record. Otherwise none.
    pub(crate) async fn fresh(&self, asked: &Asked<'_>, markers: &StaleMarkers) -> Result<Fresh, StoreError> {
        if asked.filter.search.is_some() {
            return self.reader.fresh_leads(markers, &asked.budget).await;
        }
        Ok(Fresh::default())
    }

    /// The opportunities of a page with current leads. Stores the cursor of the next page concurrently.
    async fn shown(
        &self,
        request: &BoardRequest,
        truth: &PrefetchHint,
        markers: &StaleMarkers,
        page: Vec<Entry>,
        begins: PageCursor,
    ) -> Result<Vec<OpportunitySnapshot>, StoreError> {
        let ends = page.first().zip(page.last());
        let ends = ends.map(|(first, last)| (first.place.as_str(), last.place.as_str()));
        let goes_on = begins.next(ends, page.len() == usize::from(request.limit));
        let mut cards: Vec<_> = page.into_iter().map(|entry| *entry.card).collect();
        // With base 1, page 0 is also the first page, and page 2 follows it (C-40).
        let next = request.page.max(truth.page_base).saturating_add(1);
        // If the cursor cannot be stored, the page fails. Otherwise the next page would start at the end of an earlier
        // read and silently skip records created since (C-42).
        let walk = request.walk(&self.reader.caller);
        let remember = self.put_bookmark(&walk, next, goes_on);
        let mut borrowed: Vec<_> = cards.iter_mut().collect();
        tokio::try_join!(self.reader.refresh_snapshots(markers, &mut borrowed), remember)?;
        Ok(cards)
    }
}
