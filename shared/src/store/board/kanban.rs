//! The board: every column of a funnel with its totals and its newest opportunities.
//!
//! If a request filters only by users, statuses and the archive, the counts come from the totals, and only the shown
//! opportunities of each column are read. In a column with many opportunities, daily counts cover a range of creation
//! dates. A search uses items of words if it has few hits. For other requests, every visible entry is read once and
//! counted, columns in parallel, within the instance's budget of units and time (C-86).

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::days::RangeDays;
use super::lists::QueryPlan;
use super::search::ScanSize;
use super::totals::{RestrictedTotal, Sum, Totals, TotalsSeen};
use super::walk::{BoardScan, Bounds, Entry};
use super::{Asked, ColumnSnapshots, PrefetchedBoard};
use crate::funnel::{Column, Funnel};
use crate::store::Writer;
use crate::store::budget::ReadBudget;
use crate::store::key::BoardList;
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::opportunities::fresh::Fresh;
use crate::store::page_cursor::PageCursor;
use table::StoreError;
use table::{Pages, key_of};

/// Maximum columns, and lists of a column, that are read in parallel.
pub const CONCURRENCY: usize = 50;

impl Writer {
    pub(crate) async fn finish_kanban(
        &self,
        asked: Option<Asked<'_>>,
        start: PrefetchedBoard,
    ) -> Result<Vec<ColumnSnapshots>, StoreError> {
        let columns = start
            .funnel
            .as_ref()
            .map(Funnel::columns_in_order)
            .unwrap_or_default();
        let Some(asked) = asked else {
            return Ok(columns.into_iter().map(empty).collect());
        };
        let totals = async {
            match start.totals.filter(|totals| totals.serve(&asked.sight)) {
                Some(totals) => Ok(totals),
                None => self.reader.board_totals(asked.request, None, &asked.sight).await,
            }
        };
        let (totals, fresh) = tokio::try_join!(totals, self.fresh(&asked, &start.markers))?;
        let size = ScanSize {
            entries: columns.iter().map(|column| asked.most(column.id, &totals)).sum(),
            needed: None,
        };
        let read = async {
            if let Some(hits) = self.search_hits(&asked, &fresh, size).await? {
                return Ok(by_column(columns, hits, asked.request.limit.into()));
            }
            let columns = columns
                .into_iter()
                .map(|column| self.column(&asked, &fresh, column, &totals));
            let columns: Vec<_> = columns.collect();
            let columns = stream::iter(columns).buffered(CONCURRENCY);
            columns.try_collect::<Vec<_>>().await
        };
        let mut columns = ReadBudget::in_time(read).await?;
        let mut cards: Vec<_> = columns.iter_mut().flat_map(|column| &mut column.cards).collect();
        self.reader.refresh_snapshots(&start.markers, &mut cards).await?;
        Ok(columns)
    }

    async fn column(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        column: &Column,
        totals: &Totals,
    ) -> Result<ColumnSnapshots, StoreError> {
        let plan = asked.sight.plan(asked.request, column.id, totals);
        if let Some(days) = self.reader.worth_days(asked, column.id, (totals, &plan)) {
            return self.dated(asked, fresh, column, totals, &plan, &days).await;
        }
        if !asked.filter.is_empty() {
            return self.counted(asked, fresh, column, &plan).await;
        }
        let limit = usize::from(asked.request.limit);
        let TotalsSeen { mut sum, unclear } = totals.seen(asked, column.id);
        let mut rest = None;
        if sum.count == 0 && unclear > 0 {
            // The viewer may see nothing of the column, so the restricted totals are read before its list.
            rest = Some(self.rest(asked, column, totals).await?);
        }
        if sum.count == 0 && rest.unwrap_or_default().count == 0 {
            return Ok(empty(column));
        }
        let mut walk = BoardScan::new(&self.reader, asked, fresh, plan, &Bounds::default());
        let full = usize::try_from(sum.count + unclear).unwrap_or_default() >= limit;
        let rest = async {
            match rest {
                Some(rest) => Ok(rest),
                None if unclear > 0 && full => self.rest(asked, column, totals).await,
                None => Ok(Sum::default()),
            }
        };
        let (page, rest) = tokio::try_join!(walk.page(0, limit), rest)?;
        if page.len() < limit {
            // The page contains all visible opportunities of the column, so it also determines the counts.
            return Ok(Counted::all(page).column(column));
        }
        sum.add(rest);
        Ok(summed(column, sum, page))
    }

