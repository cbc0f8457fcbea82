//! Reads the lists of a column, merged by sort key, newest first.

use super::asked::Asked;
use super::plan::{ListPart, QueryPlan};
use crate::ids::LeadId;
use crate::opportunity::TimeRange;
use crate::store::Reader;
use crate::store::key::{self, BoardList};
use crate::store::lists::PageCursor;
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::opportunities::fresh::Fresh;
use crate::time::Timestamp;
use table::item::Item;
use table::{KeyRange, ListEntry, MergeScan, PAGE, Page, StoreError, key_of};

/// Lists read concurrently.
const CONCURRENCY: usize = 32;
/// A wider list is abandoned for the exact ones after this many times the expected number of entries.
const MAX_OVERREAD: usize = 4;
/// Minimum entries of a read with a filter on records, because the share of matches is unknown. Such a filter is any
/// but the creation date.
const MIN_FILTERED_READ: usize = 50;
/// Maximum doublings of such a read.
const MAX_DOUBLINGS: u32 = 6;
/// Factor of the expected entries to read, so that few reads are too short.
const MARGIN: f64 = 1.15;
/// Further entries to read of each of several lists, because the margin of a small number is less than one entry.
const SPARE: usize = 2;
/// Minimum share that is assumed of a wide list, because shares are approximate and may be 0.
const MIN_SHARE: f64 = 0.01;

/// An opportunity and its sort key in the lists. The opportunity is boxed, because it has some 3 KB and entries are
/// moved often.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The sort key.
    pub place: String,
    pub card: Box<OpportunitySnapshot>,
}

impl ListEntry for Entry {
    type Version = Timestamp;

    fn read(item: Item) -> Result<Self, StoreError> {
        Ok(Self {
            place: key_of(&item)?.sk,
            card: Box::new(OpportunitySnapshot::read(&item)?),
        })
    }

    fn version(&self) -> Timestamp {
        self.card.opportunity.update_date
    }
}

/// Range of sort keys.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    pub after: Option<String>,
    pub through: Option<String>,
}

impl Bounds {
    /// The entries from a cursor on that were created in a range. Newer opportunities have smaller sort keys, so the
    /// end of the range is the lower bound.
    pub fn new(cursor: &PageCursor, created: &TimeRange) -> Self {
        let newest = created.until.map(key::before_places);
        let oldest = created.from.map(key::after_places);
        let through = match (cursor.through(), oldest) {
            (Some(cursor), Some(oldest)) => Some(cursor.min(oldest)),
            (cursor, oldest) => cursor.or(oldest),
        };
        Self {
            after: cursor.after.clone().max(newest),
            through,
        }
    }

    /// Whether a sort key is within the bounds.
    pub fn contain(&self, sort_key: &str) -> bool {
        let is_after = self.after.as_deref().is_none_or(|after| after < sort_key);
        is_after && self.through.as_deref().is_none_or(|through| sort_key <= through)
    }

    /// The key range of these bounds in a list.
    pub fn span(&self, reader: &Reader, list: BoardList) -> KeyRange {
        KeyRange {
            partition: reader.keys().board(list),
            after: self.after.clone(),
            through: self.through.clone(),
            limit: PAGE,
        }
    }
}

/// A scan of the lists of a plan.
pub struct BoardScan<'a> {
    reader: &'a Reader,
    asked: &'a Asked<'a>,
    fresh: &'a Fresh,
    lists: MergeScan<Entry>,
    /// For each of several exact lists, the part of the requested entries that it contains; for a wide list, the part
    /// of its entries that is requested. Approximate.
    shares: Vec<f64>,
    /// The exact lists, if a wider one is read.
    exact_lists: Vec<ListPart>,
    /// Entries left to read before switching to the exact lists.
    left_of_wide: usize,
    /// Number of reads so far.
    reads: u32,
    /// The sort key of the last entry that was compared with the request.
    reached: Option<String>,
}

impl<'a> BoardScan<'a> {
    pub fn new(
        reader: &'a Reader,
        asked: &'a Asked<'a>,
        fresh: &'a Fresh,
        plan: QueryPlan,
        bounds: &Bounds,
    ) -> Self {
        let (parts, exact_lists) = match plan {
            QueryPlan::Nothing => (Vec::new(), Vec::new()),
            QueryPlan::Merge(parts) => (parts, Vec::new()),
            QueryPlan::Filter(wide, exact) => (vec![wide], exact),
        };
        let ranges = parts.iter().map(|part| bounds.span(reader, part.list));
        Self {
            reader,
            asked,
            fresh,
            lists: MergeScan::new(ranges, CONCURRENCY),
            shares: parts.iter().map(|part| part.share).collect(),
            exact_lists,
            left_of_wide: usize::MAX,
            reads: 0,
            reached: None,
        }
    }

    /// Uses a prefetched page, if the scan has only one list and that list has the range `range`.
    pub fn begin_with(&mut self, range: &KeyRange, page: Page) -> Result<(), StoreError> {
        self.lists.begin_with(range, page)
    }

