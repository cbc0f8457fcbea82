//! Daily counts: number and value of a column's opportunities by day of creation. They locate an offset and count
//! ranges of days.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::Asked;
use super::days::RangeDays;
use super::request::BoardRequest;
use super::totals::{RestrictedTotal, Sum, Totals};
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::Reader;
use crate::store::key;
use crate::store::lists::buckets::locate;
use crate::store::opportunities::BoardClass;
use crate::time::Timestamp;
use crate::visibility::Restriction;
use table::item::Item;
use table::{Page, StoreError, key_of};

/// The day of creation of the opportunity at an offset, as the place where reading starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayStart {
    /// The last sort key before the day's entries.
    pub after: String,
    /// Number of the day's entries before the offset.
    pub skip: u64,
}

/// The end of a column from which days are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnEnd {
    Newest,
    Oldest,
}

/// Number and value of a column's visible opportunities per day of creation, latest first.
#[derive(Debug, Default)]
pub struct DailyCounts(BTreeMap<String, Sum>);

/// The restricted classes of a column that a viewer sees, and the daily counts of all restricted classes.
#[derive(Debug, Default)]
pub struct RestrictedDailyCounts {
    seen: Vec<RestrictedTotal>,
    items: Vec<Item>,
}

impl Reader {
    /// The daily counts of all days of a range, for a viewer subject to restrictions. `first_page` is their first page,
    /// if it was read. The cost grows with days and users, not with opportunities: one query per MB. Also reads the
    /// restricted totals and counts, and the entries of the parts of days.
    pub(super) async fn daily_counts(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &Totals,
        days: &RangeDays,
        first_page: Option<Page>,
    ) -> Result<DailyCounts, StoreError> {
        let plan = asked.sight.plan(asked.request, column, totals);
        let items = async {
            match first_page {
                Some(only_page) if !only_page.more => Ok(only_page.items),
                _ => self.daily_count_items(asked, column, days).await,
            }
        };
        let (items, restricted, parts) = tokio::try_join!(
            items,
            self.restricted_daily_counts(asked, column, totals, days),
            self.sums_of_parts(asked, &plan, &days.parts)
        )?;
        let mut daily_counts = DailyCounts::of(asked, column, &items, &restricted)?;
        daily_counts.add_parts(parts);
        Ok(daily_counts)
    }

    /// The daily counts by user and status, including the numbers of restricted opportunities. With a filter they take
    /// units of the read budget, because they replace reads of records.
    pub(super) async fn daily_count_items(
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
    pub(super) async fn restricted_daily_counts(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &Totals,
        days: &RangeDays,
    ) -> Result<RestrictedDailyCounts, StoreError> {
        if totals.seen(asked, column).unclear == 0 {
            return Ok(RestrictedDailyCounts::default());
        }
        let BoardRequest { funnel, archived, .. } = *asked.request;
        let span = days.span(self.keys().restricted_ranks(funnel, column, archived));
        let (seen, items) = tokio::try_join!(
            self.seen_restricted(asked, column),
            asked.budget.query_all(&self.table, span)
        )?;
        Ok(RestrictedDailyCounts { seen, items })
    }
}

impl DailyCounts {
    /// Sums the visible counts of each day.
    ///
    /// A viewer who does not pass the restrictions of a user sees its restricted opportunities only of the classes in
    /// `restricted.seen`, which have items of their own.
    pub fn of(
        asked: &Asked<'_>,
        column: ColumnId,
        items: &[Item],
        restricted: &RestrictedDailyCounts,
    ) -> Result<Self, StoreError> {
        // If the viewer passes the restrictions of a user, `add` counts all of that user's opportunities.
        let seen = restricted
            .seen
            .iter()
            .filter(|total| !asked.viewer.passes_restrictions(total.class.user));
        let seen_classes: BTreeSet<_> = seen.map(|total| total.class.name()).collect();
        let mut daily_counts = Self::default();
        daily_counts.add(asked, column, items)?;
        let Self(days) = &mut daily_counts;
        for item in &restricted.items {
            let key = key_of(item)?;
            if let Some((day, class)) = key::restricted_ranked(&key.sk)
                && seen_classes.contains(class)
            {
                let sum = days.entry(day.to_owned()).or_default();
                add(sum, item, "n", "n");
                add(sum, item, "c", "c");
            }
        }
        Ok(daily_counts)
    }

