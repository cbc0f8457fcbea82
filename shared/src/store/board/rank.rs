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
use crate::time::Timestamp;
use crate::visibility::Restriction;
use table::item::Item;
use table::{Page, StoreError, key_of};

/// A place at or before an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The place is after this sort key.
    pub after: String,
    /// Number of opportunities between the place and the offset.
    pub skip: u64,
}

/// The end of a column from which days are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NearerEnd {
    Newest,
    Oldest,
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
    /// The daily counts of all days of a range, for a viewer subject to restrictions. `first` is their first page, if it
    /// was read. The cost grows with days and users, not with opportunities: one query per MB. Also reads the restricted
    /// totals and counts, and the entries of the parts of days.
    pub(super) async fn ranks(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &Totals,
        days: &RangeDays,
        first: Option<Page>,
    ) -> Result<Ranks, StoreError> {
        let plan = asked.sight.plan(asked.request, column, totals);
        let items = async {
            match first.filter(|first| !first.more) {
                Some(all) => Ok(all.items),
                None => self.rank_items(asked, column, days).await,
            }
        };
        let (items, restricted, parts) = tokio::try_join!(
            items,
            self.restricted_ranks(asked, column, totals, days),
            self.parts(asked, &plan, &days.parts)
        )?;
        let mut ranks = Ranks::of(asked, column, &items, &restricted)?;
        ranks.add_parts(parts);
        Ok(ranks)
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
        let mut ranks = Self::default();
        ranks.add(asked, column, items, &names)?;
        let Self(days) = &mut ranks;
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
        Ok(ranks)
    }

    /// Adds daily counts of unrestricted classes, of which the names of restricted ones are seen too.
    pub fn add(
        &mut self,
        asked: &Asked<'_>,
        column: ColumnId,
        items: &[Item],
        names: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        for item in items {
            let key = key_of(item)?;
            let day = self.0.entry(key::ranked_day(&key.sk).to_owned()).or_default();
            for name in item.keys() {
                if let Some((unit, class)) = name.split_once('.')
                    && is_seen(asked, column, class, names)
                {
                    add(day, item, unit, name);
                }
            }
        }
        Ok(())
    }

    /// Adds the parts of days, each with a moment of its day.
    pub fn add_parts(&mut self, parts: Vec<(Timestamp, Sum)>) {
        for (time, part) in parts {
            self.0.entry(key::rank_day(time)).or_default().add(part);
        }
    }

    /// The sum of all days.
    pub fn sum(&self) -> Sum {
        self.0.values().fold(Sum::default(), |mut sum, day| {
            sum.add(*day);
            sum
        })
    }

    /// Start of the day on which the opportunity was created that has so many before it from one end; `None` if it is not
    /// of these days. With `more`, items of the last day may be missing.
    pub fn near(&self, end: NearerEnd, before: u64, more: bool) -> Option<Near> {
        let mut days: Vec<_> = self.0.iter().collect();
        if end == NearerEnd::Oldest {
            days.reverse();
        }
        days.truncate(days.len() - usize::from(more && !days.is_empty()));
        let mut skip = before;
        for (day, Sum { count, .. }) in days {
            let count = u64::try_from(*count).unwrap_or_default();
            if count > skip {
                let after = key::rank_begins(day)?;
                if end == NearerEnd::Oldest {
                    skip = count - 1 - skip;
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two, none, three and one opportunities of four days.
    #[test]
    fn offsets_are_counted_from_both_ends() {
        let name = |day: usize| format!("{day:07}");
        let days = [2, 0, 3, 1].into_iter().enumerate();
        let days = days.map(|(day, count)| (name(day), Sum { count, cents: 0 }));
        let ranks = Ranks(days.collect());
        let near = |day, skip| {
            let after = key::rank_begins(&name(day))?;
            Some(Near { after, skip })
        };
        // Day and skipped ones, and whether days are enough of which the last may be incomplete, from both ends.
        for (offset, (day, skip), is_complete) in [
            (0, (0, 0), [true, false]),
            (1, (0, 1), [true, false]),
            (2, (2, 0), [true, true]),
            (3, (2, 1), [true, true]),
            (4, (2, 2), [true, true]),
            (5, (3, 0), [false, true]),
        ] {
            let ends = [(NearerEnd::Newest, offset), (NearerEnd::Oldest, 5 - offset)];
            for ((end, before), is_complete) in ends.into_iter().zip(is_complete) {
                assert_eq!(
                    ranks.near(end, before, false),
                    near(day, skip),
                    "{end:?} {offset}"
                );
                let found = near(day, skip).filter(|_| is_complete);
                assert_eq!(ranks.near(end, before, true), found, "{end:?} {offset}");
            }
        }
        assert_eq!(ranks.near(NearerEnd::Newest, 6, false), None);
        assert_eq!(Ranks::default().near(NearerEnd::Oldest, 0, true), None);
    }
}
