//! The list of leads (C-20): pages by id, totals, search.
//!
//! Reading begins before the credential is known to be good, on the guess that the key sees every lead and pages
//! count from 1: where the guess holds, the list costs one sequential round trip. Nothing read early is used before
//! the check, and a wrong guess costs another round trip, never another answer.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::try_join;

use super::error::StoreError;
use super::item::{self, Item, n};
use super::key::Counter;
use super::table::{PAGE, Page, Span};
use super::{InstanceStore, Reader, leads};
use crate::directory::{AccessLists, LeadReach, Viewer};
use crate::id::{LeadId, UserId};
use crate::lead::Lead;
use crate::text::{fold, hex};

/// Skipping so many entries costs more than remembering where a page begins.
const WORTH_A_BOOKMARK: u64 = 500;
/// How long a client may rest between two pages without the walk starting anew.
const BOOKMARK_SECONDS: u32 = 3600;
/// Parts of the list that a search reads at the same time.
const SEARCHERS: usize = 8;

/// A lead in a list: what the summary shows, what decides who sees it, and what a search reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadEntry {
    /// The lead.
    pub id: LeadId,
    /// The full name.
    #[serde(rename = "n", default)]
    pub fullname: String,
    /// The e-mail address.
    #[serde(rename = "e", default)]
    pub email: Option<String>,
    #[serde(flatten)]
    class: LeadClass,
    /// The digits of its numbers.
    #[serde(rename = "p", default)]
    digits: Vec<String>,
}

/// What decides who sees a lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeadClass {
    #[serde(rename = "o", default)]
    owner: Option<UserId>,
    #[serde(flatten)]
    lists: AccessLists,
}

#[derive(Debug, Deserialize)]
struct LeadTotal {
    #[serde(rename = "n")]
    count: i64,
    #[serde(flatten)]
    class: LeadClass,
}

impl LeadClass {
    pub(super) fn of(lead: &Lead) -> Self {
        Self {
            owner: lead.owner,
            lists: lead.lists(),
        }
    }

    fn is_seen_by(&self, viewer: &Viewer) -> bool {
        viewer.sees_lead(self.owner, &self.lists)
    }
}

impl LeadEntry {
    pub(super) fn of(lead: &Lead) -> Self {
        Self {
            id: lead.id,
            fullname: lead.fullname(),
            email: lead.email.clone(),
            class: LeadClass::of(lead),
            digits: lead
                .numbers()
                .map(crate::phone::digits)
                .filter(|digits| !digits.is_empty())
                .collect(),
        }
    }
}

/// A search term (C-20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadSearch {
    folded: String,
    /// The term's digits, where it is compared with phone numbers at all.
    digits: Option<String>,
}

impl LeadSearch {
    /// A trimmed term; `None` for a blank one. It is compared with phones only when it has a digit and no letter.
    #[must_use]
    pub fn new(term: &str) -> Option<Self> {
        let term = term.trim();
        let digits = crate::phone::digits(term);
        let numeric = !digits.is_empty() && !term.chars().any(char::is_alphabetic);
        (!term.is_empty()).then(|| Self {
            folded: fold(term),
            digits: numeric.then_some(digits),
        })
    }

    fn finds(&self, entry: &LeadEntry) -> bool {
        let has = |text: &str| fold(text).contains(&self.folded);
        let dials = |digits: &String| entry.digits.iter().any(|number| number.contains(digits));
        has(&entry.fullname)
            || entry.email.as_deref().is_some_and(has)
            || self.digits.as_ref().is_some_and(dials)
    }
}

/// Which leads are asked for.
#[derive(Debug, Clone)]
pub struct LeadRequest {
    /// The archived ones, or the others.
    pub archived: bool,
    /// Only those that a term finds.
    pub search: Option<LeadSearch>,
    /// The page as the caller counts, absent for the first.
    pub page: Option<u64>,
    /// Leads on a page.
    pub limit: u16,
    /// Who is walking through the pages: bookmarks of one caller never serve another.
    pub walker: String,
}

/// What was read of a list before it was known who asks.
#[derive(Debug)]
pub struct LeadStart {
    totals: Vec<LeadTotal>,
    head: Head,
    bookmark: Option<LeadId>,
    last_id: u64,
}

