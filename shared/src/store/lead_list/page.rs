//! A page of the list without a search: the total from counters, the entries from where the page begins.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::try_join;

use super::{Entries, Guess, LeadClass, LeadEntry, LeadPage, LeadRequest, Records};
use crate::directory::{LeadReach, Viewer};
use crate::id::{LeadId, MAX_ID};
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n};
use crate::store::table::{PAGE, Span};
use crate::store::{InstanceStore, Reader};
use crate::text::hex;

/// Skipping so many entries costs more than remembering where a page begins.
const WORTH_A_BOOKMARK: u64 = 500;
/// How long a client may rest between two pages without the walk starting anew.
const BOOKMARK_SECONDS: u32 = 3600;

/// What was read of a page before it was known who asks.
#[derive(Debug)]
pub struct PageStart {
    guess: Guess,
    totals: Vec<LeadTotal>,
    /// Where the page, or the way to it, begins in the lists that the guess reaches.
    cursors: Vec<Cursor>,
    /// The last lead before the page.
    bookmark: Option<LeadId>,
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
    fn walk(&self) -> String {
        let text = format!("leads {} {} {}", self.walker, self.archived, self.limit);
        hex(&Sha256::digest(text)[..16])
    }
}

impl Reader {
    pub(super) async fn begin_page(
        &self,
        request: &LeadRequest,
        guess: Guess,
    ) -> Result<PageStart, StoreError> {
        let skipped = request.skipped(guess.page_base);
        let totals = self.lead_totals(request.archived);
        let beginning = self.beginning(request, &guess.reach, skipped);
        let records = self.first_records(request, &guess.reach, skipped);
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
        reach: &LeadReach,
        skipped: u64,
    ) -> Result<Records, StoreError> {
        let likely = request.whole && !request.archived && *reach == LeadReach::All && skipped == 0;
        match LeadId::new(MAX_ID) {
            Some(last) if likely => {
                // A few more, because archived leads stand among them.
                let limit = usize::from(request.limit);
                self.records(0, last, limit + limit / 8 + 2).await
            }
            _ => Ok(Records::default()),
        }
    }

    async fn lead_totals(&self, archived: bool) -> Result<Vec<LeadTotal>, StoreError> {
        let span = Span::head(self.keys().lead_totals(archived), PAGE);
        let totals = self.table.query_all(span).await?.into_iter();
        totals.map(|item| item::decode("lead total", item)).collect()
    }

    /// The heads of the lists through the page where it is near, else the bookmark where the page begins.
    async fn beginning(
        &self,
        request: &LeadRequest,
        reach: &LeadReach,
        skipped: u64,
    ) -> Result<(Vec<Cursor>, Option<LeadId>), StoreError> {
        let near = usize::try_from(skipped)
            .ok()
            .filter(|_| skipped < WORTH_A_BOOKMARK);
        let Some(near) = near else {
            let bookmark = self.bookmark(request).await?;
            return Ok((self.cursors(request, reach, bookmark), bookmark));
        };
        let mut cursors = self.cursors(request, reach, None);
        let likely = near + usize::from(request.limit);
        try_join_all(cursors.iter_mut().map(|cursor| cursor.fill(self, likely))).await?;
        Ok((cursors, None))
    }

    /// The lists within reach, from behind a lead on.
    fn cursors(&self, request: &LeadRequest, reach: &LeadReach, after: Option<LeadId>) -> Vec<Cursor> {
        let keys = self.keys();
        let cursor = |list| Cursor {
            list,
            after: after.map(LeadId::padded),
            buffer: VecDeque::new(),
            more: true,
        };
        match reach {
            LeadReach::Nothing => Vec::new(),
            LeadReach::All => vec![cursor(keys.lead_list(request.archived))],
            LeadReach::Owners(owners) => {
                let lists = owners
                    .iter()
                    .map(|owner| keys.owner_list(request.archived, *owner));
                lists.map(cursor).collect()
            }
        }
    }

    async fn bookmark(&self, request: &LeadRequest) -> Result<Option<LeadId>, StoreError> {
        let key = self.keys().bookmark(&request.walk(), request.page.unwrap_or(0));
        let item = self.table.get(&key).await?.unwrap_or_default();
        // DynamoDB deletes expired items within days, not at once.
        let now = u64::try_from(self.table.ambient.now().unix_seconds()).unwrap_or(0);
        let fresh = item::number("bookmark", &item, "ttl")? > now;
        Ok(LeadId::new(item::number("bookmark", &item, "after")?).filter(|_| fresh))
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
        let skipped = request.skipped(truth.page_base);
        let seen = start.totals.iter().filter(|total| total.class.is_seen_by(viewer));
        let total = u64::try_from(seen.map(|total| total.count).sum::<i64>()).unwrap_or(0);
        let page = |entries| LeadPage {
            entries,
            total,
            neighbours: truth.reach == LeadReach::All && !request.archived,
            records: start.records,
        };
        // A walk by bookmarks ends where the list ends: leads that left it meanwhile make an offset point too far.
        let to_skip = if start.bookmark.is_some() { 0 } else { skipped };
        if to_skip > 0 && to_skip >= total {
            return Ok(page(Vec::new()));
        }
        let cursors = if start.guess.reach == truth.reach {
            start.cursors
        } else {
            self.cursors(request, &truth.reach, start.bookmark)
        };
        let mut walk = Walk {
            reader: self,
            viewer,
            cursors,
        };
        let entries = walk.page(to_skip, request.limit).await?;
        let behind = skipped.saturating_add(u64::from(request.limit));
        if behind >= WORTH_A_BOOKMARK && entries.len() == usize::from(request.limit) {
            self.put_bookmark(request, entries.last()).await?;
        }
        Ok(page(entries))
    }

    /// Remembers where the next page begins.
    async fn put_bookmark(&self, request: &LeadRequest, last: Option<&LeadEntry>) -> Result<(), StoreError> {
        let (Some(last), Some(page)) = (last, request.page) else {
            return Ok(());
        };
        let expiry = self
            .table
            .ambient
            .now()
            .plus_seconds(BOOKMARK_SECONDS)
            .unix_seconds();
        let item = Item::from([("after".to_owned(), n(last.id)), ("ttl".to_owned(), n(expiry))]);
        let key = self.keys().bookmark(&request.walk(), page.saturating_add(1));
        self.table.put(&key, item).await
    }
}

/// A walk through the lists within a viewer's reach, merged by id.
struct Walk<'a> {
    reader: &'a Reader,
    viewer: &'a Viewer,
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
        try_join_all(read_out.map(|cursor| cursor.fill(self.reader, likely))).await?;
        let heads = self.cursors.iter_mut().filter(|cursor| !cursor.buffer.is_empty());
        let first = heads.min_by_key(|cursor| cursor.buffer.front().map(|entry| entry.id));
        Ok(first.and_then(|cursor| cursor.buffer.pop_front()))
    }
}

impl Cursor {
    async fn fill(&mut self, reader: &Reader, limit: usize) -> Result<(), StoreError> {
        let span = Span {
            partition: self.list.clone(),
            after: self.after.clone(),
            through: None,
            limit,
        };
        let Entries { entries, more } = reader.entries(span).await?;
        if let Some(last) = entries.last() {
            self.after = Some(last.id.padded());
        }
        self.buffer.extend(entries);
        self.more = more;
        Ok(())
    }
}
