//! A search over opportunities (C-43) through items of words.
//!
//! Words of titles lead to opportunities. Words and numbers of leads lead to leads, and their links to opportunities.
//! The records found are read, and every filter is checked on them. So the cost depends on the hits, not on the number
//! of opportunities. For a term with many hits, reading the lists costs less, so they are read as for other filters. If
//! neither fits the read budget, the newest hits are read, and the answer is partial (C-43).

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _};
use tokio::try_join;

use super::asked::Asked;
use super::hit::{HitSum, admitted};
use super::walk::Bounds;
use crate::ids::{ColumnId, LeadId, OpportunityId};
use crate::opportunity::{Search, SearchBy};
use crate::store::Writer;
use crate::store::key::{self, BATCH};
use crate::store::opportunities::fresh::Fresh;
use crate::words::{KeySpan, WordSearch};
use table::item::{self, Item};
use table::{KeyRange, ListEntry, MAX_AHEAD, MergeScan, PAGE, Pages, StoreError, key_of};

/// Maximum lists, or batches of records, that are read in parallel.
const CONCURRENCY: usize = 32;
/// Number of list entries that cost about as much as a get of one record.
const ENTRIES_PER_UNIT: u64 = 4;
/// Number of list entries, and of items of words, that a unit reads at least.
const ENTRIES_READ_PER_UNIT: u64 = 10;
const WORDS_READ_PER_UNIT: u64 = 25;
/// Each further read of a list requests this many times as many items as the previous one.
const GROWTH: usize = 4;

/// The size of a scan of the lists, which is the alternative to a search.
#[derive(Debug, Clone, Copy)]
pub struct ScanSize {
    /// Number of entries of the lists.
    pub entries: u64,
    /// Number of matches that the scan must find, skipped ones included; `None` for all.
    pub needed: Option<u64>,
}

impl ScanSize {
    /// Maximum hits that cost less than the scan, at `units` for each, and no more than half of `left` units. A scan for a
    /// page ends earlier the more hits there are.
    fn most_hits(self, units: u64, left: u64) -> usize {
        let all = self.entries / ENTRIES_PER_UNIT / units;
        let most = match self.needed {
            None => all,
            Some(needed) => needed.saturating_mul(all).isqrt().min(all),
        };
        usize::try_from(most.min(left / 2 / units)).unwrap_or(usize::MAX)
    }

    /// Whether a scan of all entries would read more than `left` units.
    fn exceeds(self, left: u64) -> bool {
        self.needed.is_none() && self.entries / ENTRIES_READ_PER_UNIT > left
    }
}

/// An opportunity with a word in its title.
struct Titled(OpportunityId);

impl ListEntry for Titled {
    type Version = ();

    fn read(item: Item) -> Result<Self, StoreError> {
        let id = key::keyed_id(&key_of(&item)?.sk).and_then(OpportunityId::new);
        id.map(Self)
            .ok_or_else(|| item::corrupt("title", "it names no opportunity"))
    }

    fn version(&self) {}
}

impl Writer {
    /// The sums of the requested opportunities within `bounds` that a search finds, by column. Each shows its newest
    /// `shown`. `None` without a search, if a scan of `size` costs less, or if items of words do not find all matches.
    pub(super) async fn sums_of_search(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        size: ScanSize,
        (bounds, shown): (&Bounds, usize),
    ) -> Result<Option<BTreeMap<ColumnId, HitSum>>, StoreError> {
        let Some(Search { by, term }) = &asked.filter.search else {
            return Ok(None);
        };
        if term.needs_all() {
            return Ok(None);
        }
        let found = match by {
            SearchBy::Lead => self.of_found_leads(asked, term, size).await,
            SearchBy::Opportunity => {
                let left = asked.budget.left();
                let most = if size.exceeds(left) {
                    // Ids of hits cost less than the hits.
                    usize::try_from(left / 2 * WORDS_READ_PER_UNIT).unwrap_or(usize::MAX)
                } else {
                    size.most_hits(1, left)
                };
                self.titled(asked, term, most).await
            }
        };
        let Some(found) = asked.budget.or_end(found)? else {
            return Ok(None);
        };
        // Later ids are those of newer opportunities.
        let affordable = usize::try_from(asked.budget.left()).unwrap_or(usize::MAX);
        if found.len() > affordable {
            asked.budget.leave_out();
        }
        let newest: Vec<_> = found.into_iter().rev().take(affordable).collect();
        self.sums_of_admitted(asked, fresh, &newest, (bounds, shown))
            .await
            .map(Some)
    }

