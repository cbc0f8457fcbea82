//! The place of an offset in a column, by daily counts.
//!
//! The latest days are read together with the totals. If the offset is not among them, the counts are read on from the
//! nearer end until its day is complete. The totals state how many opportunities there are, so an offset in the older
//! half is counted from the oldest day. This rests on two reads, so the totals must have the same version after the
//! second one.

use super::asked::Asked;
use super::days::RangeDays;
use super::rank::{ColumnEnd, DailyCounts, DayStart};
use super::totals::Totals;
use crate::ids::ColumnId;
use crate::store::Reader;
use crate::store::key;
use table::{KeyRange, PAGE, Page, StoreError, key_of};

/// Daily counts of the first read: with few users, those of some weeks.
const FIRST_READ: usize = 24;
/// Attempts to count from the oldest day that fail because the totals change. After these, days are counted from the
/// newest one.
const ATTEMPTS: u32 = 2;

/// The place of a page that is requested without its predecessor.
#[derive(Debug)]
pub enum Offset {
    /// It was not located.
    Unknown,
    At(DayStart),
    /// There are fewer opportunities.
    Beyond,
}

impl Offset {
    fn of(start: Option<DayStart>) -> Self {
        start.map_or(Self::Beyond, Self::At)
    }
}

impl Reader {
    /// The totals (`prefetched` ones, or else read) and the place of an offset by daily counts. A viewer subject to
    /// restrictions reads the counts of all days, because the totals do not state how many opportunities are visible.
    /// Otherwise days are read from the nearer end until they contain the offset.
    pub(super) async fn totals_and_offset(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        prefetched: Option<Totals>,
        (days, offset): (&RangeDays, u64),
    ) -> Result<(Totals, Offset), StoreError> {
        let range = self.daily_counts_range(asked, column, days);
        let newest_counts = self.daily_counts_page(asked, range, ColumnEnd::Newest);
        let totals = async {
            match prefetched {
                Some(totals) => Ok(totals),
                None => self.board_totals(asked.request, Some(column), &asked.sight).await,
            }
        };
        let (newest_page, mut totals) = tokio::try_join!(newest_counts, totals)?;
        let mut first_page = Some(newest_page);
        let mut attempts = if asked.can_count_back() { ATTEMPTS } else { 0 };
        loop {
            let count = totals.most(asked, column);
            if offset >= count {
                return Ok((totals, Offset::Beyond));
            }
            if totals.seen(asked, column).unclear > 0 {
                let daily_counts = self
                    .daily_counts(asked, column, &totals, days, first_page)
                    .await?;
                let start = daily_counts.day_of_offset(ColumnEnd::Newest, offset, false);
                return Ok((totals, Offset::of(start)));
            }
            let has_more_days = first_page.as_ref().is_none_or(|page| page.more);
            if attempts == 0 || !has_more_days || offset < count / 2 {
                let from = (ColumnEnd::Newest, offset, first_page);
                let start = self.locate_from(asked, column, (&totals, days), from).await?;
                return Ok((totals, Offset::of(start)));
            }
            // The distance from the oldest end is only right if no opportunity was added or removed before the days
            // were read, so the totals are read again and must be unchanged.
            let from = (ColumnEnd::Oldest, count - 1 - offset, None);
            let start = self.locate_from(asked, column, (&totals, days), from).await?;
            let version = totals.version;
            totals = self
                .board_totals(asked.request, Some(column), &asked.sight)
                .await?;
            match start {
                Some(start) if version == totals.version => return Ok((totals, Offset::At(start))),
                Some(_) => attempts -= 1,
                None => attempts = 0,
            }
            // The first page of counts is older than these totals.
            first_page = None;
        }
    }

    /// The day of the opportunity that has `before` others between it and one end; `None` if there are fewer.
    /// `first_page` is the first page of counts from this end, if it was read. Reads further pages until the day is
    /// found, each with as many counts as are likely to be needed.
    async fn locate_from(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        (totals, days): (&Totals, &RangeDays),
        (end, before, mut first_page): (ColumnEnd, u64, Option<Page>),
    ) -> Result<Option<DayStart>, StoreError> {
        let plan = asked.sight.plan(asked.request, column, totals);
        let mut daily_counts = DailyCounts::default();
        daily_counts.add_parts(self.sums_of_parts(asked, &plan, &days.parts).await?);
        let (mut unread, mut items_read) = (self.daily_counts_range(asked, column, days), 0);
        loop {
            let page = match first_page.take() {
                Some(page) => page,
                None => self.daily_counts_page(asked, unread.clone(), end).await?,
            };
            daily_counts.add(asked, column, &page.items)?;
            let start = daily_counts.day_of_offset(end, before, page.more);
            let last = page.items.last().filter(|_| page.more && start.is_none());
            let Some(last) = last.map(key_of).transpose()? else {
                return Ok(start);
            };
            match end {
                ColumnEnd::Newest => unread.after = Some(last.sk),
                ColumnEnd::Oldest => unread.through = Some(key::before_rank(last.sk)),
            }
            items_read += page.items.len();
            let counted = u64::try_from(daily_counts.sum().count).unwrap_or_default();
            unread.limit = likely_items(items_read, counted, before);
        }
    }

    /// The key range of the daily counts of a range of days, limited to the first read.
    fn daily_counts_range(&self, asked: &Asked<'_>, column: ColumnId, days: &RangeDays) -> KeyRange {
        let request = asked.request;
        let partition = self.keys().board_ranks(request.funnel, column, request.archived);
        KeyRange {
            limit: FIRST_READ,
            ..days.span(partition)
        }
    }

    /// A page of daily counts from one end of a range. With a filter they take units of the read budget, because they
    /// replace reads of records.
    async fn daily_counts_page(
        &self,
        asked: &Asked<'_>,
        range: KeyRange,
        end: ColumnEnd,
    ) -> Result<Page, StoreError> {
        match end {
            ColumnEnd::Oldest => self.table.query_last(range).await,
            ColumnEnd::Newest if asked.filter.is_empty() => self.table.query(range).await,
            ColumnEnd::Newest => asked.budget.query(&self.table, range).await,
        }
    }
}

impl Asked<'_> {
    /// Whether an offset can be counted from the oldest opportunity: the totals state the number of the requested ones,
    /// and reading them again costs one query.
    fn can_count_back(&self) -> bool {
        let prefixes = self.sight.total_prefixes(self.request.column);
        self.filter.is_empty() && prefixes.is_some_and(|prefixes| prefixes.len() == 1)
    }
}

/// Number of items of daily counts that are likely to reach the opportunity with `before` others before it, after
/// `items_read` items with `counted` opportunities. A sixteenth more than in proportion, so that few offsets need a
/// further read.
fn likely_items(items_read: usize, counted: u64, before: u64) -> usize {
    let left = before.saturating_sub(counted) + 1;
    let items = (items_read as u64).saturating_mul(left) / counted.max(1);
    let items = usize::try_from(items.saturating_add(items / 16)).unwrap_or(PAGE);
    items.clamp(FIRST_READ, PAGE)
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
                likely_items(read, counted, before),
                expected,
                "{read} {counted} {before}"
            );
        }
    }
}
