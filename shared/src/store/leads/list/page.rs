//! A page of the list without a search: the total from totals, the entries from the start of the page on.

use tokio::try_join;

use super::request::{LeadPage, LeadRequest, Records};
use super::scan::RequestedPage;
use crate::ids::{LeadId, MAX_ID};
use crate::store::budget::ReadBudget;
use crate::store::leads::blocks::LocatorStep;
use crate::store::leads::record::LeadEntry;
use crate::store::leads::totals::{FirstTotals, LeadTotals, VisibleLeads};
use crate::store::page_cursor::PageCursor;
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{CallerId, Reader, Writer, page_cursor};
use crate::viewer::{OwnerScope, Viewer};
use table::StoreError;
use table::{KeyRange, MAX_AHEAD, MergeScan};

/// Number of entries from which skipping costs more than locating the start of a page.
pub(super) const FAR: u64 = 500;

/// Prefetched reads of a page.
#[derive(Debug)]
pub struct PrefetchedPage {
    guess: PrefetchHint,
    totals: LeadTotals,
    /// The first totals of leads with access lists.
    restricted: FirstTotals,
    beginning: Beginning,
    records: Records,
}

/// The start of a page.
#[derive(Debug)]
struct Beginning {
    /// The lists that a caller with the hint sees.
    lists: MergeScan<LeadEntry>,
    /// The lead after which they were read; `None` for the start.
    read_after: Option<String>,
    /// The lead after which the page begins, by its cursor.
    bookmark: Option<String>,
}

impl LeadRequest {
    /// The key of the request's page cursors.
    pub(super) fn walk(&self, caller: &CallerId) -> page_cursor::CursorKey {
        let base = if self.from_zero { " from 0" } else { "" };
        let tag = self.tag.map(|tag| format!(" tag {tag}")).unwrap_or_default();
        let search = self
            .search
            .as_ref()
            .map(|search| format!(" search {}", search.text()));
        let search = search.unwrap_or_default();
        let query = format!("leads {} {}{base}{tag}{search}", self.archived, self.limit);
        page_cursor::CursorKey::new(caller, &query)
    }
}

