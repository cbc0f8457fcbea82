//! Filters by tag without a term. Every visible entry is read once, in parallel parts, within the instance's budget of
//! units and time (C-86).

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::try_join;

use super::request::{Entries, LeadPage, LeadRequest, LeadSearch, Records};
use crate::ids::LeadId;
use crate::phone::Phone;
use crate::store::budget::ReadBudget;
use crate::store::key::{self, Counter};
use crate::store::leads::record::LeadEntry;
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{Reader, Writer};
use crate::viewer::{OwnerScope, Viewer};
use table::StoreError;
use table::item;
use table::{KeyRange, ListEntry as _, Pages};

/// Number of parts of the list.
const PARTS: u64 = 8;
/// Maximum parts that are read in parallel.
const CONCURRENCY: usize = 8;
/// Maximum matches that are kept whole. For later pages only the ids of all matches are kept.
const MAX_KEPT: usize = 1000;

/// Prefetched reads of a search.
#[derive(Debug)]
pub struct PrefetchedSearch {
    head: Option<Entries>,
    /// The last taken id of a lead.
    last_id: u64,
}

impl LeadEntry {
    /// Whether the lead has the requested tag and the term finds it.
    pub(super) fn matches(&self, request: &LeadRequest) -> bool {
        let tagged = request.tag.is_none_or(|tag| self.tags.contains(&tag));
        tagged
            && request
                .search
                .as_ref()
                .is_none_or(|search| self.is_found_by(search))
    }

    fn is_found_by(&self, search: &LeadSearch) -> bool {
        let phones = self.digits.iter().map(|digits| Phone::of_normal(digits));
        search.finds_lead(self.id, (&self.fullname, self.email.as_deref()), phones)
    }
}

impl Reader {
    pub(crate) async fn begin_search(
        &self,
        request: &LeadRequest,
        guess: &PrefetchHint,
    ) -> Result<PrefetchedSearch, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let (head, counter) = try_join!(self.search_head(request, guess), self.table.get(&counter))?;
        Ok(PrefetchedSearch {
            head,
            last_id: item::number("counter", &counter.unwrap_or_default(), "lead")?,
        })
    }
}

impl Reader {
    /// The head of the list of all leads, if the caller is expected to see all.
    async fn search_head(
        &self,
        request: &LeadRequest,
        guess: &PrefetchHint,
    ) -> Result<Option<Entries>, StoreError> {
        if guess.leads != OwnerScope::All {
            return Ok(None);
        }
        let list = self.keys().lead_list(request.archived);
        self.entries(KeyRange::whole(list)).await.map(Some)
    }
}

impl Writer {
    pub(crate) async fn finish_search(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: PrefetchedSearch,
        truth: PrefetchHint,
    ) -> Result<LeadPage, StoreError> {
        let skipped = request.skipped(&truth);
        let matches = |entry: &LeadEntry| entry.class.is_seen_by(viewer) && entry.matches(request);
        let budget = ReadBudget::of(viewer);
        let (head, spans) = self.reach(request, truth.leads, start.head, start.last_id);
        let mut found = Matches::of_page(skipped, request.limit, start.last_id);
        if let Some(head) = head {
            budget.spend(head.units);
            found.add(head.leads.into_iter().filter(&matches));
        }
        let empty = found.like();
        let parts = stream::iter(spans).map(|span| self.matches(&budget, span, &matches, empty.like()));
        let joined = parts
            .buffer_unordered(CONCURRENCY)
            .try_fold(found, |mut found, part| async {
                found.join(part);
                Ok(found)
            });
        let found = ReadBudget::in_time(joined).await?;
        Ok(LeadPage {
            total: found.total,
            more: false,
            entries: self.entries_of(request, found, skipped).await?,
            neighbours: false,
            records: Records::default(),
        })
    }

    /// The prefetched entries if the viewer may see them, and the ranges to read besides.
    fn reach(
        &self,
        request: &LeadRequest,
        reach: OwnerScope,
        head: Option<Entries>,
        last_id: u64,
    ) -> (Option<Entries>, Vec<KeyRange>) {
        let keys = self.keys();
        let whole = |list| KeyRange::whole(list);
        match (reach, head) {
            (OwnerScope::Nothing, _) => (None, Vec::new()),
            (OwnerScope::All, Some(head)) => {
                let rest = self.behind(&head, last_id, request.archived);
                (Some(head), rest)
            }
            (OwnerScope::All, None) => (None, vec![whole(keys.lead_list(request.archived))]),
            (OwnerScope::Users(owners), _) => {
                let lists = owners
                    .into_iter()
                    .map(|owner| keys.owner_list(request.archived, owner));
                (None, lists.map(whole).collect())
            }
        }
    }

