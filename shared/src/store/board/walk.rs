//! A walk through lists of a column, merged by place: newest first.

use std::collections::VecDeque;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::Asked;
use super::lists::{Part, Plan};
use crate::id::LeadId;
use crate::opportunity::TimeRange;
use crate::store::Reader;
use crate::store::bookmarks::PageCursor;
use crate::store::budget::ReadBudget;
use crate::store::error::StoreError;
use crate::store::key::{self, BoardList};
use crate::store::notices::Fresh;
use crate::store::opportunities::Card;
use crate::store::table::{PAGE, Page, Span, key_of};

/// Lists that are read at the same time.
const TOGETHER: usize = 32;
/// A wider list is given up for the exact ones once so many times what was likely to be read has been.
const PATIENCE: usize = 4;

/// An opportunity and its place in the lists. It goes from hand to hand, and a card is some 3 KB.
#[derive(Debug, Clone)]
pub struct Entry {
    pub place: String,
    pub card: Box<Card>,
}

/// Between which places a walk goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bounds {
    pub after: Option<String>,
    pub through: Option<String>,
}

impl Bounds {
    /// From where a page begins, through what was created within a range of time.
    pub fn new(begins: &PageCursor, created: &TimeRange) -> Self {
        // `#` stands behind a moment in a place; the text before it and the text behind it enclose all places of it.
        let newest = created
            .until
            .map(|until| key::place_time(until).replace('#', " "));
        let oldest = created.from.map(|from| key::place_time(from).replace('#', "~"));
        let through = match (begins.through(), oldest) {
            (Some(begins), Some(oldest)) => Some(begins.min(oldest)),
            (begins, oldest) => begins.or(oldest),
        };
        Self {
            after: begins.after.clone().max(newest),
            through,
        }
    }

    /// Whether no place lies within.
    pub fn are_empty(&self) -> bool {
        matches!((&self.after, &self.through), (Some(after), Some(through)) if after >= through)
    }

    pub fn span(&self, reader: &Reader, list: BoardList, limit: usize) -> Span {
        Span {
            partition: reader.keys().board(list),
            after: self.after.clone(),
            through: self.through.clone(),
            limit,
        }
    }
}

/// A place in one list.
#[derive(Debug)]
struct Cursor {
    part: Part,
    bounds: Bounds,
    buffer: VecDeque<Entry>,
    more: bool,
}

impl Cursor {
    fn new(part: Part, bounds: Bounds) -> Self {
        Self {
            part,
            more: !bounds.are_empty(),
            bounds,
            buffer: VecDeque::new(),
        }
    }

    /// Whether it must be read on before the next entry by place is known.
    fn is_due(&self) -> bool {
        self.buffer.is_empty() && self.more
    }

    /// Reads on, and returns how many entries were read.
    async fn fill(
        &mut self,
        reader: &Reader,
        budget: &ReadBudget,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let span = self.bounds.span(reader, self.part.list, limit);
        self.take(&budget.query(&reader.table, span).await?)
    }

    fn take(&mut self, page: &Page) -> Result<usize, StoreError> {
        let read = page.items.len();
        for item in &page.items {
            let place = key_of(item)?.sk;
            self.bounds.after = Some(place.clone());
            let card = Box::new(Card::read(item)?);
            self.buffer.push_back(Entry { place, card });
        }
        self.more = page.more;
        Ok(read)
    }
}

/// A walk.
pub struct Walk<'a> {
    reader: &'a Reader,
    asked: &'a Asked<'a>,
    fresh: &'a Fresh,
    cursors: Vec<Cursor>,
    /// Where a wider list is read, the exact ones.
    instead: Vec<Part>,
    /// Entries that may still be read before the exact lists are.
    patience: usize,
    /// Fills so far, each of which reads more than the one before.
    fills: u32,
}

impl<'a> Walk<'a> {
    pub fn new(
        reader: &'a Reader,
        asked: &'a Asked<'a>,
        fresh: &'a Fresh,
        plan: Plan,
        bounds: &Bounds,
    ) -> Self {
        let (parts, instead) = match plan {
            Plan::Nothing => (Vec::new(), Vec::new()),
            Plan::Merge(parts) => (parts, Vec::new()),
            Plan::Sift(wide, parts) => (vec![wide], parts),
        };
        let cursors = parts.into_iter().map(|part| Cursor::new(part, bounds.clone()));
        Self {
            reader,
            asked,
            fresh,
            cursors: cursors.collect(),
            instead,
            patience: usize::MAX,
            fills: 0,
        }
    }

