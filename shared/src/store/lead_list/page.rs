//! A page of the list without a search: the total from counters, the entries from where the page begins.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use serde::Deserialize;
use tokio::try_join;

use super::{Entries, Guess, LeadClass, LeadEntry, LeadPage, LeadRequest, Records};
use crate::directory::{Coverage, Viewer};
use crate::id::{LeadId, MAX_ID};
use crate::store::bookmarks::PageCursor;
use crate::store::budget::ReadBudget;
use crate::store::error::StoreError;
use crate::store::gate::{MAX_AHEAD, MAX_COUNTERS_AHEAD};
use crate::store::table::{PAGE, Page, Span};
use crate::store::{InstanceStore, Reader, bookmarks, item};

/// Skipping so many entries costs more than remembering where a page begins.
const WORTH_A_BOOKMARK: u64 = 500;

/// What was read of a page before it was known who asks.
#[derive(Debug)]
pub struct PageStart {
    guess: Guess,
    totals: Vec<LeadTotal>,
    /// Where the page, or the way to it, begins in the lists that the guess reaches.
    cursors: Vec<Cursor>,
    /// Behind which place in the list the page begins.
    bookmark: Option<String>,
    records: Records,
}

/// How many leads there are of a class.
#[derive(Debug, Deserialize)]
struct LeadTotal {
    #[serde(rename = "n")]
    count: i64,
    #[serde(flatten)]
    class: LeadClass,
}

impl LeadRequest {
    /// What the bookmarks of this walk are called.
    fn walk(&self) -> bookmarks::Walk {
        let query = format!("leads {} {}", self.archived, self.limit);
        bookmarks::Walk::new(&self.walker, &self.client, &query)
    }
}

impl Reader {
    pub(super) async fn begin_page(
        &self,
        request: &LeadRequest,
        guess: Guess,
    ) -> Result<PageStart, StoreError> {
        let skipped = guess.skipped(request.page, request.limit);
        let totals = self.lead_totals(request.archived);
        let beginning = self.beginning(request, &guess.leads, skipped);
        let records = self.first_records(request, &guess.leads, skipped);
        let (totals, (cursors, bookmark), records) = try_join!(totals, beginning, records)?;
        Ok(PageStart {
            guess,
            totals,
            cursors,
            bookmark,
            records,
        })
    }

