//! Locates an offset in a column by the number of opportunities created per day.

use std::collections::{BTreeMap, BTreeSet};

use super::totals::{RestrictedTotal, Totals};
use super::{Asked, BoardRequest};
use crate::ids::{ColumnId, UserId};
use crate::opportunity::Status;
use crate::store::Reader;
use crate::store::key;
use crate::store::opportunities::BoardClass;
use crate::visibility::Restriction;
use table::StoreError;
use table::item::Item;
use table::{KeyRange, PAGE, key_of};

/// A place at or before an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// Sort key prefix after which it lies.
    pub after: String,
    /// Number of opportunities between it and the offset.
    pub skip: u64,
}

/// Visible opportunities of a column per day of creation, latest first.
#[derive(Debug, Default)]
pub struct Ranks(BTreeMap<String, i64>);

impl Reader {
    /// The daily counts of a column visible to the caller. Their cost grows with days and users, not with
    /// opportunities: one query per MB. A viewer subject to restrictions also reads the restricted totals and counts.
    pub(crate) async fn ranks(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
    ) -> Result<(Totals, Ranks), StoreError> {
        let BoardRequest { funnel, archived, .. } = *asked.request;
        let ranks = KeyRange::head(self.keys().board_ranks(funnel, column, archived), PAGE);
        let totals = self.board_totals(asked.request, Some(column), &asked.sight);
        let (items, totals) = tokio::try_join!(self.table.query_all(ranks), totals)?;
        if totals.seen(asked, column).unclear == 0 {
            let ranks = Ranks::of(asked, column, &items, &[], &[])?;
            return Ok((totals, ranks));
        }
        let partition = self.keys().restricted_ranks(funnel, column, archived);
        let (seen, restricted) = tokio::try_join!(
            self.seen_restricted(asked, column, &totals),
            asked
                .budget
                .query_all(&self.table, KeyRange::head(partition, PAGE))
        )?;
        let ranks = Ranks::of(asked, column, &items, &seen, &restricted)?;
        Ok((totals, ranks))
    }
}

impl Ranks {
    /// Sums the visible counts: `seen` are the restricted classes, counted in `restricted`.
    fn of(
        asked: &Asked<'_>,
        column: ColumnId,
        items: &[Item],
        seen: &[RestrictedTotal],
        restricted: &[Item],
    ) -> Result<Self, StoreError> {
        let seen = seen
            .iter()
            .filter(|total| !asked.viewer.passes_restrictions(total.class.user));
        let names: BTreeSet<_> = seen.map(|total| total.class.name()).collect();
        let mut days = BTreeMap::<_, i64>::new();
        for item in items {
            let key = key_of(item)?;
            let parts = item
                .keys()
                .filter_map(|name| Some((name.as_str(), name.strip_prefix("n.")?)));
            let counts = parts.filter(|(_, class)| is_seen(asked, column, class, &names));
            let count: i64 = counts.filter_map(|(name, _)| number(item, name)).sum();
            *days.entry(key::ranked_day(&key.sk).to_owned()).or_default() += count;
        }
        for item in restricted {
            let key = key_of(item)?;
            if let Some((day, class)) = key::restricted_ranked(&key.sk)
                && names.contains(class)
            {
                *days.entry(day.to_owned()).or_default() += number(item, "n").unwrap_or_default();
            }
        }
        Ok(Self(days))
    }

    /// Start of the day on which the opportunity at an offset was created; `None` if there is none.
    pub fn near(&self, offset: u64) -> Option<Near> {
        let mut skip = offset;
        for (day, count) in &self.0 {
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

/// Whether a class in a day's count is requested and visible. The class is a user and a status; a third part marks
/// restricted ones (before format 2, the name of the restriction).
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

fn number(item: &Item, name: &str) -> Option<i64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
