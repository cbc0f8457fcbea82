//! Opportunities with their copies of lead and company undecoded, and sums of them. Boards count thousands of
//! opportunities and show few; decoding the copies takes most of the time, and only a search by lead compares them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::asked::Asked;
use super::walk::Entry;
use crate::ids::LeadId;
use crate::opportunity::Opportunity;
use crate::store::Reader;
use crate::store::key;
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::opportunities::fresh::Fresh;
use table::StoreError;
use table::item::Item;

/// An opportunity that may be counted or shown.
#[derive(Debug)]
pub struct Hit {
    /// The sort key in lists.
    pub place: String,
    /// Boxed, because it has some 3 KB and hits are sorted.
    pub opportunity: Box<Opportunity>,
    /// A record or a list entry with the whole snapshot.
    item: Item,
}

impl Hit {
    /// Decodes the opportunity of a record or a list entry.
    pub fn read(item: Item) -> Result<Self, StoreError> {
        let opportunity = Box::new(OpportunitySnapshot::read_opportunity(&item)?);
        Ok(Self {
            place: key::place(opportunity.create_date, opportunity.id),
            opportunity,
            item,
        })
    }

    /// Decodes the copies too. `None`, logged and counted, if they cannot be read. The caller replaces stale copies.
    fn entry(self) -> Option<Entry> {
        let card = table::readable(self.item, |item| OpportunitySnapshot::read(&item))?;
        Some(Entry {
            place: self.place,
            card: Box::new(card),
        })
    }

    /// Whether it is requested, visible and passes the filter. `fresh` contains its lead if a search compares leads.
    fn is_admitted(&self, asked: &Asked<'_>, fresh: &Fresh) -> Result<bool, StoreError> {
        if !asked.compares_leads() {
            return Ok(asked.admits(&self.opportunity, None));
        }
        let mut snapshot = OpportunitySnapshot::read(&self.item)?;
        fresh.apply(&mut snapshot);
        Ok(asked.admits(&snapshot.opportunity, snapshot.lead.as_ref()))
    }
}

/// Number and value of hits, and the newest of them. Counts hits with unreadable copies, but shows others instead,
/// because a short page ends a list.
#[derive(Debug, Default)]
pub struct HitSum {
    pub count: u64,
    pub cents: i128,
    /// The newest hits, at least twice `most` if there are as many, unsorted.
    newest: Vec<Hit>,
    /// Maximum number of hits to show.
    most: usize,
}

impl HitSum {
    /// No hits. Shows at most `most` of those added.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Counts a hit, and keeps it until there are enough newer ones.
    pub fn add(&mut self, hit: Hit) {
        self.count += 1;
        self.cents += i128::from(hit.opportunity.value.get());
        self.newest.push(hit);
        // Removed half at a time, so that the cost per hit is constant.
        if self.newest.len() / 4 > self.most {
            self.newest.select_nth_unstable_by(2 * self.most, newest_first);
            self.newest.truncate(2 * self.most);
        }
    }

    /// Adds the sum of another list. A hit that moved between the lists during the read counts twice.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.cents += other.cents;
        self.newest.extend(other.newest);
    }

    /// The newest hits, newest first, without those with unreadable copies.
    pub fn newest(mut self) -> impl Iterator<Item = Entry> {
        self.newest.sort_unstable_by(newest_first);
        self.newest.into_iter().filter_map(Hit::entry).take(self.most)
    }
}

/// Newer opportunities have smaller places.
fn newest_first(a: &Hit, b: &Hit) -> Ordering {
    a.place.cmp(&b.place)
}

/// The opportunities of these items that are requested, visible and pass the filter, in the order of the items. Reads
/// the current leads of stale copies if a search compares leads.
pub async fn admitted(
    reader: &Reader,
    asked: &Asked<'_>,
    fresh: &Fresh,
    items: impl IntoIterator<Item = Item>,
) -> Result<Vec<Hit>, StoreError> {
    let hits = items
        .into_iter()
        .filter_map(|item| table::readable(item, Hit::read));
    let hits: Vec<_> = hits
        .filter(|hit| asked.request.covers(&hit.opportunity))
        .collect();
    if asked.compares_leads() {
        let leads = hits.iter().filter_map(|hit| fresh.lacks(&hit.opportunity));
        let leads: BTreeSet<LeadId> = leads.collect();
        fresh.read(reader, &asked.budget, leads).await?;
    }
    let mut admitted = Vec::with_capacity(hits.len());
    for hit in hits {
        match hit.is_admitted(asked, fresh) {
            Ok(true) => admitted.push(hit),
            Ok(false) => {}
            // Logs and counts the unreadable copy.
            Err(_) => drop(hit.entry()),
        }
    }
    Ok(admitted)
}
