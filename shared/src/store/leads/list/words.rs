//! A search by words and numbers (C-20), through items that a lead has for each of them.
//!
//! The items of all words of the term are read in parallel until the shortest list ends. Its items are copies of list
//! entries, on which the other words and filters are checked. So the cost depends on the rarest word, not on the number
//! of leads. For a viewer who sees only some owners' leads, the lists of these owners count as a further word.
//!
//! The items are sorted by word, not by id. If more than [`MAX_TOTAL`] leads match, matches are frequent in the list of
//! leads, so the page is read from that list. A search beyond its read budget answers the matches that it has read.

use std::collections::{BTreeMap, BTreeSet};

use tokio::try_join;

use super::request::{LeadPage, LeadRequest, LeadSearch, Records};
use crate::ids::LeadId;
use crate::store::budget::ReadBudget;
use crate::store::key::{self, Counter};
use crate::store::leads::record::LeadEntry;
use crate::store::lists::{FAR, ListScan, PageCursor, StoredStart};
use crate::store::prefetch_cache::PrefetchHint;
use crate::store::{Reader, Writer};
use crate::viewer::{OwnerScope, Viewer};
use futures_util::future::try_join_all;
use table::item;
use table::{KeyRange, ListEntry as _, MAX_AHEAD, MergeScan, PAGE, StoreError};

/// The total of a search is exact up to this number.
const MAX_TOTAL: usize = 10_000;
/// Maximum key ranges of a word that are read in parallel.
const CONCURRENCY: usize = 8;
/// Each further read of a list requests this many times as many items as the previous one.
const GROWTH: usize = 4;

/// Prefetched reads of a search by words.
#[derive(Debug)]
pub struct PrefetchedWords {
    /// The leads of each word. Each list contains all matches by words.
    words: Vec<MergeScan<LeadEntry>>,
    /// Other leads that may match: those of numbers, and those with very many words.
    others: MergeScan<LeadEntry>,
    /// Whether only the lists of leads contain all matches by words.
    needs_all: bool,
    /// The lead with the term as its id.
    by_id: Option<LeadEntry>,
}

/// The matches of a search, as far as they were read.
enum SearchMatches {
    /// All of them, by id.
    All(BTreeMap<LeadId, LeadEntry>),
    /// There are more than the requested maximum.
    TooMany,
}

/// A list that contains every match by words, and the matches that were read from it.
struct Candidates {
    list: MergeScan<LeadEntry>,
    matches: BTreeMap<LeadId, LeadEntry>,
}

impl Candidates {
    fn of(list: MergeScan<LeadEntry>) -> Self {
        let matches = BTreeMap::new();
        Self { list, matches }
    }

    /// Moves the matches among the read entries to `matches`.
    fn sift(&mut self, is_match: &impl Fn(&LeadEntry) -> bool) {
        while let Some((_, entry)) = self.list.next() {
            if is_match(&entry) {
                self.matches.insert(entry.id, entry);
            }
        }
    }
}

fn scan(ranges: impl IntoIterator<Item = KeyRange>) -> MergeScan<LeadEntry> {
    MergeScan::new(ranges, CONCURRENCY)
}

impl Reader {
    pub(crate) async fn begin_words(
        &self,
        archived: bool,
        search: &LeadSearch,
    ) -> Result<PrefetchedWords, StoreError> {
        let keys = self.keys();
        let words = search.word_spans().into_iter().map(|spans| {
            let ranges = spans
                .iter()
                .map(|span| key::in_span(keys.words(archived, span.text()), span));
            scan(ranges)
        });
        let mut words: Vec<_> = words.collect();
        let many_words = (!words.is_empty()).then(|| KeyRange::whole(keys.wordy_leads(archived)));
        let numbers = search.number_spans();
        let numbers = numbers
            .iter()
            .map(|span| key::in_span(keys.number_endings(archived, span.text()), span));
        let mut others = scan(numbers.chain(many_words));
        let ahead = MAX_AHEAD / words.len().max(1);
        let fills = words
            .iter_mut()
            .map(|word| word.fill(|_| ahead.max(1), |range| self.table.query(range)));
        let fills = try_join_all(fills);
        let other = others.fill(|_| MAX_AHEAD, |range| self.table.query(range));
        let (_, _, by_id) = try_join!(
            fills,
            other,
            self.listed(archived, search.number().and_then(LeadId::new))
        )?;
        Ok(PrefetchedWords {
            words,
            others,
            needs_all: search.needs_all(),
            by_id,
        })
    }

    /// A lead's entry in the list of all leads.
    async fn listed(&self, archived: bool, id: Option<LeadId>) -> Result<Option<LeadEntry>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        let entry = key::entry(self.keys().lead_list(archived), id);
        let item = self.table.get(&entry).await?;
        Ok(item.and_then(|item| table::readable(item, LeadEntry::read)))
    }
}

impl Writer {
    pub(crate) async fn finish_words(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: PrefetchedWords,
        truth: PrefetchHint,
    ) -> Result<LeadPage, StoreError> {
        let skipped = request.skipped(&truth);
        let budget = ReadBudget::of_search(viewer);
        let is_match = |entry: &LeadEntry| entry.class.is_seen_by(viewer) && entry.matches(request);
        let page = async {
            let found = self
                .found(request, start, (&truth.leads, &budget), (&is_match, MAX_TOTAL))
                .await?;
            match found {
                SearchMatches::All(found) if found.len() <= MAX_TOTAL => {
                    let skip = usize::try_from(skipped).unwrap_or(usize::MAX);
                    let total = found.len();
                    let shown = found.into_values().skip(skip).take(request.limit.into());
                    Ok((shown.collect(), total, budget.is_partial()))
                }
                _ => {
                    let reach = (&truth.leads, &budget);
                    let shown = self.frequent(request, skipped, reach, &is_match).await?;
                    Ok((shown, MAX_TOTAL, true))
                }
            }
        };
        let (entries, total, more) = ReadBudget::in_time(page).await?;
        Ok(LeadPage {
            entries,
            total: u64::try_from(total).unwrap_or(u64::MAX),
            more,
            neighbours: false,
            records: Records::default(),
        })
    }

