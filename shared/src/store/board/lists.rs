//! Which lists hold what is asked for and seen.

use std::collections::{BTreeMap, BTreeSet};

use super::BoardRequest;
use super::totals::BoardTotal;
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::key::BoardList;
use crate::store::prefetch_cache::PrefetchHint;
use crate::viewer::OwnerScope;

/// More lists than these are only merged where what they hold is rare.
const MAX_MERGED: usize = 8;
/// Entries that are at least so dense in a wider list, one in so many, are read from it.
const DENSE: i64 = 4;

/// The users and statuses that are asked for and may be seen. Never nobody's and never none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleLists {
    /// `None` for everyone's.
    users: Option<BTreeSet<UserId>>,
    /// `None` for all.
    statuses: Option<BTreeSet<Status>>,
}

/// A list, and about which part of what is sought it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub list: BoardList,
    /// Of one.
    pub share: f64,
}

/// How what is sought is read in its order.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryPlan {
    /// There is none of it.
    Nothing,
    /// By merging these lists.
    Merge(Vec<Part>),
    /// Out of a list that holds more, of which this part is sought; and out of these where that takes too long.
    Sift(Part, Vec<Part>),
}

impl VisibleLists {
    /// The requested lists that a caller like `guess` sees; `None` for nothing. A filter by users who may
    /// not be seen narrows (C-46).
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
        self.users.as_ref().is_none_or(|users| users.contains(&user))
            && self
                .statuses
                .as_ref()
                .is_none_or(|statuses| statuses.contains(&status))
    }

    /// How many lists of a column hold it together.
    pub fn lists(&self) -> usize {
        let users = self.users.as_ref().map_or(1, BTreeSet::len);
        users.saturating_mul(self.statuses.as_ref().map_or(1, BTreeSet::len))
    }

    /// The one list of a column that holds just what is seen, if it is one.
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

    /// How to read what is seen of a column of which the totals are known.
    pub fn plan(&self, request: &BoardRequest, column: ColumnId, totals: &[BoardTotal]) -> QueryPlan {
        let status = self.statuses.as_ref().filter(|statuses| statuses.len() == 1);
        let wide = list(
            request,
            column,
            None,
            status.and_then(|statuses| statuses.first().copied()),
        );
        let (mut lists, mut sought, mut all) = (BTreeMap::<_, i64>::new(), 0, 0);
        for total in totals.iter().filter(|total| total.class.column == column) {
            let (class, count) = (&total.class, total.open.count + total.restricted.count);
            if wide.status.is_none_or(|status| status == class.status) {
                all += count;
            }
            if count > 0 && self.covers(class.user, class.status) {
                sought += count;
                let user = self.users.as_ref().map(|_| class.user);
                let status = self.statuses.as_ref().map(|_| class.status);
                *lists.entry(list(request, column, user, status)).or_default() += count;
            }
        }
        let parts = lists.into_iter().map(|(list, count)| Part {
            list,
            share: part(count, sought),
        });
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() {
            QueryPlan::Nothing
        } else if parts.len() > MAX_MERGED && sought.saturating_mul(DENSE) >= all {
            let share = part(sought, all);
            QueryPlan::Sift(Part { list: wide, share }, parts)
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
