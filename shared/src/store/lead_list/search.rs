//! A search: every entry within reach is read once, in parallel parts.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::try_join;

use super::{Entries, Guess, LeadEntry, LeadPage, LeadRequest, Records};
use crate::directory::{Coverage, Viewer};
use crate::store::error::StoreError;
use crate::store::item;
use crate::store::key::Counter;
use crate::store::table::{PAGE, Span};
use crate::store::{InstanceStore, Reader};

/// The term of a search over leads (C-20).
pub use crate::search::Term as LeadSearch;

/// Parts of the list that are read at the same time.
const PARTS: u64 = 8;

/// What was read for a search before it was known who asks.
#[derive(Debug)]
pub struct SearchStart {
    search: LeadSearch,
    head: Option<Entries>,
    /// The number last taken by a lead: no id is above it.
    last_id: u64,
}

impl LeadEntry {
    fn is_found_by(&self, search: &LeadSearch) -> bool {
        let numbers = self.digits.iter().map(String::as_str);
        search.finds_lead(&self.fullname, self.email.as_deref(), numbers)
    }
}

impl Reader {
    pub(super) async fn begin_search(
        &self,
        request: &LeadRequest,
        search: &LeadSearch,
        guess: &Guess,
    ) -> Result<SearchStart, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let (head, counter) = try_join!(self.search_head(request, guess), self.table.get(&counter))?;
        Ok(SearchStart {
            search: search.clone(),
            head,
            last_id: item::number("counter", &counter.unwrap_or_default(), "lead")?,
        })
    }
}

impl Reader {
    /// The head of the list of all leads, for those who see them all.
    async fn search_head(&self, request: &LeadRequest, guess: &Guess) -> Result<Option<Entries>, StoreError> {
        if guess.leads != Coverage::All {
            return Ok(None);
        }
        let list = self.keys().lead_list(request.archived);
        self.entries(Span::head(list, PAGE)).await.map(Some)
    }
}

impl InstanceStore {
    pub(super) async fn finish_search(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: SearchStart,
        truth: Guess,
    ) -> Result<LeadPage, StoreError> {
        let limit = usize::from(request.limit);
        let skipped = usize::try_from(truth.skipped(request.page, request.limit)).unwrap_or(usize::MAX);
        let search = &start.search;
        let matches = |entry: &LeadEntry| entry.class.is_seen_by(viewer) && entry.is_found_by(search);
        let (head, spans) = match (truth.leads, start.head) {
            (Coverage::Nothing, _) => (Vec::new(), Vec::new()),
            (Coverage::All, Some(head)) => {
                let rest = self.behind(&head, start.last_id, request.archived);
                (head.entries, rest)
            }
            (Coverage::All, None) => {
                let list = self.keys().lead_list(request.archived);
                (Vec::new(), vec![Span::head(list, PAGE)])
            }
            (Coverage::Users(owners), _) => {
                let lists = owners
                    .into_iter()
                    .map(|owner| self.keys().owner_list(request.archived, owner));
                (Vec::new(), lists.map(|list| Span::head(list, PAGE)).collect())
            }
        };
        let needed = skipped.saturating_add(limit);
        let parts = stream::iter(spans).map(|span| self.matches(span, &matches, needed));
        let parts: Vec<_> = parts.buffered(8).try_collect().await?;
        let mut entries: Vec<_> = head.into_iter().filter(&matches).collect();
        let total = entries.len() as u64 + parts.iter().map(|(count, _)| count).sum::<u64>();
        entries.extend(parts.into_iter().flat_map(|(_, entries)| entries));
        entries.sort_unstable_by_key(|entry| entry.id);
        Ok(LeadPage {
            entries: entries.into_iter().skip(skipped).take(limit).collect(),
            total,
            neighbours: false,
            records: Records::default(),
        })
    }

    /// What lies behind the head of the list of all leads, in parts of equally many ids.
    fn behind(&self, head: &Entries, last_id: u64, archived: bool) -> Vec<Span> {
        let Some(last) = head.entries.last().filter(|_| head.more) else {
            return Vec::new();
        };
        let first = last.id.get();
        let step = last_id.saturating_sub(first).div_ceil(PARTS).max(1);
        let bound = |part: u64| format!("{:015}", first + part * step);
        let spans = (0..PARTS).map(|part| Span {
            partition: self.keys().lead_list(archived),
            after: Some(bound(part)),
            // Leads may be added while we read, so the last part has no end.
            through: (part + 1 < PARTS).then(|| bound(part + 1)),
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
            let Entries { entries, more } = self.entries(span.clone()).await?;
            if let Some(last) = entries.last() {
                span.after = Some(last.id.padded());
            }
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