    /// The next `limit` requested opportunities after the next `skip`; fewer at the end of the lists.
    pub async fn page(&mut self, mut skip: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let mut page = Vec::with_capacity(limit);
        // Number of requested opportunities still to be found, including the skipped ones.
        let sought = |skip: u64, found: usize| {
            usize::try_from(skip)
                .unwrap_or(PAGE)
                .saturating_add(limit - found)
        };
        if !self.exact_lists.is_empty() {
            self.left_of_wide = MAX_OVERREAD * self.likely_entries(0, sought(skip, 0)) + PAGE;
        }
        while page.len() < limit {
            let next = self.next(sought(skip, page.len())).await;
            let Some(mut entry) = self.asked.budget.or_end(next)? else {
                break;
            };
            // The filter compares the lead, so a stale copy is replaced before.
            if let Some(lead) = self.fresh.lacks(&entry.card.opportunity) {
                let read = self.read_leads(lead).await.map(|()| true);
                if !self.asked.budget.or_end(read)? {
                    break;
                }
            }
            self.reached = Some(entry.place.clone());
            self.fresh.apply(&mut entry.card);
            let card = &entry.card;
            if !self.asked.admits(&card.opportunity, card.lead.as_ref()) {
                continue;
            }
            if skip > 0 {
                skip -= 1;
            } else {
                page.push(entry);
            }
        }
        Ok(page)
    }

    /// The sort key of the last entry that was compared with the request.
    pub fn reached(&self) -> Option<&str> {
        self.reached.as_deref()
    }

    /// Reads a lead with a stale copy, and in the same batch those of all buffered entries.
    async fn read_leads(&self, lead: LeadId) -> Result<(), StoreError> {
        let leads = self
            .lists
            .buffered()
            .filter_map(|entry| self.fresh.lacks(&entry.card.opportunity));
        let leads = leads.chain([lead]).collect();
        self.fresh.read(self.reader, &self.asked.budget, leads).await
    }

    /// The next entry by sort key, requested or not. `sought` requested entries are still needed.
    async fn next(&mut self, sought: usize) -> Result<Option<Entry>, StoreError> {
        if self.lists.is_due() {
            self.switch_to_exact_lists();
            self.fill(sought).await?;
        }
        Ok(self.lists.next().map(|(_, entry)| entry))
    }

    /// Reads as many entries of each list as probably contain `sought` requested ones. One query for each list.
    async fn fill(&mut self, sought: usize) -> Result<(), StoreError> {
        let lists = 0..self.shares.len();
        let limits: Vec<_> = lists.map(|list| self.likely_entries(list, sought)).collect();
        let limit = |list: usize| limits.get(list).copied().unwrap_or(PAGE);
        let (budget, table) = (&self.asked.budget, &self.reader.table);
        let read = self.lists.fill(limit, |range| budget.query(table, range)).await?;
        self.left_of_wide = self.left_of_wide.saturating_sub(read);
        self.reads += 1;
        Ok(())
    }

    /// Number of entries to read of a list, so that all lists together probably contain `sought` requested ones.
    ///
    /// The shares ignore a filter on records, which drops an unknown part of the entries. With such a filter, the
    /// estimate is at least [`MIN_FILTERED_READ`] and is doubled for each earlier read. A filter on the creation date
    /// drops none, because it limits the key range.
    fn likely_entries(&self, list: usize, sought: usize) -> usize {
        let share = self.shares.get(list).copied().unwrap_or(1.0);
        // The exact lists are kept for later while a wide list is read.
        let is_wide = !self.exact_lists.is_empty();
        let mut entries = if is_wide {
            // The share is the part of the list's entries that is requested.
            scaled(sought, MARGIN / share.max(MIN_SHARE))
        } else if self.shares.len() > 1 {
            // The share is the part of the requested entries that the list contains.
            scaled(sought, share * MARGIN) + SPARE
        } else {
            // All entries of a single exact list are requested, unless a filter on records drops some.
            sought
        };
        if self.asked.filter.needs_records() {
            // At most a page before the shift, so that it cannot overflow.
            entries = entries.clamp(MIN_FILTERED_READ, PAGE) << self.reads.min(MAX_DOUBLINGS);
        }
        entries.clamp(1, PAGE)
    }

    /// Continues with the exact lists after too many entries of the wide list, because its matches may be far down.
    fn switch_to_exact_lists(&mut self) {
        if self.left_of_wide > 0 || self.exact_lists.is_empty() {
            return;
        }
        if let Some(rest) = self.lists.first_rest() {
            let parts = std::mem::take(&mut self.exact_lists);
            let ranges = parts.iter().map(|part| KeyRange {
                partition: self.reader.keys().board(part.list),
                ..rest.clone()
            });
            self.lists = MergeScan::new(ranges, CONCURRENCY);
            self.shares = parts.iter().map(|part| part.share).collect();
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the result is only an estimate of the entries to read"
)]
fn scaled(count: usize, by: f64) -> usize {
    (count as f64 * by).ceil().clamp(0.0, 1e9) as usize
}
