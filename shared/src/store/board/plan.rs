//! How the requested entries of a column are read.

use std::collections::BTreeMap;

use super::lists::{MAX_MERGED, VisibleLists, list};
use super::request::BoardRequest;
use super::totals::Totals;
use crate::ids::ColumnId;
use crate::store::key::BoardList;

/// A wider list is filtered if at least one in this many of its entries is requested.
const MAX_ENTRIES_PER_HIT: i64 = 4;

/// A list, and its approximate share of the requested entries.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPart {
    pub list: BoardList,
    /// From 0 to 1.
    pub share: f64,
}

/// The plan for reading the requested entries in order.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryPlan {
    /// No entry is requested and visible.
    Nothing,
    /// Merge these lists.
    Merge(Vec<ListPart>),
    /// Filter a wider list with this share of requested entries; merge these lists if that takes too long.
    Filter(ListPart, Vec<ListPart>),
}

impl QueryPlan {
    /// Lists that contain each requested entry exactly once.
    pub fn read_whole(&self) -> &[ListPart] {
        match self {
            Self::Nothing => &[],
            Self::Merge(parts) => parts,
            Self::Filter(wide, _) => std::slice::from_ref(wide),
        }
    }
}

impl VisibleLists {
    /// The plan for a column with known totals.
    pub fn plan(&self, request: &BoardRequest, column: ColumnId, totals: &Totals) -> QueryPlan {
        let status = self.statuses.as_ref().filter(|statuses| statuses.len() == 1);
        let wide = list(
            request,
            column,
            None,
            status.and_then(|statuses| statuses.first().copied()),
        );
        let (mut lists, mut sought) = (BTreeMap::<_, i64>::new(), 0);
        for (user, status, count) in totals.counts(self, column).filter(|(.., count)| *count > 0) {
            sought += count;
            let status = self.statuses.as_ref().map(|_| status);
            *lists.entry(list(request, column, user, status)).or_default() += count;
        }
        let all = totals.count_of_all(column, wide.status);
        let parts = lists.into_iter().map(|(list, count)| ListPart {
            list,
            share: part(count, sought),
        });
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() {
            QueryPlan::Nothing
        } else if parts.len() > MAX_MERGED && sought.saturating_mul(MAX_ENTRIES_PER_HIT) >= all {
            let share = part(sought, all);
            QueryPlan::Filter(ListPart { list: wide, share }, parts)
        } else {
            QueryPlan::Merge(parts)
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "it says how much is likely to be read, and decides nothing"
)]
fn part(count: i64, of: i64) -> f64 {
    count as f64 / of.max(1) as f64
}

#[cfg(test)]
mod tests;