    /// The leads that a term finds, including archived and invisible ones; `None` if there are more than `most`.
    pub(in crate::store) async fn leads_found(
        &self,
        term: &LeadSearch,
        budget: &ReadBudget,
        most: usize,
    ) -> Result<Option<BTreeSet<LeadId>>, StoreError> {
        let found = [false, true].map(async |archived| {
            let request = LeadRequest::of_all(archived, term.clone());
            let start = self.reader.begin_words(archived, term).await?;
            let is_match = |entry: &LeadEntry| entry.matches(&request);
            self.found(&request, start, (&OwnerScope::All, budget), (&is_match, most))
                .await
        });
        let mut ids = BTreeSet::new();
        for found in try_join_all(found).await? {
            match found {
                SearchMatches::All(found) => ids.extend(found.into_keys()),
                SearchMatches::TooMany => return Ok(None),
            }
        }
        Ok((ids.len() <= most).then_some(ids))
    }

    /// The matches of a search, read until a list that contains all of them or the budget has ended;
    /// [`SearchMatches::TooMany`] if more than `most` were found before. First reads the other leads to their end. Then
    /// reads all lists concurrently, of each [`GROWTH`] times as much as before. After the first read, the lists of
    /// visible leads are a further list for a viewer who does not see all leads.
    async fn found(
        &self,
        request: &LeadRequest,
        start: PrefetchedWords,
        (reach, budget): (&OwnerScope, &ReadBudget),
        (is_match, most): (&impl Fn(&LeadEntry) -> bool, usize),
    ) -> Result<SearchMatches, StoreError> {
        let read = |range| budget.query(&self.reader.table, range);
        let mut others = Candidates::of(start.others);
        others
            .matches
            .extend(start.by_id.filter(is_match).map(|lead| (lead.id, lead)));
        others.sift(is_match);
        while others.list.is_due() {
            if !budget.or_end(others.list.fill(|_| PAGE, read).await.map(|_| true))? {
                return Ok(SearchMatches::All(others.matches));
            }
            others.sift(is_match);
        }
        let mut lists: Vec<_> = start.words.into_iter().map(Candidates::of).collect();
        let visible = || Candidates::of(self.reader.lists(request, reach, None));
        lists.extend(start.needs_all.then(visible));
        let mut size = MAX_AHEAD;
        while !lists.is_empty() {
            for candidates in &mut lists {
                candidates.sift(is_match);
            }
            // A list that has ended has all matches by words.
            if let Some(all) = lists.iter_mut().find(|candidates| !candidates.list.is_due()) {
                others.matches.append(&mut all.matches);
                break;
            }
            if lists.iter().any(|candidates| candidates.matches.len() > most) {
                return Ok(SearchMatches::TooMany);
            }
            if size == MAX_AHEAD && *reach != OwnerScope::All && !start.needs_all {
                lists.push(visible());
            }
            size = (size * GROWTH).min(PAGE);
            let fills = lists
                .iter_mut()
                .map(|candidates| candidates.list.fill(|_| size, read));
            if !budget.or_end(try_join_all(fills).await.map(|_| true))? {
                for mut candidates in lists {
                    candidates.sift(is_match);
                    others.matches.append(&mut candidates.matches);
                }
                break;
            }
        }
        Ok(SearchMatches::All(others.matches))
    }

    /// A page of a search with very many matches, from the visible lists. Later pages continue at a cursor.
    async fn frequent(
        &self,
        request: &LeadRequest,
        skipped: u64,
        (reach, budget): (&OwnerScope, &ReadBudget),
        is_match: &impl Fn(&LeadEntry) -> bool,
    ) -> Result<Vec<LeadEntry>, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let number = request.numbered(&self.reader.caller);
        // A near page is found again from the first lead.
        let is_far = skipped >= FAR;
        let stored = self
            .reader
            .stored_start(&number, if is_far { skipped } else { 0 });
        let (counter, stored) = try_join!(self.reader.table.get(&counter), stored)?;
        if skipped > item::number("counter", &counter.unwrap_or_default(), "lead")? {
            return Ok(Vec::new());
        }
        let (start, mut skip) = match stored {
            StoredStart::Unread => (PageCursor::default(), skipped),
            stored @ StoredStart::Read(_) => self.reader.start_of_page(&number, stored, skipped).await?,
        };
        let limit = usize::from(request.limit);
        let lists = self.reader.lists(request, reach, start.after.as_deref());
        let mut scan = ListScan::new((&self.reader, budget), lists).with_first_read_of(limit);
        let admit = |entry: LeadEntry| is_match(&entry).then_some(entry);
        let page = scan.page(&mut skip, limit, admit).await?;
        if skipped.saturating_add(request.limit.into()) >= FAR {
            let last = page.last().map(|(last, _)| last.clone());
            let next = last.or(start.after).map(|after| PageCursor::after(Some(after)));
            self.end_page(&number, 0, next).await?;
        }
        Ok(page.into_iter().map(|(_, entry)| entry).collect())
    }
}
