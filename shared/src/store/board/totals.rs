//! Totals of a funnel's columns, and the part visible to a viewer.
//!
//! A request for all users needs the totals of columns; a request for some users needs the totals of these users. The
//! restricted totals are needed only for viewers from whom service permissions may hide opportunities. Admins, and
//! users who see only their own opportunities, do not need them.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::asked::Asked;
use super::lists::VisibleLists;
use super::request::BoardRequest;
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::Reader;
use crate::store::derived::is_number;
use crate::store::key::{self, BoardTotalOf};
use crate::store::opportunities::BoardClass;
use crate::visibility::Restriction;
use table::MAX_COUNTERS_AHEAD;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, key_of};

const TOTAL: &str = "board total";
/// Maximum totals of each of several users that are read before authentication: those of 40 columns.
const USER_AHEAD: usize = 5;
/// Maximum totals of a board that are read together instead of by user.
const MAX_FEW: usize = 100;

/// Number and value of opportunities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    pub count: i64,
    pub cents: i128,
}

impl Sum {
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.cents += other.cents;
    }
}

/// Number and value of opportunities, with and without restriction by service permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoardTotal {
    /// Opportunities without a restriction.
    pub open: Sum,
    pub restricted: Sum,
}

/// The total of a column's opportunities with one user, status and restriction.
#[derive(Debug, Clone, PartialEq)]
pub struct RestrictedTotal {
    pub class: BoardClass,
    pub sum: Sum,
}

/// The totals of a column, or of all columns, as far as a request needs them.
#[derive(Debug, Default)]
pub struct Totals {
    /// The totals of all users together.
    columns: BTreeMap<(ColumnId, Status), BoardTotal>,
    /// The totals of each user.
    users: BTreeMap<(ColumnId, UserId, Status), BoardTotal>,
    /// The lists for which the totals were read; `None` if they serve any request.
    read_for: Option<VisibleLists>,
    /// The sum of the items' versions: equal ones of one request mean that no number changed.
    pub(super) version: u64,
}

/// The visible part of a column for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TotalsSeen {
    pub sum: Sum,
    /// Number of requested restricted opportunities that the viewer may or may not see. The restricted totals determine
    /// it.
    pub unclear: i64,
}

impl BoardTotal {
    /// The number of opportunities.
    pub fn count(&self) -> i64 {
        self.open.count + self.restricted.count
    }
}

impl TotalsSeen {
    fn add(&mut self, total: &BoardTotal, passes_restrictions: bool) {
        self.sum.add(total.open);
        if passes_restrictions {
            self.sum.add(total.restricted);
        } else {
            self.unclear += total.restricted.count;
        }
    }
}

impl Totals {
    /// Maximum number of visible opportunities of a column, before filters that need the records: those that are surely
    /// visible, and the restricted ones.
    pub fn most(&self, asked: &Asked<'_>, column: ColumnId) -> u64 {
        let TotalsSeen { sum, unclear } = self.seen(asked, column);
        u64::try_from(sum.count + unclear).unwrap_or_default()
    }

    fn read(items: Vec<Item>, read_for: Option<VisibleLists>) -> Result<Self, StoreError> {
        let mut totals = Self {
            read_for,
            ..Self::default()
        };
        for item in items {
            totals.version += item::number(TOTAL, &item, "v").unwrap_or_default();
            // Totals of a later build are ignored.
            if let Some(of) = key::total_of(&key_of(&item)?.sk) {
                totals.add(of, &item)?;
            }
        }
        Ok(totals)
    }

    /// Adds the numbers of an item. Statuses of a later build are ignored.
    fn add(&mut self, of: BoardTotalOf, item: &Item) -> Result<(), StoreError> {
        for name in item.keys().filter(|name| is_number(name)) {
            let Some((unit, class)) = name.split_once('.') else {
                continue;
            };
            let mut parts = key::class_parts(class);
            let column = match of {
                BoardTotalOf::Column(column) => Some(column),
                BoardTotalOf::User(_) => parts.next().and_then(|id| ColumnId::new(id.parse().ok()?)),
            };
            let Some((column, status)) = column.zip(parts.next().and_then(Status::parse)) else {
                continue;
            };
            let total = match of {
                BoardTotalOf::Column(_) => self.columns.entry((column, status)).or_default(),
                BoardTotalOf::User(user) => self.users.entry((column, user, status)).or_default(),
            };
            let part = match parts.next() {
                None => &mut total.open,
                Some(_) => &mut total.restricted,
            };
            let number = number(item, name)?;
            match unit {
                "n" => part.count += i64::try_from(number).unwrap_or_default(),
                _ => part.cents += number,
            }
        }
        Ok(())
    }

    /// Whether they contain all totals that a request needs.
    pub(super) fn serve(&self, sight: &VisibleLists) -> bool {
        self.read_for.as_ref().is_none_or(|read_for| read_for == sight)
    }

