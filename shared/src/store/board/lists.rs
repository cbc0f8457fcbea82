//! Selects the lists that contain the requested and visible opportunities.

use std::collections::BTreeSet;

use super::request::BoardRequest;
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::key::{self, BoardList};
use crate::store::prefetch_cache::PrefetchHint;
use crate::viewer::OwnerScope;

/// Maximum lists to merge, unless their contents are rare.
pub const MAX_MERGED: usize = 8;
/// Maximum prefixes of totals that are read with a query each. With more, all totals are read.
const MAX_USERS: usize = 50;

/// The requested and visible users and statuses. Neither set is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleLists {
    /// `None` for all users.
    users: Option<BTreeSet<UserId>>,
    /// `None` for all statuses.
    pub statuses: Option<BTreeSet<Status>>,
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
}

pub fn list(
    request: &BoardRequest,
    column: ColumnId,
    user: Option<UserId>,
    status: Option<Status>,
) -> BoardList {
    BoardList {
        funnel: request.funnel,
        column,
        archived: request.archived,
        user,
        status,
    }
}