#[derive(Debug)]
struct Head {
    entries: Vec<LeadEntry>,
    more: bool,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadPage {
    /// The leads on it, by id.
    pub entries: Vec<LeadEntry>,
    /// How many leads the viewer sees on all pages.
    pub total: u64,
    /// Whether few records lie between those of the page.
    neighbours: bool,
}

impl LeadRequest {
    fn skipped(&self, pages_before: u64) -> u64 {
        pages_before.saturating_mul(u64::from(self.limit))
    }

    /// What the bookmarks of this walk are called.
    fn walk(&self) -> String {
        let text = format!("leads {} {} {}", self.walker, self.archived, self.limit);
        hex(&Sha256::digest(text)[..16])
    }
}

impl Reader {
    /// Begins to read the list, on the guess that pages count from 1 and the key sees every lead. One round trip.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn begin_leads(&self, request: &LeadRequest) -> Result<LeadStart, StoreError> {
        let skipped = request.skipped(request.page.unwrap_or(0).saturating_sub(1));
        let shallow = skipped < WORTH_A_BOOKMARK;
        let searched = request.search.is_some();
        let limit = if searched {
            PAGE
        } else {
            usize::try_from(skipped).unwrap_or(PAGE).saturating_add(usize::from(request.limit))
        };
        let head = async {
            if !shallow && !searched {
                return Ok(Head {
                    entries: Vec::new(),
                    more: true,
                });
            }
            self.entries(Span::head(self.keys().lead_list(request.archived), limit))
                .await
        };
        let totals = async {
            if searched {
                return Ok(Vec::new());
            }
            let totals = self
                .table
                .query_all(Span::head(self.keys().lead_totals(request.archived), PAGE))
                .await?;
            totals
                .into_iter()
                .map(|item| item::decode("lead total", item))
                .collect()
        };
        let bookmark = async {
            if shallow || searched {
                return Ok(None);
            }
            self.bookmark(request).await
        };
        let last_id = async {
            if !searched {
                return Ok(0);
            }
            let counter = self
                .table
                .get(&self.keys().counter(Counter::Lead))
                .await?
                .unwrap_or_default();
            item::number("counter", &counter, "lead")
        };
        let (head, totals, bookmark, last_id) = try_join!(head, totals, bookmark, last_id)?;
        Ok(LeadStart {
            totals,
            head,
            bookmark,
            last_id,
        })
    }

    async fn bookmark(&self, request: &LeadRequest) -> Result<Option<LeadId>, StoreError> {
        let key = self.keys().bookmark(&request.walk(), request.page.unwrap_or(0));
        let item = self.table.get(&key).await?.unwrap_or_default();
        // DynamoDB deletes expired items within days, not at once.
        let now = u64::try_from(self.table.ambient.now().unix_seconds()).unwrap_or(0);
        let fresh = item::number("bookmark", &item, "ttl")? > now;
        Ok(LeadId::new(item::number("bookmark", &item, "after")?).filter(|_| fresh))
    }

    async fn entries(&self, span: Span) -> Result<Head, StoreError> {
        let Page { items, more } = self.table.query(span).await?;
        let entries: Result<_, _> = items
            .into_iter()
            .map(|item| item::decode("lead entry", item))
            .collect();
        Ok(Head {
            entries: entries?,
            more,
        })
    }

    /// The records of a page's leads in their order; those gone meanwhile are left out. Where they are neighbours one
    /// query reads them for the bytes they have; what it does not reach within twice their number, and what lies
    /// scattered, is got for a unit each.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn leads_of(&self, page: &LeadPage) -> Result<Vec<Lead>, StoreError> {
        let ids: Vec<_> = page.entries.iter().map(|entry| entry.id).collect();
        let (mut found, mut reached) = (Vec::new(), 0);
        if let (Some(first), Some(last)) = (ids.first(), ids.last())
            && page.neighbours
        {
            let span = Span {
                partition: self.keys().leads(),
                // `after` excludes its own key: the text before the first id's is that of the id one lower.
                after: Some(format!("{:015}", first.get() - 1)),
                through: Some(last.padded()),
                limit: 2 * ids.len(),
            };
            let Page { items, more } = self.table.query(span).await?;
            found = items.into_iter().map(leads::decode).collect::<Result<Vec<_>, _>>()?;
            let end = found.last().filter(|_| more).map_or(last.get(), |record| record.lead.id.get());
            reached = ids.partition_point(|id| id.get() <= end);
        }
        let scattered = self.table.get_many(ids[reached..].iter().map(|id| self.keys().lead(*id))).await?;
        for item in scattered.into_values() {
            found.push(leads::decode(item)?);
        }
        let mut leads: Vec<_> = found.into_iter().map(|record| record.lead).collect();
        leads.retain(|lead| ids.binary_search(&lead.id).is_ok());
        leads.sort_unstable_by_key(|lead| lead.id);
        Ok(leads)
    }
}