    /// Adds the visible numbers of daily counts: those of requested classes without restriction, and the restricted
    /// ones that the viewer passes.
    pub fn add(&mut self, asked: &Asked<'_>, column: ColumnId, items: &[Item]) -> Result<(), StoreError> {
        for item in items {
            let key = key_of(item)?;
            let sum = self.0.entry(key::ranked_day(&key.sk).to_owned()).or_default();
            for name in item.keys() {
                if let Some((unit, class)) = name.split_once('.')
                    && is_seen(asked, column, class)
                {
                    add(sum, item, unit, name);
                }
            }
        }
        Ok(())
    }

    /// Adds the sums of parts of days, each with a moment of its day.
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

    /// The day of the opportunity that has `before` others between it and `end`. `None` if these days count fewer
    /// opportunities. With `more`, further items of daily counts are unread. The day farthest from `end` may then be
    /// incomplete and is ignored, because from `Oldest` its count determines `skip`.
    pub fn day_of_offset(&self, end: ColumnEnd, before: u64, more: bool) -> Option<DayStart> {
        let mut days: Vec<_> = self.0.iter().collect();
        if end == ColumnEnd::Oldest {
            days.reverse();
        }
        if more {
            days.pop();
        }
        let days = days.into_iter().map(|(day, sum)| ((day, sum.count), sum.count));
        let ((day, count), before) = locate(days, before).ok()?;
        let after = key::rank_begins(day)?;
        // Reading starts at the newest entry of the day, at either end.
        let skip = match end {
            ColumnEnd::Newest => before,
            ColumnEnd::Oldest => count.unsigned_abs() - 1 - before,
        };
        Some(DayStart { after, skip })
    }
}

/// Whether a class in a day's count is requested and visible. A class is a user and a status. A third part marks
/// restricted opportunities, which are visible if the viewer passes the user's restrictions.
fn is_seen(asked: &Asked<'_>, column: ColumnId, class: &str) -> bool {
    let mut parts = key::class_parts(class);
    let user = parts.next().and_then(|user| UserId::new(user.parse().ok()?));
    let status = parts.next().and_then(Status::parse);
    let Some((user, status)) = user.zip(status) else {
        return false;
    };
    let is_restricted = parts.next().is_some();
    let unrestricted_class = BoardClass {
        column,
        user,
        status,
        restriction: Restriction::Open,
    };
    let passes = !is_restricted || asked.viewer.passes_restrictions(user);
    asked.takes(&unrestricted_class) && passes
}

/// Adds the attribute `name` to a day's sum: to its count if the unit is `n`, to its cents if it is `c`. Other units
/// are of a later build and are ignored.
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
        let daily_counts = DailyCounts(days.collect());
        let near = |day, skip| {
            let after = key::rank_begins(&name(day))?;
            Some(DayStart { after, skip })
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
            let ends = [(ColumnEnd::Newest, offset), (ColumnEnd::Oldest, 5 - offset)];
            for ((end, before), is_complete) in ends.into_iter().zip(is_complete) {
                assert_eq!(
                    daily_counts.day_of_offset(end, before, false),
                    near(day, skip),
                    "{end:?} {offset}"
                );
                let found = near(day, skip).filter(|_| is_complete);
                assert_eq!(
                    daily_counts.day_of_offset(end, before, true),
                    found,
                    "{end:?} {offset}"
                );
            }
        }
        assert_eq!(daily_counts.day_of_offset(ColumnEnd::Newest, 6, false), None);
        assert_eq!(
            DailyCounts::default().day_of_offset(ColumnEnd::Oldest, 0, true),
            None
        );
    }
}
