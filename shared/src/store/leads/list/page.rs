//! A page of the list without a search: the total from totals, the entries from the start of the page on.

use tokio::try_join;

use super::request::{LeadPage, LeadRequest, Records};
use crate::ids::{LeadId, MAX_ID};
use crate::store::budget::ReadBudget;
use crate::store::leads::blocks::LocatorStep;
use crate::store::leads::record::LeadEntry;
use crate::store::leads::totals::{FirstTotals, LeadTotals, VisibleLeads};
use crate::store::lists::{CursorKey, FAR, ListScan, NumberedPage, PageCursor, StoredStart};
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{CallerId, Reader, Writer};
use crate::viewer::{OwnerScope, Viewer};
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, ListEntry, MAX_AHEAD, MergeScan};

/// Prefetched reads of a page.
#[derive(Debug)]
pub struct PrefetchedPage {
    guess: PrefetchHint,
    totals: LeadTotals,
    /// The first totals of leads with access lists.
    restricted: FirstTotals,
    stored: StoredStart,
    /// The first entries that a caller with the hint sees from a start on, with that start.
    early: Option<(PageCursor, MergeScan<LeadEntry>)>,
    records: Records,
}

/// A page requested by a viewer.
struct RequestedPage<'a> {
    reader: &'a Reader,
    viewer: &'a Viewer,
    request: &'a LeadRequest,
    /// The owners whose leads the viewer sees.
    reach: &'a OwnerScope,
    /// The last lead of the earlier pages; only later ones are on this page.
    after: Option<LeadId>,
    budget: &'a ReadBudget,
}