impl Reader {
    pub(crate) async fn begin_page(
        &self,
        request: &LeadRequest,
        guess: PrefetchHint,
    ) -> Result<PrefetchedPage, StoreError> {
        let skipped = request.skipped(&guess);
        let totals = self.lead_totals(request.archived);
        let beginning = self.beginning(request, &guess.leads, skipped);
        let records = self.first_records(request, &guess.leads, skipped);
        let restricted = self.first_restricted_totals(request.archived, &guess.leads);
        let (totals, beginning, records, restricted) = try_join!(totals, beginning, records, restricted)?;
        Ok(PrefetchedPage {
            guess,
            totals,
            restricted,
            beginning,
            records,
        })
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
                // A tenth more, because the range contains archived leads, but at most the number that is read before
                // authentication.
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

    /// The start of the page. Also prefetches its entries, if this process has cached the cursor, or if the offset is
    /// below [`FAR`], so that skipped entries are read too. Otherwise reads only the cursor.
    async fn beginning(
        &self,
        request: &LeadRequest,
        reach: &OwnerScope,
        skipped: u64,
    ) -> Result<Beginning, StoreError> {
        let (walk, page) = (request.walk(&self.caller), request.page.unwrap_or(0));
        let bookmark = async {
            if skipped == 0 {
                return Ok(None);
            }
            let bookmark = self.page_cursor(&walk, page).await?;
            Ok(bookmark.and_then(|cursor| cursor.after))
        };
        let expected = self.hints.pages.get(&walk.page(page)).filter(|_| skipped > 0);
        let expected = expected.and_then(|cursor| cursor.after);
        let to_pass = match expected {
            Some(_) => 0,
            None if skipped < FAR => usize::try_from(skipped).unwrap_or(0),
            None => {
                let bookmark = bookmark.await?;
                return Ok(Beginning {
                    lists: self.lists(request, reach, bookmark.as_deref()),
                    read_after: bookmark.clone(),
                    bookmark,
                });
            }
        };
        let mut lists = self.lists(request, reach, expected.as_deref());
        let likely = to_pass + usize::from(request.limit);
        // The caller is not yet authenticated, so its read budget is unknown.
        let fill = lists.fill(|_| likely, |range| self.table.query(range));
        let (_, bookmark) = try_join!(fill, bookmark)?;
        Ok(Beginning {
            lists,
            read_after: expected,
            bookmark,
        })
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
    pub(crate) async fn finish_page(
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
        // A page with a cursor is not compared with the total, because leads that left the list concurrently make its
        // offset too large.
        let Beginning {
            lists,
            read_after,
            bookmark,
        } = start.beginning;
        let to_skip = if bookmark.is_some() { 0 } else { skipped };
        if to_skip > 0 && to_skip >= total {
            return Ok(page(Vec::new()));
        }
        let after = bookmark.as_ref().and_then(|after| after.parse().ok());
        let asked = RequestedPage {
            reader: &self.reader,
            viewer,
            request,
            reach: &truth.leads,
            after: after.and_then(LeadId::new),
            budget: &budget,
        };
        // Lists read from the first lead contain the page too; the scan omits leads up to the cursor.
        let is_right = start.guess.leads == truth.leads && (read_after.is_none() || read_after == bookmark);
        let anew = || self.reader.lists(request, &truth.leads, bookmark.as_deref());
        let lists = if is_right { lists } else { anew() };
        let entries = ReadBudget::in_time(self.page_entries(&asked, to_skip, lists)).await?;
        let mut page = page(entries);
        let first = if request.from_zero { 0 } else { truth.page_base };
        self.end_page((request, first), &mut page, bookmark).await?;
        Ok(page)
    }

    /// Stores the cursor of the next page, concurrently with the read of whole records if they are requested.
    async fn end_page(
        &self,
        (request, first): (&LeadRequest, u64),
        page: &mut LeadPage,
        bookmark: Option<String>,
    ) -> Result<(), StoreError> {
        let last = page.entries.last().map(|last| last.id.padded());
        let records = async {
            if request.whole {
                self.reader.read_records(page).await?;
            }
            Ok(())
        };
        try_join!(records, self.remember(request, first, last.or(bookmark)))?;
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

    /// The entries of a page: near ones from the beginning of the lists, far ones through
    /// blocks.
    async fn page_entries(
        &self,
        asked: &RequestedPage<'_>,
        skip: u64,
        lists: MergeScan<LeadEntry>,
    ) -> Result<Vec<LeadEntry>, StoreError> {
        if skip >= FAR {
            return self.far_page(asked, skip).await;
        }
        asked.scan(lists).page(skip).await
    }

    /// A page without a cursor, found through [blocks](crate::store::leads::blocks).
    async fn far_page(&self, asked: &RequestedPage<'_>, mut skip: u64) -> Result<Vec<LeadEntry>, StoreError> {
        let locator = self.reader.page_locator(asked.viewer, asked.request.archived);
        let locator = locator.await?;
        let mut block = 0;
        let after = loop {
            match locator.next_step(&mut block, &mut skip) {
                LocatorStep::ScanAfter(after) => break after,
                LocatorStep::Read { after, through } => {
                    let bounds = (after.as_deref(), Some(through.as_str()));
                    if let Some(last) = asked.between(bounds).pass(&mut skip).await? {
                        break Some(last.padded());
                    }
                }
            }
        };
        asked.between((after.as_deref(), None)).page(skip).await
    }

    /// Stores the cursor of the next page. New leads come after all others. If the cursor cannot be stored, the page
    /// fails, because the next page would continue an earlier read.
    pub(super) async fn remember(
        &self,
        request: &LeadRequest,
        first: u64,
        after: Option<String>,
    ) -> Result<(), StoreError> {
        // A request without a page number has no next page.
        let Some(page) = request.page else {
            return Ok(());
        };
        // With base 1, page 0 is also the first page, and page 2 follows it (C-40).
        let next = page.max(first).saturating_add(1);
        let cursor = after.map(|after| PageCursor::after(Some(after)));
        self.put_page_cursor(&request.walk(&self.reader.caller), next, cursor)
            .await
    }
}