    /// The entries of the page among the matches. A batch of gets if only ids were kept.
    async fn entries_of(
        &self,
        request: &LeadRequest,
        found: Matches,
        skipped: u64,
    ) -> Result<Vec<LeadEntry>, StoreError> {
        let (skipped, limit) = (
            usize::try_from(skipped).unwrap_or(usize::MAX),
            usize::from(request.limit),
        );
        let mut entries = match found.kept {
            Kept::Nothing => Vec::new(),
            Kept::Entries(mut entries, _) => {
                entries.sort_unstable_by_key(|entry| entry.id);
                entries.into_iter().skip(skipped).take(limit).collect()
            }
            Kept::Ids(mut ids) => {
                ids.sort_unstable();
                let keys = self.keys();
                let wanted = ids.into_iter().skip(skipped).take(limit);
                let wanted = wanted.map(|id| key::entry(keys.lead_list(request.archived), id));
                let items = self.reader.table.get_items(wanted).await?.into_iter();
                let entries = items.filter_map(|item| table::readable(item, LeadEntry::read));
                entries.collect()
            }
        };
        entries.sort_unstable_by_key(|entry| entry.id);
        Ok(entries)
    }

    /// The rest of the list of all leads after its head, in parts of equally many ids.
    fn behind(&self, head: &Entries, last_id: u64, archived: bool) -> Vec<KeyRange> {
        let Some(last) = head.leads.last().filter(|_| head.more) else {
            return Vec::new();
        };
        key::split(&self.keys().lead_list(archived), last.id.get(), last_id, PARTS)
    }

    /// Adds the matches in `span` to `found`.
    async fn matches(
        &self,
        budget: &ReadBudget,
        span: KeyRange,
        matches: &impl Fn(&LeadEntry) -> bool,
        mut found: Matches,
    ) -> Result<Matches, StoreError> {
        let mut pages = Pages::of(span);
        while let Some(page) = pages
            .next_with(|span| budget.query(&self.reader.table, span))
            .await?
        {
            found.add(Entries::read(page).leads.into_iter().filter(matches));
        }
        Ok(found)
    }
}

/// Matches of a search: all are counted, and those that the page may need are kept.
#[derive(Debug)]
struct Matches {
    total: u64,
    kept: Kept,
}

/// The kept matches of a search.
#[derive(Debug)]
enum Kept {
    /// None, because the page is after the last possible match: it is empty.
    Nothing,
    /// The first matches, at most this number.
    Entries(Vec<LeadEntry>, usize),
    /// The ids of all matches, 8 bytes each. The read budget bounds their number.
    Ids(Vec<LeadId>),
}

impl Matches {
    /// For a page after `skipped` matches among at most `last_id` leads.
    fn of_page(skipped: u64, limit: u16, last_id: u64) -> Self {
        let needed = usize::try_from(skipped.saturating_add(u64::from(limit)));
        let kept = match needed {
            _ if skipped > last_id => Kept::Nothing,
            Ok(needed @ ..=MAX_KEPT) => Kept::Entries(Vec::new(), needed),
            _ => Kept::Ids(Vec::new()),
        };
        Self { total: 0, kept }
    }

    /// No matches yet, for the same page.
    fn like(&self) -> Self {
        let kept = match &self.kept {
            Kept::Nothing => Kept::Nothing,
            Kept::Entries(_, needed) => Kept::Entries(Vec::new(), *needed),
            Kept::Ids(_) => Kept::Ids(Vec::new()),
        };
        Self { total: 0, kept }
    }

    /// Adds matches of one part in the order of their ids.
    fn add(&mut self, entries: impl Iterator<Item = LeadEntry>) {
        for entry in entries {
            self.total += 1;
            match &mut self.kept {
                Kept::Entries(kept, needed) if kept.len() < *needed => kept.push(entry),
                Kept::Nothing | Kept::Entries(..) => {}
                Kept::Ids(ids) => ids.push(entry.id),
            }
        }
    }

    /// Adds the matches of another part. The maximum of kept entries applies to all parts together.
    fn join(&mut self, other: Self) {
        self.total += other.total;
        match (&mut self.kept, other.kept) {
            (Kept::Entries(kept, needed), Kept::Entries(more, _)) => {
                kept.extend(more);
                kept.sort_unstable_by_key(|entry| entry.id);
                kept.truncate(*needed);
            }
            (Kept::Ids(ids), Kept::Ids(more)) => ids.extend(more),
            _ => {}
        }
    }
}