    /// The opportunities of the leads that a term finds; `None` if there are too many leads or opportunities.
    async fn of_found_leads(
        &self,
        asked: &Asked<'_>,
        term: &WordSearch,
        size: ScanSize,
    ) -> Result<Option<BTreeSet<OpportunityId>>, StoreError> {
        let left = asked.budget.left();
        let most = size.most_hits(2, left);
        let Some(leads) = self.leads_found(term, &asked.budget, most).await? else {
            return Ok(None);
        };
        let (leads, most) = (leads.into_iter().collect::<Vec<_>>(), size.most_hits(1, left));
        let mut found = BTreeSet::new();
        for leads in leads.chunks(CONCURRENCY) {
            let links = leads.iter().map(|lead| self.linked(asked, *lead, most));
            found.extend(try_join_all(links).await?.into_iter().flatten());
            if found.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// The opportunities of a lead. Stops after more than `most`.
    async fn linked(
        &self,
        asked: &Asked<'_>,
        lead: LeadId,
        most: usize,
    ) -> Result<Vec<OpportunityId>, StoreError> {
        let links = self.keys().lead_opportunities(lead);
        let mut pages = Pages::of(KeyRange::head(links, most.saturating_add(1).min(PAGE)));
        let read = |range| asked.budget.query(&self.reader.table, range);
        let mut linked = Vec::new();
        while linked.len() <= most
            && let Some(page) = pages.next_with(read).await?
        {
            for link in &page.items {
                linked.extend(key_of(link)?.sk.parse().ok().and_then(OpportunityId::new));
            }
        }
        Ok(linked)
    }

    /// The opportunities of the funnel that may have a term in their titles, or have its id; `None` if there are more
    /// than `most`.
    async fn titled(
        &self,
        asked: &Asked<'_>,
        term: &WordSearch,
        most: usize,
    ) -> Result<Option<BTreeSet<OpportunityId>>, StoreError> {
        let id = term.number().and_then(OpportunityId::new);
        let mut found: BTreeSet<_> = id.into_iter().collect();
        let spans = term.word_spans();
        if !spans.is_empty() {
            let rarest = self.with_the_rarest_word(asked, &spans, most);
            let (Some(rarest), wordy) = try_join!(rarest, self.wordy_titles(asked))? else {
                return Ok(None);
            };
            found.extend(rarest.into_iter().chain(wordy));
        }
        Ok((found.len() <= most).then_some(found))
    }

    /// Candidates with the rarest word of a term; `None` if each word has more than `most`. The lists of all words are
    /// read in parallel until one ends. Each list contains all matches, so the candidates do too.
    async fn with_the_rarest_word(
        &self,
        asked: &Asked<'_>,
        words: &[Vec<KeySpan>],
        most: usize,
    ) -> Result<Option<BTreeSet<OpportunityId>>, StoreError> {
        let (keys, funnel) = (self.keys(), asked.request.funnel);
        let read = |range| asked.budget.query(&self.reader.table, range);
        let lists = words.iter().map(|spans| {
            let ranges = spans
                .iter()
                .map(|span| key::in_span(keys.titles(funnel, span.text()), span));
            (MergeScan::<Titled>::new(ranges, CONCURRENCY), BTreeSet::new())
        });
        let mut lists: Vec<_> = lists.collect();
        let mut size = MAX_AHEAD;
        loop {
            let fills = lists.iter_mut().map(|(list, _)| list.fill(|_| size, read));
            try_join_all(fills).await?;
            for (list, ids) in &mut lists {
                ids.extend(std::iter::from_fn(|| list.next()).map(|(_, Titled(id))| id));
            }
            let ended = lists.iter().filter(|(list, _)| !list.is_due());
            let ended = ended.map(|(_, ids)| ids.clone());
            if let Some(found) = ended.reduce(|found, ids| &found & &ids) {
                return Ok(Some(found));
            }
            if lists.iter().all(|(_, ids)| ids.len() > most) {
                return Ok(None);
            }
            size = (size * GROWTH).min(PAGE);
        }
    }

    /// The opportunities with too many title words for items of all of them.
    async fn wordy_titles(&self, asked: &Asked<'_>) -> Result<Vec<OpportunityId>, StoreError> {
        let range = KeyRange::whole(self.keys().wordy_titles(asked.request.funnel));
        let mut list = MergeScan::<Titled>::new([range], 1);
        let mut wordy = Vec::new();
        while list.is_due() {
            list.fill(|_| PAGE, |range| asked.budget.query(&self.reader.table, range))
                .await?;
            wordy.extend(std::iter::from_fn(|| list.next()).map(|(_, Titled(id))| id));
        }
        Ok(wordy)
    }

    /// The sums of the requested and visible opportunities among these, by column. Each batch is counted when it is
    /// read, and only the newest hits of each column are kept.
    async fn sums_of_admitted(
        &self,
        asked: &Asked<'_>,
        fresh: &Fresh,
        found: &[OpportunityId],
        (bounds, shown): (&Bounds, usize),
    ) -> Result<BTreeMap<ColumnId, HitSum>, StoreError> {
        let found: Vec<_> = found.iter().map(|id| self.keys().opportunity(*id)).collect();
        let batches = found.chunks(BATCH).map(|batch| async {
            let items = asked.budget.get_items(&self.reader.table, batch.to_vec()).await?;
            admitted(&self.reader, asked, fresh, items).await
        });
        let batches: Vec<_> = batches.collect();
        let mut batches = stream::iter(batches).buffer_unordered(CONCURRENCY);
        let mut sums = BTreeMap::new();
        while let Some(hits) = batches.next().await {
            let hits = asked.budget.or_end(hits)?;
            for hit in hits.into_iter().filter(|hit| bounds.contain(&hit.place)) {
                let column = hit.opportunity.crm_column;
                let sum = sums.entry(column).or_insert_with(|| HitSum::new(shown));
                sum.add(hit);
            }
            // Lets other requests run. On an engine in this process, many batches are ready without a wait.
            tokio::task::yield_now().await;
        }
        Ok(sums)
    }
}
