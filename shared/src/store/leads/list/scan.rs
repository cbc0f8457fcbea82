//! Scans of the lists of leads that a viewer sees.

use super::request::LeadRequest;
use crate::ids::LeadId;
use crate::store::Reader;
use crate::store::budget::ReadBudget;
use crate::store::leads::record::LeadEntry;
use crate::viewer::{OwnerScope, Viewer};
use table::StoreError;
use table::item::{self, Item};
use table::{ListEntry, MergeScan, PAGE};

/// A page requested by a viewer, and the owners whose leads it sees.
pub struct RequestedPage<'a> {
    pub reader: &'a Reader,
    pub viewer: &'a Viewer,
    pub request: &'a LeadRequest,
    pub reach: &'a OwnerScope,
    /// Leads through this one are not on the page, because earlier pages showed them or they have left the list.
    pub after: Option<LeadId>,
    pub budget: &'a ReadBudget,
}

impl<'a> RequestedPage<'a> {
    pub fn scan(&'a self, lists: MergeScan<LeadEntry>) -> LeadScan<'a> {
        LeadScan { asked: self, lists }
    }

    pub fn between(&'a self, bounds: (Option<&str>, Option<&str>)) -> LeadScan<'a> {
        self.scan(self.reader.lists_between(self.request, self.reach, bounds))
    }
}

/// A scan of the lists that a viewer sees, merged by id.
pub struct LeadScan<'a> {
    asked: &'a RequestedPage<'a>,
    lists: MergeScan<LeadEntry>,
}

impl LeadScan<'_> {
    /// Passes the next `skip` leads that the viewer sees, and subtracts each from `skip`. Returns the last of them, or
    /// `None` if there are fewer.
    pub async fn pass(&mut self, skip: &mut u64) -> Result<Option<LeadId>, StoreError> {
        while let Some(entry) = self.next(PAGE).await? {
            if entry.class.is_seen_by(self.asked.viewer) {
                *skip -= 1;
                if *skip == 0 {
                    return Ok(Some(entry.id));
                }
            }
        }
        Ok(None)
    }

    /// The leads of the page: passes `skip` leads that the viewer sees, then takes up to the page's limit. Leads through
    /// `asked.after` do not count.
    pub async fn page(&mut self, mut skip: u64) -> Result<Vec<LeadEntry>, StoreError> {
        let limit = usize::from(self.asked.request.limit);
        let mut page = Vec::new();
        while page.len() < limit {
            let skipped = usize::try_from(skip).unwrap_or(PAGE);
            // Entries that the next query needs, if the viewer sees all of them.
            let likely = skipped.saturating_add(limit - page.len());
            let Some(entry) = self.next(likely).await? else {
                break;
            };
            match skip {
                _ if !entry.class.is_seen_by(self.asked.viewer) || Some(entry.id) <= self.asked.after => {}
                0 => page.push(entry),
                _ => skip -= 1,
            }
        }
        Ok(page)
    }

    /// The next entry by id. `likely` is the expected number of entries still needed; it limits the next query.
    async fn next(&mut self, likely: usize) -> Result<Option<LeadEntry>, StoreError> {
        if self.lists.is_due() {
            let RequestedPage { reader, budget, .. } = self.asked;
            let read = |range| budget.query(&reader.table, range);
            self.lists.fill(|_| likely, read).await?;
        }
        Ok(self.lists.next().map(|(_, entry)| entry))
    }
}

impl ListEntry for LeadEntry {
    type Version = ();

    fn read(item: Item) -> Result<Self, StoreError> {
        item::decode("lead entry", item)
    }

    fn version(&self) {}
}