impl InstanceStore {
    /// Finishes a list that was begun, for a viewer that is now known.
    ///
    /// # Errors
    /// [`StoreError`] where more must be read and cannot be.
    pub async fn finish_leads(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: LeadStart,
    ) -> Result<LeadPage, StoreError> {
        let pages_before = request
            .page
            .map_or(0, |page| viewer.directory().settings.pages_before(page));
        let skipped = request.skipped(pages_before);
        if let Some(search) = &request.search {
            return self.search(viewer, request, search, start, skipped).await;
        }
        let seen = start.totals.iter().filter(|total| total.class.is_seen_by(viewer));
        let total = u64::try_from(seen.map(|total| total.count).sum::<i64>()).unwrap_or(0);
        let bookmarked = start.bookmark.is_some();
        if skipped >= total && !bookmarked {
            return Ok(LeadPage {
                entries: Vec::new(),
                total,
                neighbours: false,
            });
        }
        let mut walk = Walk::new(self, viewer, request, start);
        let entries = walk
            .page(if bookmarked { 0 } else { skipped }, request.limit)
            .await?;
        let full = entries.len() == usize::from(request.limit);
        if full && skipped.saturating_add(u64::from(request.limit)) >= WORTH_A_BOOKMARK {
            self.put_bookmark(request, entries.last()).await?;
        }
        let neighbours = viewer.lead_reach() == LeadReach::All && !request.archived;
        Ok(LeadPage {
            entries,
            total,
            neighbours,
        })
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
        self.table
            .put(
                &self.keys().bookmark(&request.walk(), page.saturating_add(1)),
                item,
            )
            .await
    }

    /// Reads every entry within reach once, in parallel parts, counting the matches and keeping those of the page.
    async fn search(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        search: &LeadSearch,
        start: LeadStart,
        skipped: u64,
    ) -> Result<LeadPage, StoreError> {
        let limit = usize::from(request.limit);
        let needed = usize::try_from(skipped)
            .unwrap_or(usize::MAX)
            .saturating_add(limit);
        let matches = |entry: &LeadEntry| entry.class.is_seen_by(viewer) && search.finds(entry);
        let (spans, head) = match viewer.lead_reach() {
            LeadReach::Nothing => (Vec::new(), Vec::new()),
            LeadReach::All => (self.rest(request.archived, &start), start.head.entries),
            LeadReach::Owners(owners) => {
                let lists = owners
                    .into_iter()
                    .map(|owner| self.keys().owner_list(request.archived, owner));
                (lists.map(|list| Span::head(list, PAGE)).collect(), Vec::new())
            }
        };
        let found = stream::iter(spans)
            .map(|span| self.matches(span, &matches, needed))
            .buffered(SEARCHERS);
        let found: Vec<_> = found.try_collect().await?;
        let mut entries: Vec<_> = head.into_iter().filter(&matches).collect();
        let total = entries.len() as u64 + found.iter().map(|(count, _)| count).sum::<u64>();
        entries.extend(found.into_iter().flat_map(|(_, entries)| entries));
        entries.sort_unstable_by_key(|entry| entry.id);
        let entries = entries.into_iter().skip(needed - limit).take(limit).collect();
        Ok(LeadPage {
            entries,
            total,
            neighbours: false,
        })
    }

