//! Daily counts: number and value of a column's opportunities by day of creation. They locate an offset and count
//! ranges of days.

use std::collections::{BTreeMap, BTreeSet};

use super::days::RangeDays;
use super::totals::{RestrictedTotal, Sum, Totals};
use super::{Asked, BoardRequest};
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::Reader;
use crate::store::key;
use crate::store::opportunities::BoardClass;
use crate::visibility::Restriction;
use table::StoreError;
use table::item::Item;
use table::key_of;

/// A place at or before an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The place is after this sort key.
    pub after: String,
    /// Number of opportunities between the place and the offset.
    pub skip: u64,
}

/// Number and value of a column's visible opportunities per day of creation, latest first.
#[derive(Debug, Default)]
pub struct Ranks(BTreeMap<String, Sum>);

/// The restricted classes of a column that a viewer sees, and the daily counts of all restricted classes.
#[derive(Debug, Default)]
pub struct RestrictedRanks {
    seen: Vec<RestrictedTotal>,
    items: Vec<Item>,
}

impl Reader {
    /// The totals of a column, and the visible sums of some of its days. The cost of daily counts grows with days and
    /// users, not with opportunities: one query per MB. Entries are read only for the parts of days. For a viewer
    /// subject to restrictions, the restricted totals and daily counts are read too.
    pub(super) async fn ranks(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        days: &RangeDays,
    ) -> Result<(Totals, Ranks), StoreError> {
        let items = self.rank_items(asked, column, days);
        let totals = self.board_totals(asked.request, Some(column), &asked.sight);
        let (items, totals) = tokio::try_join!(items, totals)?;
        let plan = asked.sight.plan(asked.request, column, &totals);
        let (restricted, parts) = tokio::try_join!(
            self.restricted_ranks(asked, column, &totals, days),
            self.parts(asked, &plan, days)
        )?;
        let mut ranks = Ranks::of(asked, column, &items, &restricted)?;
        for (time, part) in parts {
            ranks.0.entry(key::rank_day(time)).or_default().add(part);
        }
        Ok((totals, ranks))
    }

    /// The daily counts by user and status, including the numbers of restricted opportunities. With a filter they take
    /// units of the read budget, because they replace reads of records.
    pub(super) async fn rank_items(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        days: &RangeDays,
    ) -> Result<Vec<Item>, StoreError> {
        let BoardRequest { funnel, archived, .. } = *asked.request;
        let span = days.span(self.keys().board_ranks(funnel, column, archived));
        if asked.filter.is_empty() {
            return self.table.query_all(span).await;
        }
        asked.budget.query_all(&self.table, span).await
    }

    /// The daily counts of restricted opportunities, and the restricted classes that the viewer sees. Reads nothing if
    /// the column's totals alone determine the visible opportunities.
    pub(super) async fn restricted_ranks(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &Totals,
        days: &RangeDays,
    ) -> Result<RestrictedRanks, StoreError> {
        if totals.seen(asked, column).unclear == 0 {
            return Ok(RestrictedRanks::default());
        }
        let BoardRequest { funnel, archived, .. } = *asked.request;
        let span = days.span(self.keys().restricted_ranks(funnel, column, archived));
        let (seen, items) = tokio::try_join!(
            self.seen_restricted(asked, column, totals),
            asked.budget.query_all(&self.table, span)
        )?;
        Ok(RestrictedRanks { seen, items })
    }
}

impl Ranks {
    /// Sums the visible counts of each day.
    pub fn of(
        asked: &Asked<'_>,
        column: ColumnId,
        items: &[Item],
        restricted: &RestrictedRanks,
    ) -> Result<Self, StoreError> {
        let seen = restricted
            .seen
            .iter()
            .filter(|total| !asked.viewer.passes_restrictions(total.class.user));
        let names: BTreeSet<_> = seen.map(|total| total.class.name()).collect();
        let mut days = BTreeMap::<_, Sum>::new();
        for item in items {
            let key = key_of(item)?;
            let day = days.entry(key::ranked_day(&key.sk).to_owned()).or_default();
            for name in item.keys() {
                if let Some((unit, class)) = name.split_once('.')
                    && is_seen(asked, column, class, &names)
                {
                    add(day, item, unit, name);
                }
            }
        }
        for item in &restricted.items {
            let key = key_of(item)?;
            if let Some((day, class)) = key::restricted_ranked(&key.sk)
                && names.contains(class)
            {
                let day = days.entry(day.to_owned()).or_default();
                for unit in ["n", "c"] {
                    add(day, item, unit, unit);
                }
            }
        }
        Ok(Self(days))
    }

    /// The sum of all days.
    pub fn sum(&self) -> Sum {
        self.0.values().fold(Sum::default(), |mut sum, day| {
            sum.add(*day);
            sum
        })
    }

    /// Start of the day on which the opportunity at an offset was created; `None` if there is none.
    pub fn near(&self, offset: u64) -> Option<Near> {
        let mut skip = offset;
        for (day, Sum { count, .. }) in &self.0 {
            let count = u64::try_from(*count).unwrap_or_default();
            if count > skip {
                let after = key::rank_begins(day)?;
                return Some(Near { after, skip });
            }
            skip -= count;
        }
        None
    }
}

/// Whether a class in a day's count is requested and visible. A class is a user and a status. A third part marks
/// restricted opportunities; before format 2 it was the name of the restriction.
fn is_seen(asked: &Asked<'_>, column: ColumnId, class: &str, seen: &BTreeSet<String>) -> bool {
    let mut parts = key::class_parts(class);
    let user = parts.next().and_then(|user| UserId::new(user.parse().ok()?));
    let status = parts.next().and_then(Status::parse);
    let Some((user, status)) = user.zip(status) else {
        return false;
    };
    let open = parts.next().is_none() || asked.viewer.passes_restrictions(user);
    let total = BoardClass {
        column,
        user,
        status,
        narrowing: Restriction::Open,
    };
    asked.takes(&total) && (open || seen.contains(class))
}

/// Adds a number of a day's counts, `n` or `c`. Numbers of a later build are ignored.
fn add(day: &mut Sum, item: &Item, unit: &str, name: &str) {
    let number = |name: &str| item.get(name)?.as_n().ok()?.parse::<i128>().ok();
    let number = number(name).unwrap_or_default();
    match unit {
        "n" => day.count += i64::try_from(number).unwrap_or_default(),
        "c" => day.cents += number,
        _ => {}
    }
}
