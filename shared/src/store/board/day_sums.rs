//! Number and value of a column's opportunities in a range of creation dates, from daily counts and entries.
//!
//! Both are read concurrently, so a response may contain a concurrent change in only one of them. In the same way, a
//! board may show an opportunity that moves concurrently in two columns or in none.

use futures_util::future::try_join_all;

use super::Asked;
use super::days::{DayPart, RangeDays};
use super::plan::QueryPlan;
use super::rank::DailyCounts;
use super::totals::{Sum, Totals};
use super::walk::Bounds;
use crate::ids::ColumnId;
use crate::store::Reader;
use crate::store::key::BoardList;
use crate::store::lists::PageCursor;
use crate::store::opportunities::{BoardClass, OpportunitySnapshot};
use crate::time::Timestamp;
use table::{Pages, StoreError};

/// Number of entries of a column that cost no more than daily counts and the parts of two days.
const FEW_ENTRIES: u64 = 200;
/// Number of entries that cost about as much as a query.
const ENTRIES_PER_QUERY: u64 = 14;

impl Reader {
    /// The days whose counts give the totals of a column in the requested range of creation dates. `None` if there is
    /// no such filter or the entries must be read, or if reading the entries costs less.
    pub(super) fn days_to_count(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        (totals, plan): (&Totals, &QueryPlan),
    ) -> Option<RangeDays> {
        let filter = asked.filter;
        if filter.is_empty() || filter.needs_records() {
            return None;
        }
        let days = RangeDays::of(&filter.created)?;
        let queries = (plan.read_whole().len() * days.parts.len()) as u64;
        // The cost of the days and of their parts, as a number of entries.
        let cost = days.number(self.environment.now()) + queries * ENTRIES_PER_QUERY;
        (totals.most(asked, column) > cost.max(FEW_ENTRIES)).then_some(days)
    }

    /// Number and value of the requested opportunities of a column that were created on these days and parts of days.
    pub(super) async fn sum_of_days(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &Totals,
        plan: &QueryPlan,
        days: &RangeDays,
    ) -> Result<Sum, StoreError> {
        let restricted = self.restricted_daily_counts(asked, column, totals, days);
        let (items, restricted, parts) = tokio::try_join!(
            self.daily_count_items(asked, column, days),
            restricted,
            self.sums_of_parts(asked, plan, &days.parts)
        )?;
        let mut sum = DailyCounts::of(asked, column, &items, &restricted)?.sum();
        for (_, part) in parts {
            sum.add(part);
        }
        Ok(sum)
    }

    /// The sums of the entries in the parts of days, each with a moment of its day. The sum of a part outside the range
    /// is negative, because its day is counted whole. One query or more for each part and list.
    pub(super) async fn sums_of_parts(
        &self,
        asked: &Asked<'_>,
        plan: &QueryPlan,
        parts: &[DayPart],
    ) -> Result<Vec<(Timestamp, Sum)>, StoreError> {
        let lists = plan.read_whole();
        let reads = parts.iter().flat_map(|part| {
            lists
                .iter()
                .map(move |list_part| self.sum_of_part(asked, list_part.list, part))
        });
        Ok(try_join_all(reads).await?.into_iter().flatten().collect())
    }

    /// The signed sum of a list's requested and visible entries in a part of a day.
    async fn sum_of_part(
        &self,
        asked: &Asked<'_>,
        list: BoardList,
        part: &DayPart,
    ) -> Result<Option<(Timestamp, Sum)>, StoreError> {
        let sign = if part.is_within { 1 } else { -1 };
        let mut sum = Sum::default();
        let bounds = Bounds::new(&PageCursor::default(), &part.range);
        let mut pages = Pages::of(bounds.span(self, list));
        let read = |span| asked.budget.query(&self.table, span);
        while let Some(page) = pages.next_with(read).await? {
            for item in &page.items {
                let one = OpportunitySnapshot::read_opportunity(item)?;
                if asked.takes(&BoardClass::of(&one)) {
                    sum.count += sign;
                    sum.cents += i128::from(sign) * i128::from(one.value.get());
                }
            }
        }
        Ok(part.range.from.map(|from| (from, sum)))
    }
}
