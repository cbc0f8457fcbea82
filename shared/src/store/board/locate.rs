//! The place of an offset in a column, by daily counts.
//!
//! The latest days are read together with the totals. If the offset is not among them, the counts are read on from the
//! nearer end until its day is complete. The totals state how many opportunities there are, so an offset in the older half
//! is counted from the oldest day. This rests on two reads, so the totals must have the same version after the second one.

use std::collections::BTreeSet;

use super::Asked;
use super::days::RangeDays;
use super::rank::{Near, NearerEnd, Ranks};
use super::totals::Totals;
use crate::ids::ColumnId;
use crate::store::Reader;
use crate::store::key;
use table::{KeyRange, PAGE, Page, StoreError, key_of};

/// Daily counts of the first read: with few users, those of some weeks.
const FIRST_READ: usize = 24;
/// Counts from the oldest day while totals change, before it is counted from the newest one.
const ATTEMPTS: u32 = 2;

/// The place of a page that is requested without its predecessor.
#[derive(Debug)]
pub enum Offset {
    /// It was not located.
    Unknown,
    At(Near),
    /// There are fewer opportunities.
    Beyond,
}

impl Offset {
    fn of(near: Option<Near>) -> Self {
        near.map_or(Self::Beyond, Self::At)
    }
}

impl Reader {
    /// Locates an offset, and returns the totals. A viewer subject to restrictions reads the counts of all days.
    pub(super) async fn located(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        read: Option<Totals>,
        (days, offset): (&RangeDays, u64),
    ) -> Result<(Totals, Offset), StoreError> {
        let reading = self.rank_page(asked, self.rank_span(asked, column, days), NearerEnd::Newest);
        let counting = async {
            match read {
                Some(read) => Ok(read),
                None => self.board_totals(asked.request, Some(column), &asked.sight).await,
            }
        };
        let (latest, mut totals) = tokio::try_join!(reading, counting)?;
        let mut first = Some(latest);
        let mut attempts = if asked.can_count_back() { ATTEMPTS } else { 0 };
        loop {
            let most = asked.most(column, &totals);
            if offset >= most {
                return Ok((totals, Offset::Beyond));
            }
            if totals.seen(asked, column).unclear > 0 {
                let ranks = self.ranks(asked, column, &totals, days, first).await?;
                return Ok((totals, Offset::of(ranks.near(NearerEnd::Newest, offset, false))));
            }
            let is_long = first.as_ref().is_none_or(|first| first.more);
            if attempts == 0 || !is_long || offset < most / 2 {
                let from = (NearerEnd::Newest, offset, first);
                let near = self.near(asked, column, (&totals, days), from).await?;
                return Ok((totals, Offset::of(near)));
            }
            let from = (NearerEnd::Oldest, most - 1 - offset, None);
            let near = self.near(asked, column, (&totals, days), from).await?;
            let version = totals.version;
            totals = self
                .board_totals(asked.request, Some(column), &asked.sight)
                .await?;
            match near {
                Some(near) if version == totals.version => return Ok((totals, Offset::At(near))),
                Some(_) => attempts -= 1,
                None => attempts = 0,
            }
            // The first page is older than these totals.
            first = None;
        }
    }

    /// The place with `before` opportunities between it and one end. `first` is the first page from this end, if it was
    /// read. Reads as many days as are likely to be needed.
    async fn near(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        (totals, days): (&Totals, &RangeDays),
        (end, before, mut first): (NearerEnd, u64, Option<Page>),
    ) -> Result<Option<Near>, StoreError> {
        let plan = asked.sight.plan(asked.request, column, totals);
        let mut ranks = Ranks::default();
        ranks.add_parts(self.parts(asked, &plan, &days.parts).await?);
        let (mut span, mut read) = (self.rank_span(asked, column, days), 0);
        loop {
            let page = match first.take() {
                Some(page) => page,
                None => self.rank_page(asked, span.clone(), end).await?,
            };
            ranks.add(asked, column, &page.items, &BTreeSet::new())?;
            let near = ranks.near(end, before, page.more);
            let last = page.items.last().filter(|_| page.more && near.is_none());
            let Some(last) = last.map(key_of).transpose()? else {
                return Ok(near);
            };
            match end {
                NearerEnd::Newest => span.after = Some(last.sk),
                NearerEnd::Oldest => span.through = Some(key::before_rank(last.sk)),
            }
            read += page.items.len();
            let counted = u64::try_from(ranks.sum().count).unwrap_or_default();
            span.limit = likely(read, counted, before);
        }
    }

    /// The daily counts of a range of days, as far as they are read first.
    fn rank_span(&self, asked: &Asked<'_>, column: ColumnId, days: &RangeDays) -> KeyRange {
        let request = asked.request;
        let partition = self.keys().board_ranks(request.funnel, column, request.archived);
        KeyRange {
            limit: FIRST_READ,
            ..days.span(partition)
        }
    }

    /// Daily counts from one end of a range. With a filter they take units of the read budget, because they replace reads
    /// of records.
    async fn rank_page(&self, asked: &Asked<'_>, span: KeyRange, end: NearerEnd) -> Result<Page, StoreError> {
        match end {
            NearerEnd::Oldest => self.table.query_last(span).await,
            NearerEnd::Newest if asked.filter.is_empty() => self.table.query(span).await,
            NearerEnd::Newest => asked.budget.query(&self.table, span).await,
        }
    }
}

impl Asked<'_> {
    /// Whether the totals state the number of the requested opportunities, and cost one query.
    fn can_count_back(&self) -> bool {
        let prefixes = self.sight.total_prefixes(self.request.column);
        self.filter.is_empty() && prefixes.is_some_and(|prefixes| prefixes.len() == 1)
    }
}

/// Number of daily counts that are likely to be needed: slightly more than in proportion to the opportunities counted by
/// those that were read.
fn likely(read: usize, counted: u64, before: u64) -> usize {
    let left = before.saturating_sub(counted) + 1;
    let days = (read as u64).saturating_mul(left) / counted.max(1);
    let days = usize::try_from(days.saturating_add(days / 16)).unwrap_or(PAGE);
    days.clamp(FIRST_READ, PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_in_proportion() {
        // Counts that were read, opportunities that they count, and those before the sought one.
        for (read, counted, before, expected) in [
            (32, 1_000, 1_000, FIRST_READ),
            (32, 1_000, 4_999, 136),
            (172, 5_300, 5_300, FIRST_READ),
            (32, 0, 500, PAGE),
            (32, 1, u64::MAX - 1, PAGE),
            (64, 640_000, 700_000, FIRST_READ),
        ] {
            assert_eq!(
                likely(read, counted, before),
                expected,
                "{read} {counted} {before}"
            );
        }
    }
}
