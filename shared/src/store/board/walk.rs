//! Reads the lists of a column, merged by sort key, newest first.

use super::Asked;
use super::lists::{ListPart, QueryPlan};
use crate::ids::LeadId;
use crate::opportunity::TimeRange;
use crate::store::Reader;
use crate::store::key::{self, BoardList};
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::opportunities::fresh::Fresh;
use crate::store::page_cursor::PageCursor;
use crate::time::Timestamp;
use table::item::Item;
use table::{KeyRange, ListEntry, MergeScan, PAGE, Page, StoreError, key_of};

/// Lists read concurrently.
const CONCURRENCY: usize = 32;
/// Factor of the expected reads after which a wider list is abandoned for the exact ones.
const PATIENCE: usize = 4;

/// An opportunity and its sort key in the lists. The opportunity is boxed, because it has some 3 KB and entries are
/// moved often.
#[derive(Debug, Clone)]
pub struct Entry {
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
    /// From the start of a page to the end of a creation range.
    pub fn new(begins: &PageCursor, created: &TimeRange) -> Self {
        let newest = created.until.map(key::before_places);
        let oldest = created.from.map(key::after_places);
        let through = match (begins.through(), oldest) {
            (Some(begins), Some(oldest)) => Some(begins.min(oldest)),
            (begins, oldest) => begins.or(oldest),
        };
        Self {
            after: begins.after.clone().max(newest),
            through,
        }
    }

    pub fn contain(&self, place: &str) -> bool {
        let after = self.after.as_deref().is_none_or(|after| after < place);
        after && self.through.as_deref().is_none_or(|through| place <= through)
    }

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
    /// Approximate share of requested entries in each list.
    shares: Vec<f64>,
    /// The exact lists, if a wider one is read.
    instead: Vec<ListPart>,
    /// Entries left to read before switching to the exact lists.
    patience: usize,
    /// Number of reads; each reads more than the previous one.
    fills: u32,
}

impl<'a> BoardScan<'a> {
    pub fn new(
        reader: &'a Reader,
        asked: &'a Asked<'a>,
        fresh: &'a Fresh,
        plan: QueryPlan,
        bounds: &Bounds,
    ) -> Self {
        let (parts, instead) = match plan {
            QueryPlan::Nothing => (Vec::new(), Vec::new()),
            QueryPlan::Merge(parts) => (parts, Vec::new()),
            QueryPlan::Filter(wide, parts) => (vec![wide], parts),
        };
        let ranges = parts.iter().map(|part| bounds.span(reader, part.list));
        Self {
            reader,
            asked,
            fresh,
            lists: MergeScan::new(ranges, CONCURRENCY),
            shares: parts.iter().map(|part| part.share).collect(),
            instead,
            patience: usize::MAX,
            fills: 0,
        }
    }

    /// Uses a prefetched page, if the scan has only one list and that list has the range `range`.
    pub fn begin_with(&mut self, range: &KeyRange, page: Page) -> Result<(), StoreError> {
        self.lists.begin_with(range, page)
    }

    /// The next `limit` requested opportunities after the next `skip`.
    pub async fn page(&mut self, mut skip: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let mut page = Vec::with_capacity(limit);
        let sought =
            |skip: u64, page: usize| usize::try_from(skip).unwrap_or(PAGE).saturating_add(limit - page);
        if !self.instead.is_empty() {
            self.patience = PATIENCE * self.likely(0, sought(skip, 0)) + PAGE;
        }
        while page.len() < limit {
            let Some(mut entry) = self.next(sought(skip, page.len())).await? else {
                break;
            };
            if let Some(lead) = self.fresh.lacks(&entry.card) {
                self.read_leads(lead).await?;
            }
            self.fresh.apply(&mut entry.card);
            match skip {
                _ if !self.asked.admits(&entry.card) => {}
                0 => page.push(entry),
                _ => skip -= 1,
            }
        }
        Ok(page)
    }

    /// Reads the current version of a lead, and of the leads of all buffered entries.
    async fn read_leads(&self, lead: LeadId) -> Result<(), StoreError> {
        let leads = self
            .lists
            .buffered()
            .filter_map(|entry| self.fresh.lacks(&entry.card));
        let leads = leads.chain([lead]).collect();
        self.fresh.read(self.reader, &self.asked.budget, leads).await
    }

    /// The next entry by sort key, requested or not. `sought` requested entries are still needed.
    async fn next(&mut self, sought: usize) -> Result<Option<Entry>, StoreError> {
        if self.lists.is_due() {
            self.give_up_the_wide_list();
            self.fill(sought).await?;
        }
        Ok(self.lists.next().map(|(_, entry)| entry))
    }

    async fn fill(&mut self, sought: usize) -> Result<(), StoreError> {
        let limits: Vec<_> = (0..self.shares.len()).map(|at| self.likely(at, sought)).collect();
        let limit = |at: usize| limits.get(at).copied().unwrap_or(PAGE);
        let (budget, table) = (&self.asked.budget, &self.reader.table);
        let read = self.lists.fill(limit, |range| budget.query(table, range)).await?;
        self.patience = self.patience.saturating_sub(read);
        self.fills += 1;
        Ok(())
    }

    /// Number of entries of a list that probably contain the sought ones. A filter on records has an unknown share:
    /// the first read is generous and each further one doubles it.
    fn likely(&self, list: usize, sought: usize) -> usize {
        let share = self.shares.get(list).copied().unwrap_or(1.0);
        let one_of_many = self.shares.len() > 1;
        let mut likely = sought;
        if one_of_many {
            // Slightly more than the share, so that few lists need a second read before the page is full.
            likely = scaled(sought, share * 1.15) + 2;
        } else if !self.instead.is_empty() {
            likely = scaled(sought, 1.15 / share.max(0.01));
        }
        if self.asked.filter.needs_records() {
            likely = likely.max(50) << self.fills.min(6);
        }
        likely.clamp(1, PAGE)
    }

    /// Switches to the exact lists after too many reads of the wide list, because its matches may be far down.
    fn give_up_the_wide_list(&mut self) {
        if self.patience > 0 || self.instead.is_empty() {
            return;
        }
        if let Some(rest) = self.lists.first_rest() {
            let parts = std::mem::take(&mut self.instead);
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
    reason = "it says how much is likely to be read, and decides nothing"
)]
fn scaled(count: usize, by: f64) -> usize {
    (count as f64 * by).ceil().clamp(0.0, 1e9) as usize
}