    /// The requested numbers of a column by status, and by user unless all are requested.
    pub(super) fn counts<'a>(
        &'a self,
        sight: &'a VisibleLists,
        column: ColumnId,
    ) -> impl Iterator<Item = (Option<UserId>, Status, i64)> + 'a {
        let (columns, users) = (self.columns.iter(), self.users.iter());
        let of_all = columns.filter(move |((of, status), _)| {
            *of == column && sight.is_of_all_users() && sight.covers_status(*status)
        });
        let of_users = users.filter(move |((of, user, status), _)| {
            *of == column && !sight.is_of_all_users() && sight.covers(*user, *status)
        });
        let of_all = of_all.map(|((_, status), total)| (None, *status, total.count()));
        of_all.chain(of_users.map(|((_, user, status), total)| (Some(*user), *status, total.count())))
    }

    /// The number of a column's opportunities of all users with a status, or with any.
    pub(super) fn count_of_all(&self, column: ColumnId, status: Option<Status>) -> i64 {
        let totals = self
            .columns
            .iter()
            .filter(|((of, has), _)| *of == column && status.is_none_or(|status| status == *has));
        totals.map(|(_, total)| total.count()).sum()
    }

    /// The requested and visible part of a column.
    pub(crate) fn seen(&self, asked: &Asked<'_>, column: ColumnId) -> TotalsSeen {
        let mut seen = TotalsSeen::default();
        if asked.sight.is_of_all_users() {
            let totals = self
                .columns
                .iter()
                .filter(|((of, status), _)| *of == column && asked.sight.covers_status(*status));
            for (_, total) in totals {
                seen.add(total, asked.viewer.is_admin());
            }
            return seen;
        }
        for ((of, user, status), total) in &self.users {
            let class = BoardClass {
                column,
                user: *user,
                status: *status,
                restriction: Restriction::Open,
            };
            if *of == column && asked.takes(&class) {
                seen.add(total, asked.viewer.passes_restrictions(*user));
            }
        }
        seen
    }
}

impl Reader {
    /// The totals that a request needs, of a column or of all columns. For all users, the totals of the columns, with
    /// one query; otherwise those of the requested users, with a query for each. All totals are read if they are few,
    /// or if users are many.
    pub(crate) async fn board_totals(
        &self,
        request: &BoardRequest,
        column: Option<ColumnId>,
        sight: &VisibleLists,
    ) -> Result<Totals, StoreError> {
        let totals = self.keys().board_totals(request.funnel, request.archived);
        let prefixes = sight.total_prefixes(column);
        let is_one = prefixes.as_ref().is_some_and(|prefixes| prefixes.len() == 1);
        if !(is_one && self.hints.has_hint_of(&self.caller.credentials))
            && let Some(totals) = self.few_totals(request).await?
        {
            return Ok(totals);
        }
        let Some(prefixes) = prefixes else {
            let all = KeyRange::whole(totals);
            let items = self.table.query_all_ahead(all, MAX_COUNTERS_AHEAD).await?;
            return Totals::read(items, None);
        };
        let ahead = if is_one { MAX_COUNTERS_AHEAD } else { USER_AHEAD };
        let reads = prefixes.into_iter().map(|prefix| {
            let span = KeyRange::beginning(totals.clone(), prefix);
            self.table.query_all_ahead(span, ahead)
        });
        let items = try_join_all(reads).await?.concat();
        Totals::read(items, Some(sight.clone()))
    }

    /// All totals of a board, if there are few. They serve any request, so a wrong hint costs nothing. One query; no
    /// call if this process knows that there are many.
    async fn few_totals(&self, request: &BoardRequest) -> Result<Option<Totals>, StoreError> {
        let board = (self.instance.clone(), request.funnel, request.archived);
        if self.hints.large_boards.get(&board).is_some() {
            return Ok(None);
        }
        let totals = self.keys().board_totals(request.funnel, request.archived);
        let page = self.table.query_counters(KeyRange::head(totals, MAX_FEW)).await?;
        if page.more {
            self.hints.large_boards.put(board, ());
            return Ok(None);
        }
        Totals::read(page.items, None).map(Some)
    }

    /// The requested and visible restricted totals of a column, some 150 bytes each. One query per MB, within the
    /// budget.
    pub(crate) async fn seen_restricted(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
    ) -> Result<Vec<RestrictedTotal>, StoreError> {
        let request = asked.request;
        let partition = self.keys().restricted_totals(request.funnel, request.archived);
        let span = KeyRange::beginning(partition, key::total_column(column));
        let items = asked.budget.query_all(&self.table, span).await?;
        let totals = items.into_iter().map(|item| {
            let sum = sum(&item)?;
            let class = class(item)?;
            Ok(RestrictedTotal { class, sum })
        });
        let mut restricted = totals.collect::<Result<Vec<_>, StoreError>>()?;
        restricted.retain(|total| asked.takes(&total.class));
        Ok(restricted)
    }
}

fn class(mut item: Item) -> Result<BoardClass, StoreError> {
    item.retain(|name, _| !is_number(name) && name != "v");
    item::decode(TOTAL, item)
}

/// Count and cents of a restricted total.
fn sum(item: &Item) -> Result<Sum, StoreError> {
    let count = number(item, "n")?;
    let cents = number(item, "c")?;
    let count = i64::try_from(count).unwrap_or_default();
    Ok(Sum { count, cents })
}

/// A number of a total. It has 128 bits, because sums of cents may exceed 64.
fn number(item: &Item, name: &str) -> Result<i128, StoreError> {
    let Some(number) = item.get(name) else {
        return Ok(0);
    };
    let digits = number
        .as_n()
        .map_err(|_| item::corrupt(TOTAL, format_args!("{name} is no number")))?;
    digits.parse().map_err(|cause| item::corrupt(TOTAL, cause))
}

#[cfg(test)]
impl Totals {
    /// The totals of a column with these numbers by user and status.
    pub fn of(column: ColumnId, numbers: &[(UserId, Status, i64)]) -> Self {
        let mut totals = Self::default();
        for (user, status, count) in numbers {
            totals.columns.entry((column, *status)).or_default().open.count += count;
            totals
                .users
                .entry((column, *user, *status))
                .or_default()
                .open
                .count += count;
        }
        totals
    }
}
