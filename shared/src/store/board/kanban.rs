//! The board: every column of a funnel with its totals and its newest opportunities.
//!
//! If a request filters only by users, statuses and the archive, the counts come from the totals, and only the shown
//! opportunities of each column are read. In a column with many opportunities, daily counts cover a range of creation
//! dates. A search uses items of words if it has few hits. For other requests, every visible entry is read once and
//! counted, columns in parallel, within the instance's budget of units and time (C-86).

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::asked::Asked;
use super::days::RangeDays;
use super::hit::{HitSum, admitted};
use super::plan::QueryPlan;
use super::request::ColumnSnapshots;
use super::search::ScanSize;
use super::start::PrefetchedBoard;
use super::totals::{RestrictedTotal, Sum, Totals, TotalsSeen};
use super::walk::{BoardScan, Bounds, Entry};
use crate::funnel::{Column, Funnel};
use crate::store::Writer;
use crate::store::budget::ReadBudget;
use crate::store::key::BoardList;
use crate::store::lists::PageCursor;
use crate::store::opportunities::fresh::Fresh;
use table::Pages;
use table::StoreError;

/// Maximum columns, and lists of a column, that are read in parallel.
pub const CONCURRENCY: usize = 50;

impl Writer {
    /// All columns of the funnel in their order, with current leads.
    pub(crate) async fn finish_kanban(
        &self,
        asked: &Asked<'_>,
        start: PrefetchedBoard,
    ) -> Result<Vec<ColumnSnapshots>, StoreError> {
        let columns = start
            .funnel
            .as_ref()
            .map(Funnel::columns_in_order)
            .unwrap_or_default();
        let totals = async {
            match start.totals.filter(|totals| totals.serve(&asked.sight)) {
                Some(totals) => Ok(totals),
                None => self.reader.board_totals(asked.request, None, &asked.sight).await,
            }
        };
        let (totals, fresh) = tokio::try_join!(totals, self.fresh(asked, &start.markers))?;
        let size = ScanSize {
            entries: columns.iter().map(|column| totals.most(asked, column.id)).sum(),
            needed: None,
        };
        let read = async {
            let shown = (&Bounds::default(), asked.request.limit.into());
            if let Some(mut sums) = self.sums_of_search(asked, &fresh, size, shown).await? {
                let counted = columns.into_iter().map(|column| {
                    let sum = sums.remove(&column.id).unwrap_or_default();
                    counted_column(column, sum)
                });
                return Ok(counted.collect());
            }
            let columns = columns.into_iter();
            let reads: Vec<_> = columns
                .map(|column| self.column(asked, &fresh, column, &totals))
                .collect();
            stream::iter(reads)
                .buffered(CONCURRENCY)
                .try_collect::<Vec<_>>()
                .await
        };
        let mut board = ReadBudget::in_time(read).await?;
        let mut snapshots: Vec<_> = board.iter_mut().flat_map(|column| &mut column.cards).collect();
        self.reader
            .refresh_snapshots(&start.markers, &mut snapshots)
            .await?;
        Ok(board)
    }

    /// A column with its count, value and newest opportunities. The count comes from daily counts, from all entries
    /// if other filters need them, or from the totals.
    async fn column(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        column: &Column,
        totals: &Totals,
    ) -> Result<ColumnSnapshots, StoreError> {
        let plan = asked.sight.plan(asked.request, column.id, totals);
        if let Some(days) = self.reader.days_to_count(asked, column.id, (totals, &plan)) {
            return self
                .column_by_days(asked, fresh, column, totals, &plan, &days)
                .await;
        }
        if !asked.filter.is_empty() {
            return self.column_by_entries(asked, fresh, column, &plan).await;
        }
        self.column_by_totals(asked, fresh, column, totals, plan).await
    }

    /// A column whose count and value come from the totals. Reads its restricted totals only if the other totals do not
    /// determine the visible number.
    async fn column_by_totals(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        column: &Column,
        totals: &Totals,
        plan: QueryPlan,
    ) -> Result<ColumnSnapshots, StoreError> {
        let limit = usize::from(asked.request.limit);
        let TotalsSeen { mut sum, unclear } = totals.seen(asked, column.id);
        let mut unclear_sum = None;
        if sum.count == 0 && unclear > 0 {
            // The viewer may see nothing of the column, so the restricted totals are read before its list.
            unclear_sum = Some(self.unclear_sum(asked, column).await?);
        }
        if sum.count == 0 && unclear_sum.unwrap_or_default().count == 0 {
            return Ok(empty(column));
        }
        let mut scan = BoardScan::new(&self.reader, asked, fresh, plan, &Bounds::default());
        // A page that is not full contains all visible opportunities, and needs no totals.
        let may_be_full = usize::try_from(sum.count + unclear).unwrap_or_default() >= limit;
        let unclear_sum = async {
            match unclear_sum {
                Some(sum) => Ok(sum),
                None if unclear > 0 && may_be_full => self.unclear_sum(asked, column).await,
                None => Ok(Sum::default()),
            }
        };
        let (page, unclear_sum) = tokio::try_join!(scan.page(0, limit), unclear_sum)?;
        if page.len() < limit {
            return Ok(whole_column(column, page));
        }
        sum.add(unclear_sum);
        Ok(column_of(column, sum, page))
    }