    /// Takes over what was read of its only list, if that is where it begins.
    pub fn begin_with(&mut self, list: BoardList, bounds: &Bounds, page: &Page) -> Result<(), StoreError> {
        match self.cursors.as_mut_slice() {
            [cursor] if cursor.part.list == list && cursor.bounds == *bounds => cursor.take(page).map(drop),
            _ => Ok(()),
        }
    }

    /// The next `limit` opportunities that are asked for, after the next `skip`.
    pub async fn page(&mut self, mut skip: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let mut page = Vec::with_capacity(limit);
        let sought =
            |skip: u64, page: usize| usize::try_from(skip).unwrap_or(PAGE).saturating_add(limit - page);
        if !self.instead.is_empty() {
            self.patience = PATIENCE * self.likely(self.cursors.first(), sought(skip, 0)) + PAGE;
        }
        while page.len() < limit {
            let Some(mut entry) = self.next(sought(skip, page.len())).await? else {
                break;
            };
            if let Some(lead) = self.fresh.lacks(&entry.card) {
                self.read_leads(lead).await?;
            }
            self.fresh.apply(&mut entry.card);
            match skip {
                _ if !self.asked.admits(&entry.card) => {}
                0 => page.push(entry),
                _ => skip -= 1,
            }
        }
        Ok(page)
    }

    /// Reads a lead whose copies may be behind, and those of all entries that were read.
    async fn read_leads(&self, lead: LeadId) -> Result<(), StoreError> {
        let entries = self.cursors.iter().flat_map(|cursor| &cursor.buffer);
        let leads = entries.filter_map(|entry| self.fresh.lacks(&entry.card));
        let leads = leads.chain([lead]).collect();
        self.fresh.read(self.reader, &self.asked.budget, leads).await
    }

    /// The next entry by place, asked for or not; `sought` entries that are asked for are still needed.
    async fn next(&mut self, sought: usize) -> Result<Option<Entry>, StoreError> {
        if self.cursors.iter().any(Cursor::is_due) {
            self.give_up_the_wide_list();
            self.fill(sought).await?;
        }
        let heads = self.cursors.iter().filter_map(|cursor| cursor.buffer.front());
        let Some(place) = heads.map(|entry| &entry.place).min().cloned() else {
            return Ok(None);
        };
        // One that went from list to list while they were read stands in two of them: the later state counts.
        let at_place = self.cursors.iter_mut().filter_map(|cursor| {
            let there = cursor.buffer.front().is_some_and(|entry| entry.place == place);
            if there { cursor.buffer.pop_front() } else { None }
        });
        Ok(at_place.max_by_key(|entry| entry.card.opportunity.update_date))
    }

    async fn fill(&mut self, sought: usize) -> Result<(), StoreError> {
        let likely = |cursor: &Cursor| self.likely(Some(cursor), sought);
        let limits: Vec<_> = self.cursors.iter().map(likely).collect();
        let mut reads = Vec::with_capacity(limits.len());
        for (cursor, limit) in self.cursors.iter_mut().zip(limits) {
            if cursor.is_due() {
                reads.push(cursor.fill(self.reader, &self.asked.budget, limit));
            }
        }
        let read: Vec<_> = stream::iter(reads)
            .buffer_unordered(TOGETHER)
            .try_collect()
            .await?;
        self.patience = self.patience.saturating_sub(read.iter().sum());
        self.fills += 1;
        Ok(())
    }

    /// How many entries of a list are likely to hold as many as are sought. What only the records tell cannot be known:
    /// there the first reading is generous and each further one doubles it.
    fn likely(&self, cursor: Option<&Cursor>, sought: usize) -> usize {
        let share = cursor.map_or(1.0, |cursor| cursor.part.share);
        let one_of_many = self.cursors.len() > 1;
        let mut likely = sought;
        if one_of_many {
            // A little more than its part, so that few lists run out before the page is full.
            likely = scaled(sought, share * 1.15) + 2;
        } else if !self.instead.is_empty() {
            likely = scaled(sought, 1.15 / share.max(0.01));
        }
        if self.asked.request.filtered {
            likely = likely.max(50) << self.fills.min(6);
        }
        likely.clamp(1, PAGE)
    }

    /// What is sought may lie far behind in the wide list, however much of it there is.
    fn give_up_the_wide_list(&mut self) {
        if self.patience > 0 || self.instead.is_empty() {
            return;
        }
        if let Some(wide) = self.cursors.first() {
            let bounds = wide.bounds.clone();
            let parts = std::mem::take(&mut self.instead);
            self.cursors = parts
                .into_iter()
                .map(|part| Cursor::new(part, bounds.clone()))
                .collect();
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "it says how much is likely to be read, and decides nothing"
)]
fn scaled(count: usize, by: f64) -> usize {
    (count as f64 * by).ceil().clamp(0.0, 1e9) as usize
}