    /// A column whose totals are counted by days.
    async fn dated(
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
        let mut walk = BoardScan::new(&self.reader, asked, fresh, plan.clone(), &bounds);
        let sum = self.reader.sum_of_days(asked, column.id, totals, plan, days);
        let (page, sum) = tokio::try_join!(walk.page(0, limit), sum)?;
        if page.len() < limit {
            return Ok(Counted::all(page).column(column));
        }
        Ok(summed(column, sum, page))
    }

    /// The visible part of a column's restricted opportunities, except those in [`Totals::seen`].
    pub(super) async fn rest(
        &self,
        asked: &Asked<'_>,
        column: &Column,
        totals: &Totals,
    ) -> Result<Sum, StoreError> {
        let restricted = self.reader.seen_restricted(asked, column.id, totals).await?;
        let mut sum = Sum::default();
        for RestrictedTotal { class, sum: own } in restricted {
            if asked.sight.is_of_all_users() || !asked.viewer.passes_restrictions(class.user) {
                sum.add(own);
            }
        }
        Ok(sum)
    }

    /// A column whose totals are counted from its records.
    async fn counted(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        column: &Column,
        plan: &QueryPlan,
    ) -> Result<ColumnSnapshots, StoreError> {
        let parts: Vec<_> = plan
            .read_whole()
            .iter()
            .map(|part| self.counted_part(asked, fresh, part.list))
            .collect();
        let parts: Vec<_> = stream::iter(parts)
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await?;
        let mut all = Counted::default();
        for part in parts {
            all.count += part.count;
            all.cents += part.cents;
            all.newest.extend(part.newest);
        }
        all.newest.sort_unstable_by(|a, b| a.place.cmp(&b.place));
        all.newest.truncate(usize::from(asked.request.limit));
        Ok(all.column(column))
    }

    async fn counted_part(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        list: BoardList,
    ) -> Result<Counted, StoreError> {
        let bounds = Bounds::new(&PageCursor::default(), &asked.filter.created);
        let mut counted = Counted::default();
        let mut pages = Pages::of(bounds.span(&self.reader, list));
        let read = |span| asked.budget.query(&self.reader.table, span);
        while let Some(page) = pages.next_with(read).await? {
            if !fresh.is_empty() {
                let mut leads = BTreeSet::new();
                for item in &page.items {
                    leads.extend(fresh.lacks(&OpportunitySnapshot::read(item)?));
                }
                fresh.read(&self.reader, &asked.budget, leads).await?;
            }
            for item in &page.items {
                let mut card = OpportunitySnapshot::read(item)?;
                fresh.apply(&mut card);
                let place = key_of(item)?.sk;
                if asked.admits(&card) {
                    let card = Box::new(card);
                    counted.add(Entry { place, card }, usize::from(asked.request.limit));
                }
            }
        }
        Ok(counted)
    }
}

/// A column with this sum and the start of its list. The count is at least the number of shown opportunities.
fn summed(column: &Column, sum: Sum, page: Vec<Entry>) -> ColumnSnapshots {
    ColumnSnapshots {
        count: u64::try_from(sum.count)
            .unwrap_or_default()
            .max(page.len() as u64),
        cents: sum.cents,
        cards: page.into_iter().map(|entry| *entry.card).collect(),
        ..empty(column)
    }
}

/// Number and value of the requested entries of a list, and the newest of them.
#[derive(Debug, Default)]
struct Counted {
    count: u64,
    cents: i128,
    newest: Vec<Entry>,
}

impl Counted {
    fn all(entries: Vec<Entry>) -> Self {
        let limit = entries.len();
        entries.into_iter().fold(Self::default(), |mut counted, entry| {
            counted.add(entry, limit);
            counted
        })
    }

    fn column(self, column: &Column) -> ColumnSnapshots {
        ColumnSnapshots {
            column: column.clone(),
            count: self.count,
            cents: self.cents,
            cards: self.newest.into_iter().map(|entry| *entry.card).collect(),
        }
    }

    fn add(&mut self, entry: Entry, limit: usize) {
        self.count += 1;
        self.cents += i128::from(entry.card.opportunity.value.get());
        if self.newest.len() < limit {
            self.newest.push(entry);
        }
    }
}

/// The columns with the counts of these opportunities, each with its first `limit`.
fn by_column(columns: Vec<&Column>, hits: Vec<Entry>, limit: usize) -> Vec<ColumnSnapshots> {
    let mut found = BTreeMap::<_, Counted>::new();
    for hit in hits {
        let column = found.entry(hit.card.opportunity.crm_column).or_default();
        column.add(hit, limit);
    }
    let columns = columns.into_iter();
    columns
        .map(|column| found.remove(&column.id).unwrap_or_default().column(column))
        .collect()
}

/// A column without opportunities.
pub fn empty(column: &Column) -> ColumnSnapshots {
    Counted::default().column(column)
}
