//! Selects the lists that contain the requested and visible opportunities.

use std::collections::{BTreeMap, BTreeSet};

use super::BoardRequest;
use super::totals::Totals;
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::key::{self, BoardList};
use crate::store::prefetch_cache::PrefetchHint;
use crate::viewer::OwnerScope;

/// Maximum lists to merge, unless their contents are rare.
const MAX_MERGED: usize = 8;
/// Maximum prefixes of totals that are read with a query each. With more, all totals are read.
const MAX_USERS: usize = 50;
/// A wider list is filtered if at least one in this many of its entries is requested.
const MAX_ENTRIES_PER_HIT: i64 = 4;

/// The requested and visible users and statuses. Neither set is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleLists {
    /// `None` for all users.
    users: Option<BTreeSet<UserId>>,
    /// `None` for all statuses.
    statuses: Option<BTreeSet<Status>>,
}

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
    /// The requested lists that are visible to a caller with the hint `guess`; `None` if there are none. Invisible
    /// users in a filter are ignored (C-46).
    pub fn of(guess: &PrefetchHint, request: &BoardRequest) -> Option<Self> {
        let users = match (&guess.opportunities, &request.users) {
            (OwnerScope::Nothing, _) => return None,
            (OwnerScope::All, wanted) => wanted.clone(),
            (OwnerScope::Users(seen), None) => Some(seen.clone()),
            (OwnerScope::Users(seen), Some(wanted)) => Some(seen & wanted),
        };
        let mut statuses = request.statuses.clone();
        if statuses.is_empty() {
            statuses.extend(Status::ALL);
        }
        if !guess.won_lost {
            statuses.retain(|status| *status == Status::Open);
        }
        let empty = users.as_ref().is_some_and(BTreeSet::is_empty) || statuses.is_empty();
        let statuses = (statuses.len() < Status::ALL.len()).then_some(statuses);
        (!empty).then_some(Self { users, statuses })
    }

    pub fn covers(&self, user: UserId, status: Status) -> bool {
        self.users.as_ref().is_none_or(|users| users.contains(&user)) && self.covers_status(status)
    }

    pub fn covers_status(&self, status: Status) -> bool {
        self.statuses
            .as_ref()
            .is_none_or(|statuses| statuses.contains(&status))
    }

    pub fn is_of_all_users(&self) -> bool {
        self.users.is_none()
    }

    /// The sort key prefixes of the totals that a request needs, for one column or all; `None` if all totals are read.
    /// If users have more than [`MAX_MERGED`] lists, the totals of all users are included, because their counts
    /// determine the plan.
    pub fn total_prefixes(&self, column: Option<ColumnId>) -> Option<Vec<String>> {
        let mut prefixes = Vec::new();
        for user in self.users.iter().flatten() {
            prefixes.push(match column {
                Some(column) => key::user_column_begins(*user, column),
                None => key::user_begins(*user),
            });
        }
        if prefixes.is_empty() || self.lists() > MAX_MERGED {
            prefixes.push(key::column_begins(column));
        }
        (prefixes.len() <= MAX_USERS).then_some(prefixes)
    }

    /// Number of lists of a column that together contain the entries.
    pub fn lists(&self) -> usize {
        let users = self.users.as_ref().map_or(1, BTreeSet::len);
        users.saturating_mul(self.statuses.as_ref().map_or(1, BTreeSet::len))
    }

    /// The only list of a column with exactly the visible entries, if there is one.
    pub fn only_list(&self, request: &BoardRequest, column: ColumnId) -> Option<BoardList> {
        if self.lists() != 1 {
            return None;
        }
        let user = self.users.as_ref().and_then(|users| users.first().copied());
        let status = self
            .statuses
            .as_ref()
            .and_then(|statuses| statuses.first().copied());
        Some(list(request, column, user, status))
    }

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

fn list(request: &BoardRequest, column: ColumnId, user: Option<UserId>, status: Option<Status>) -> BoardList {
    BoardList {
        funnel: request.funnel,
        column,
        archived: request.archived,
        user,
        status,
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