impl RequestedPage<'_> {
    /// The next `limit` leads that the viewer sees, after the next `skip`.
    async fn of_lists(
        &self,
        lists: MergeScan<LeadEntry>,
        skip: &mut u64,
        limit: u16,
    ) -> Result<Vec<LeadEntry>, StoreError> {
        let admit = |entry: LeadEntry| {
            let is_shown = entry.class.is_seen_by(self.viewer) && Some(entry.id) > self.after;
            is_shown.then_some(entry)
        };
        let mut scan = ListScan::new((self.reader, self.budget), lists);
        let page = scan.page(skip, limit.into(), admit).await?;
        Ok(page.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The leads of the page: near ones from the beginning of the lists, far ones through blocks.
    async fn entries(
        &self,
        lists: MergeScan<LeadEntry>,
        mut skip: u64,
    ) -> Result<Vec<LeadEntry>, StoreError> {
        if skip >= FAR {
            return self.far(skip).await;
        }
        self.of_lists(lists, &mut skip, self.request.limit).await
    }

    /// A page without a cursor, found through [blocks](crate::store::leads::blocks).
    async fn far(&self, mut skip: u64) -> Result<Vec<LeadEntry>, StoreError> {
        let locator = self.reader.page_locator(self.viewer, self.request.archived);
        let locator = locator.await?;
        let mut block = 0;
        let after = loop {
            match locator.next_step(&mut block, &mut skip) {
                LocatorStep::ScanAfter(after) => break after,
                LocatorStep::Read { after, through } => {
                    let lists = self.between((after.as_deref(), Some(&through)));
                    // The last lead before the page, if it is one of these. There is one, because a page without
                    // leads before it needs no count.
                    let mut before = skip - 1;
                    if let Some(last) = self.of_lists(lists, &mut before, 1).await?.pop() {
                        skip = 0;
                        break Some(last.id.padded());
                    }
                    // The leads that were read are subtracted.
                    skip = before + 1;
                }
            }
        };
        let lists = self.between((after.as_deref(), None));
        self.of_lists(lists, &mut skip, self.request.limit).await
    }

    /// The lists that the viewer sees after a lead and through another.
    fn between(&self, bounds: (Option<&str>, Option<&str>)) -> MergeScan<LeadEntry> {
        self.reader.lists_between(self.request, self.reach, bounds)
    }
}

impl ListEntry for LeadEntry {
    type Version = ();

    fn read(item: Item) -> Result<Self, StoreError> {
        item::decode("lead entry", item)
    }

    fn version(&self) {}
}

impl LeadRequest {
    /// The requested page of the caller's list.
    pub(super) fn numbered(&self, caller: &CallerId) -> NumberedPage {
        let base = if self.from_zero { " from 0" } else { "" };
        let tag = self.tag.map(|tag| format!(" tag {tag}")).unwrap_or_default();
        let search = self
            .search
            .as_ref()
            .map(|search| format!(" search {}", search.text()));
        let search = search.unwrap_or_default();
        let query = format!("leads {} {}{base}{tag}{search}", self.archived, self.limit);
        NumberedPage {
            key: CursorKey::new(caller, &query),
            number: self.page,
        }
    }
}

impl Reader {
    /// Prefetches what a caller with the hint needs, in parallel: the totals; the first entries of each list, unless the
    /// page is far and its cursor is not cached; the first restricted totals; whole records if the request is for the
    /// first page of all active leads with them; and the stored cursor of a later page.
    pub(super) async fn begin_page(
        &self,
        request: &LeadRequest,
        guess: PrefetchHint,
    ) -> Result<PrefetchedPage, StoreError> {
        let skipped = request.skipped(&guess);
        let page = request.numbered(&self.caller);
        let (totals, stored, early, records, restricted) = try_join!(
            self.lead_totals(request.archived),
            self.stored_start(&page, skipped),
            self.first_entries(
                request,
                &guess.leads,
                (self.expected_start(&page, skipped), skipped)
            ),
            self.first_records(request, &guess.leads, skipped),
            self.first_restricted_totals(request.archived, &guess.leads)
        )?;
        Ok(PrefetchedPage {
            guess,
            totals,
            restricted,
            stored,
            early,
            records,
        })
    }

    /// The entries from the expected start on. Without one, and if the page is near the first lead, the entries from
    /// there on, including the skipped ones.
    async fn first_entries(
        &self,
        request: &LeadRequest,
        reach: &OwnerScope,
        (expected, skipped): (Option<PageCursor>, u64),
    ) -> Result<Option<(PageCursor, MergeScan<LeadEntry>)>, StoreError> {
        let (start, to_skip) = match expected {
            Some(start) => (start, 0),
            None if skipped < FAR => (PageCursor::default(), usize::try_from(skipped).unwrap_or(0)),
            None => return Ok(None),
        };
        let mut lists = self.lists(request, reach, start.after.as_deref());
        let likely = to_skip + usize::from(request.limit);
        // The caller is not yet authenticated, so its read budget is unknown.
        lists.fill(|_| likely, |range| self.table.query(range)).await?;
        Ok(Some((start, lists)))
    }

    /// The records that the first page probably shows, if whole records are requested.
    async fn first_records(
        &self,
        request: &LeadRequest,
        reach: &OwnerScope,
        skipped: u64,
    ) -> Result<Records, StoreError> {
        let likely = request.whole && !request.archived && *reach == OwnerScope::All && skipped == 0;
        match LeadId::new(MAX_ID) {
            Some(last) if likely => {
                // A tenth more, because the range contains archived leads, but no more than is read before the check if
                // the page is not.
                let limit = usize::from(request.limit);
                let more = limit + limit / 10;
                let likely = if limit > MAX_AHEAD {
                    more
                } else {
                    more.min(MAX_AHEAD)
                };
                self.records(0, last, likely).await
            }
            _ => Ok(Records::default()),
        }
    }

    /// The visible lists after a lead.
    pub(super) fn lists(
        &self,
        request: &LeadRequest,
        reach: &OwnerScope,
        after: Option<&str>,
    ) -> MergeScan<LeadEntry> {
        self.lists_between(request, reach, (after, None))
    }

    /// The visible lists after a lead and through another.
    pub(super) fn lists_between(
        &self,
        request: &LeadRequest,
        reach: &OwnerScope,
        (after, through): (Option<&str>, Option<&str>),
    ) -> MergeScan<LeadEntry> {
        let keys = self.keys();
        let lists = match reach {
            OwnerScope::Nothing => Vec::new(),
            OwnerScope::All => vec![keys.lead_list(request.archived)],
            OwnerScope::Users(owners) => {
                let owners = owners.iter();
                owners
                    .map(|owner| keys.owner_list(request.archived, *owner))
                    .collect()
            }
        };
        let ranges = lists.into_iter().map(|list| KeyRange {
            after: after.map(str::to_owned),
            through: through.map(str::to_owned),
            ..KeyRange::whole(list)
        });
        MergeScan::new(ranges, usize::MAX)
    }
}

impl Writer {
    /// The page, and its total. No call but the put of the next page's cursor if all was prefetched; else queries of the
    /// lists, after a query of the blocks for a distant offset.
    pub(super) async fn finish_page(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: PrefetchedPage,
        truth: PrefetchHint,
    ) -> Result<LeadPage, StoreError> {
        let skipped = request.skipped(&truth);
        let budget = ReadBudget::of(viewer);
        let total = self
            .visible_total(
                (viewer, request.archived),
                (start.totals, start.restricted),
                &budget,
            )
            .await?;
        let page = |entries| LeadPage {
            entries,
            total,
            more: false,
            neighbours: truth.leads == OwnerScope::All && !request.archived,
            records: start.records,
        };
        let number = request.numbered(&self.reader.caller);
        let (begin, to_skip) = self.reader.start_of_page(&number, start.stored, skipped).await?;
        // A page with a cursor is not compared with the total, because leads that left the list concurrently make its
        // offset too large.
        if to_skip > 0 && to_skip >= total {
            return Ok(page(Vec::new()));
        }
        let after = begin.after.as_ref().and_then(|after| after.parse().ok());
        let asked = RequestedPage {
            reader: &self.reader,
            viewer,
            request,
            reach: &truth.leads,
            after: after.and_then(LeadId::new),
            budget: &budget,
        };
        // Lists read from the first lead contain the page too; leads through the cursor are omitted.
        let has_page = |from: &PageCursor| from.after.is_none() || from.has_bounds_of(&begin);
        let is_right = start.guess.leads == truth.leads;
        let early = start.early.filter(|(from, _)| is_right && has_page(from));
        let lists = early.map_or_else(
            || asked.between((begin.after.as_deref(), None)),
            |(_, lists)| lists,
        );
        let entries = asked.entries(lists, to_skip);
        let mut page = page(ReadBudget::in_time(entries).await?);
        let first = if request.from_zero { 0 } else { truth.page_base };
        self.end_with_records((request, first), &mut page, (&number, begin.after))
            .await?;
        Ok(page)
    }

    /// Stores the cursor of the next page, concurrently with the read of whole records if they are requested.
    async fn end_with_records(
        &self,
        (request, first): (&LeadRequest, u64),
        page: &mut LeadPage,
        (number, after): (&NumberedPage, Option<String>),
    ) -> Result<(), StoreError> {
        let last = page.entries.last().map(|last| last.id.padded());
        // New leads come after all others, so an empty page keeps its position.
        let next = last.or(after).map(|after| PageCursor::after(Some(after)));
        let records = async {
            if request.whole {
                self.reader.read_records(page).await?;
            }
            Ok(())
        };
        try_join!(records, self.end_page(number, first, next))?;
        Ok(())
    }

    /// The number of leads in the list that the viewer sees.
    async fn visible_total(
        &self,
        (viewer, archived): (&Viewer, bool),
        (totals, restricted): (LeadTotals, FirstTotals),
        budget: &ReadBudget,
    ) -> Result<u64, StoreError> {
        let VisibleLeads {
            mut count,
            restricted_owners: owners,
        } = totals.visible_to(viewer);
        let caller = self.reader.caller.credentials.clone();
        let needed = (!owners.is_empty()).then(|| owners.clone());
        self.reader.hints.restricted_leads.set(caller, needed);
        if !owners.is_empty() {
            let more = self
                .reader
                .count_restricted((viewer, archived), &owners, restricted, budget);
            count += ReadBudget::in_time(more).await?;
        }
        Ok(u64::try_from(count).unwrap_or(0))
    }
}