    /// A column whose count and value come from daily counts and the parts of days.
    async fn column_by_days(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        column: &Column,
        totals: &Totals,
        plan: &QueryPlan,
        days: &RangeDays,
    ) -> Result<ColumnSnapshots, StoreError> {
        let limit = usize::from(asked.request.limit);
        let bounds = Bounds::new(&PageCursor::default(), &asked.filter.created);
        let mut scan = BoardScan::new(&self.reader, asked, fresh, plan.clone(), &bounds);
        let sum = self.reader.sum_of_days(asked, column.id, totals, plan, days);
        let (page, sum) = tokio::try_join!(scan.page(0, limit), sum)?;
        if page.len() < limit {
            // A page that is not full contains all requested opportunities.
            return Ok(whole_column(column, page));
        }
        Ok(column_of(column, sum, page))
    }

    /// The visible part of the restricted opportunities that [`Totals::seen`] leaves unclear. Reads the restricted
    /// totals of the column.
    pub(super) async fn unclear_sum(&self, asked: &Asked<'_>, column: &Column) -> Result<Sum, StoreError> {
        let restricted = self.reader.seen_restricted(asked, column.id).await?;
        let mut sum = Sum::default();
        for RestrictedTotal {
            class,
            sum: restricted,
        } in restricted
        {
            // Otherwise `Totals::seen` contains them.
            if asked.sight.is_of_all_users() || !asked.viewer.passes_restrictions(class.user) {
                sum.add(restricted);
            }
        }
        Ok(sum)
    }

    /// A column whose count and value come from the entries of the plan's lists in the range of creation dates. The lists
    /// contain each requested entry once, and are read in parallel.
    async fn column_by_entries(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        column: &Column,
        plan: &QueryPlan,
    ) -> Result<ColumnSnapshots, StoreError> {
        let lists = plan.read_whole().iter();
        let reads: Vec<_> = lists
            .map(|part| self.sum_of_list(asked, fresh, part.list))
            .collect();
        let sums: Vec<_> = stream::iter(reads)
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await?;
        let mut all = HitSum::new(asked.request.limit.into());
        for sum in sums {
            all.merge(sum);
        }
        Ok(counted_column(column, all))
    }

    /// Number, value and newest of a list's requested and visible entries. Reads the whole list, and for a search by
    /// lead the current leads of stale copies.
    async fn sum_of_list(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        list: BoardList,
    ) -> Result<HitSum, StoreError> {
        let bounds = Bounds::new(&PageCursor::default(), &asked.filter.created);
        let mut sum = HitSum::new(asked.request.limit.into());
        let mut pages = Pages::of(bounds.span(&self.reader, list));
        let read = |span| asked.budget.query(&self.reader.table, span);
        while let Some(page) = asked.budget.or_end(pages.next_with(read).await)? {
            let hits = admitted(&self.reader, asked, fresh, page.items).await;
            for hit in asked.budget.or_end(hits)? {
                sum.add(hit);
            }
        }
        Ok(sum)
    }
}

/// A column with this sum and the first page of its list. The count is at least the number of shown opportunities,
/// because sum and page are read concurrently.
fn column_of(column: &Column, sum: Sum, page: Vec<Entry>) -> ColumnSnapshots {
    ColumnSnapshots {
        count: u64::try_from(sum.count)
            .unwrap_or_default()
            .max(page.len() as u64),
        cents: sum.cents,
        cards: page.into_iter().map(|entry| *entry.card).collect(),
        ..empty(column)
    }
}

/// A column whose requested opportunities are all in the page. [`column_of`] raises the count to their number.
fn whole_column(column: &Column, page: Vec<Entry>) -> ColumnSnapshots {
    let cents = page
        .iter()
        .map(|entry| i128::from(entry.card.opportunity.value.get()));
    let cents = cents.sum();
    column_of(column, Sum { count: 0, cents }, page)
}

/// A column with the sum and the newest of its hits.
fn counted_column(column: &Column, sum: HitSum) -> ColumnSnapshots {
    let (count, cents) = (sum.count, sum.cents);
    ColumnSnapshots {
        column: column.clone(),
        count,
        cents,
        cards: sum.newest().map(|entry| *entry.card).collect(),
    }
}

/// The columns of a funnel in their order, without opportunities.
pub fn empty_columns(funnel: Option<&Funnel>) -> Vec<ColumnSnapshots> {
    let columns = funnel.map(Funnel::columns_in_order).unwrap_or_default();
    columns.into_iter().map(empty).collect()
}

/// A column without opportunities.
pub fn empty(column: &Column) -> ColumnSnapshots {
    counted_column(column, HitSum::default())
}