    /// The records that the first page is likely to show, where whole ones are wanted.
    async fn first_records(
        &self,
        request: &LeadRequest,
        reach: &Coverage,
        skipped: u64,
    ) -> Result<Records, StoreError> {
        let likely = request.whole && !request.archived && *reach == Coverage::All && skipped == 0;
        match LeadId::new(MAX_ID) {
            Some(last) if likely => {
                // A few more, because archived leads stand among them, unless they would have to wait for the check.
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

    async fn lead_totals(&self, archived: bool) -> Result<Vec<LeadTotal>, StoreError> {
        let span = Span::head(self.keys().lead_totals(archived), PAGE);
        let totals = self.table.query_all_ahead(span, MAX_COUNTERS_AHEAD).await?;
        totals
            .into_iter()
            .map(|item| item::decode("lead total", item))
            .collect()
    }

    /// The heads of the lists through the page where it is near, else the bookmark where the page begins.
    async fn beginning(
        &self,
        request: &LeadRequest,
        reach: &Coverage,
        skipped: u64,
    ) -> Result<(Vec<Cursor>, Option<String>), StoreError> {
        let near = usize::try_from(skipped)
            .ok()
            .filter(|_| skipped < WORTH_A_BOOKMARK);
        let Some(near) = near else {
            let bookmark = self.bookmark(&request.walk(), request.page.unwrap_or(0)).await?;
            let bookmark = bookmark.and_then(|cursor| cursor.after);
            return Ok((self.cursors(request, reach, bookmark.as_deref()), bookmark));
        };
        let mut cursors = self.cursors(request, reach, None);
        let likely = near + usize::from(request.limit);
        try_join_all(cursors.iter_mut().map(|cursor| cursor.fill(self, likely))).await?;
        Ok((cursors, None))
    }

    /// The lists within reach, from behind a lead on.
    fn cursors(&self, request: &LeadRequest, reach: &Coverage, after: Option<&str>) -> Vec<Cursor> {
        let keys = self.keys();
        let cursor = |list| Cursor {
            list,
            after: after.map(str::to_owned),
            buffer: VecDeque::new(),
            more: true,
        };
        match reach {
            Coverage::Nothing => Vec::new(),
            Coverage::All => vec![cursor(keys.lead_list(request.archived))],
            Coverage::Users(owners) => {
                let lists = owners
                    .iter()
                    .map(|owner| keys.owner_list(request.archived, *owner));
                lists.map(cursor).collect()
            }
        }
    }
}

impl InstanceStore {
    pub(super) async fn finish_page(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: PageStart,
        truth: Guess,
    ) -> Result<LeadPage, StoreError> {
        let skipped = truth.skipped(request.page, request.limit);
        let seen = start.totals.iter().filter(|total| total.class.is_seen_by(viewer));
        let total = u64::try_from(seen.map(|total| total.count).sum::<i64>()).unwrap_or(0);
        let page = |entries| LeadPage {
            entries,
            total,
            neighbours: truth.leads == Coverage::All && !request.archived,
            records: start.records,
        };
        // A walk by bookmarks ends where the list ends: leads that left it meanwhile make an offset point too far.
        let to_skip = if start.bookmark.is_some() { 0 } else { skipped };
        if to_skip > 0 && to_skip >= total {
            return Ok(page(Vec::new()));
        }
        let cursors = if start.guess.leads == truth.leads {
            start.cursors
        } else {
            self.cursors(request, &truth.leads, start.bookmark.as_deref())
        };
        let budget = ReadBudget::of(viewer);
        let mut walk = Walk {
            reader: self,
            viewer,
            budget: &budget,
            cursors,
        };
        let entries = ReadBudget::in_time(walk.page(to_skip, request.limit)).await?;
        let behind = skipped.saturating_add(u64::from(request.limit));
        if behind >= WORTH_A_BOOKMARK {
            let last = entries.last().map(|last| last.id.padded());
            self.remember(request, last.or(start.bookmark)).await?;
        }
        Ok(page(entries))
    }

    /// Remembers where the next page begins: new leads come after all others. Where that cannot be written the page fails: the
    /// next one would begin where the same page of an earlier walk ended.
    async fn remember(&self, request: &LeadRequest, after: Option<String>) -> Result<(), StoreError> {
        let Some(next) = request.page.map(|page| page.saturating_add(1)) else {
            return Ok(());
        };
        let cursor = after.map(|after| PageCursor::after(Some(after)));
        self.put_bookmark(&request.walk(), next, cursor).await
    }
}

/// A walk through the lists within a viewer's reach, merged by id.
struct Walk<'a> {
    reader: &'a Reader,
    viewer: &'a Viewer,
    budget: &'a ReadBudget,
    cursors: Vec<Cursor>,
}

/// A place in one list.
#[derive(Debug)]
struct Cursor {
    list: String,
    after: Option<String>,
    buffer: VecDeque<LeadEntry>,
    more: bool,
}

impl Walk<'_> {
    /// The next `limit` leads that the viewer sees, after the next `skip`.
    async fn page(&mut self, mut skip: u64, limit: u16) -> Result<Vec<LeadEntry>, StoreError> {
        let limit = usize::from(limit);
        let mut page = Vec::new();
        while page.len() < limit {
            let skipped = usize::try_from(skip).unwrap_or(PAGE);
            let likely = skipped.saturating_add(limit - page.len());
            let Some(entry) = self.next(likely).await? else {
                break;
            };
            match skip {
                _ if !entry.class.is_seen_by(self.viewer) => {}
                0 => page.push(entry),
                _ => skip -= 1,
            }
        }
        Ok(page)
    }

    /// The next entry by id; `likely` entries will be asked for.
    async fn next(&mut self, likely: usize) -> Result<Option<LeadEntry>, StoreError> {
        let read_out = |cursor: &&mut Cursor| cursor.buffer.is_empty() && cursor.more;
        let read_out = self.cursors.iter_mut().filter(read_out);
        try_join_all(read_out.map(|cursor| cursor.read_on(self.reader, self.budget, likely))).await?;
        let heads = self.cursors.iter_mut().filter(|cursor| !cursor.buffer.is_empty());
        let first = heads.min_by_key(|cursor| cursor.buffer.front().map(|entry| entry.id));
        Ok(first.and_then(|cursor| cursor.buffer.pop_front()))
    }
}

impl Cursor {
    /// Reads before it is known who asks, and what that may cost.
    async fn fill(&mut self, reader: &Reader, limit: usize) -> Result<(), StoreError> {
        let page = reader.table.query(self.span(limit)).await?;
        self.take(page)
    }

    async fn read_on(
        &mut self,
        reader: &Reader,
        budget: &ReadBudget,
        limit: usize,
    ) -> Result<(), StoreError> {
        let page = budget.query(&reader.table, self.span(limit)).await?;
        self.take(page)
    }

    fn span(&self, limit: usize) -> Span {
        Span {
            partition: self.list.clone(),
            after: self.after.clone(),
            through: None,
            limit,
        }
    }

    fn take(&mut self, page: Page) -> Result<(), StoreError> {
        let Entries { leads, more, .. } = Entries::read(page)?;
        if let Some(last) = leads.last() {
            self.after = Some(last.id.padded());
        }
        self.buffer.extend(leads);
        self.more = more;
        Ok(())
    }
}