    /// What lies behind the head of the list of all leads, in parts of equally many ids.
    fn rest(&self, archived: bool, start: &LeadStart) -> Vec<Span> {
        let Some(last) = start.head.entries.last().filter(|_| start.head.more) else {
            return Vec::new();
        };
        let first = last.id.get();
        let step = start
            .last_id
            .saturating_sub(first)
            .div_ceil(SEARCHERS as u64)
            .max(1);
        let bound = |part: u64| format!("{:015}", first + part * step);
        let spans = (0..SEARCHERS as u64).map(|part| Span {
            partition: self.keys().lead_list(archived),
            after: Some(bound(part)),
            // Leads may be added while we read, so the last part has no end.
            through: (part + 1 < SEARCHERS as u64).then(|| bound(part + 1)),
            limit: PAGE,
        });
        spans.collect()
    }

    /// How many entries of `span` match, and the first `needed` of them.
    async fn matches(
        &self,
        mut span: Span,
        matches: &impl Fn(&LeadEntry) -> bool,
        needed: usize,
    ) -> Result<(u64, Vec<LeadEntry>), StoreError> {
        let (mut count, mut kept) = (0, Vec::new());
        loop {
            let Head { entries, more } = self.entries(span.clone()).await?;
            span.after = entries.last().map(|entry| entry.id.padded());
            for entry in entries.into_iter().filter(matches) {
                count += 1;
                if kept.len() < needed {
                    kept.push(entry);
                }
            }
            if !more {
                return Ok((count, kept));
            }
        }
    }
}

/// A walk through the lists within a viewer's reach, merged by id.
struct Walk<'a> {
    reader: &'a Reader,
    viewer: &'a Viewer,
    cursors: Vec<Cursor>,
}

struct Cursor {
    list: String,
    after: Option<String>,
    buffer: VecDeque<LeadEntry>,
    more: bool,
}

impl<'a> Walk<'a> {
    fn new(reader: &'a Reader, viewer: &'a Viewer, request: &LeadRequest, start: LeadStart) -> Self {
        let after = start.bookmark.map(LeadId::padded);
        let cursor = |list| Cursor {
            list,
            after: after.clone(),
            buffer: VecDeque::new(),
            more: true,
        };
        let cursors = match viewer.lead_reach() {
            LeadReach::Nothing => Vec::new(),
            LeadReach::Owners(owners) => owners
                .into_iter()
                .map(|owner| cursor(reader.keys().owner_list(request.archived, owner)))
                .collect(),
            LeadReach::All => {
                let all = cursor(reader.keys().lead_list(request.archived));
                let last = start.head.entries.last().map(|entry| entry.id.padded());
                let head = VecDeque::from(start.head.entries);
                vec![Cursor {
                    after: last.or(all.after),
                    buffer: head,
                    more: start.head.more,
                    ..all
                }]
            }
        };
        Self {
            reader,
            viewer,
            cursors,
        }
    }

    async fn page(&mut self, skipped: u64, limit: u16) -> Result<Vec<LeadEntry>, StoreError> {
        let mut skip = skipped;
        let mut page = Vec::new();
        while page.len() < usize::from(limit) {
            let wanted = usize::try_from(skip)
                .unwrap_or(PAGE)
                .saturating_add(usize::from(limit) - page.len());
            let Some(entry) = self.next(wanted).await? else {
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

    /// The next entry by id, of which `wanted` more are likely to be asked for.
    async fn next(&mut self, wanted: usize) -> Result<Option<LeadEntry>, StoreError> {
        let empty = self
            .cursors
            .iter_mut()
            .filter(|cursor| cursor.buffer.is_empty() && cursor.more);
        try_join_all(empty.map(|cursor| cursor.fill(self.reader, wanted))).await?;
        let first = self
            .cursors
            .iter_mut()
            .min_by_key(|cursor| cursor.buffer.front().map_or(u64::MAX, |e| e.id.get()));
        Ok(first.and_then(|cursor| cursor.buffer.pop_front()))
    }
}

impl Cursor {
    async fn fill(&mut self, reader: &Reader, wanted: usize) -> Result<(), StoreError> {
        let span = Span {
            partition: self.list.clone(),
            after: self.after.clone(),
            through: None,
            limit: wanted,
        };
        let Head { entries, more } = reader.entries(span).await?;
        self.after = entries
            .last()
            .map(|entry| entry.id.padded())
            .or(self.after.take());
        self.buffer.extend(entries);
        self.more = more;
        Ok(())
    }
}
