//! Notices that copies of a lead may be behind.
//!
//! Opportunities copy their lead. A lead may have thousands of them, so a change of the lead does not write them all; it
//! raises a notice in the same transaction. While the notice stands, every reader takes the lead itself in place of its
//! copies, so that what was acknowledged is shown at once (C-12). Background work writes the copies and takes the notice
//! down, see [`copies`](super::copies).
//!
//! Which lead a notice is about is told by its key alone, so one that cannot be read otherwise still holds. A reader reads
//! at most [`MAX_READ`] notices. Where there are more, it takes every lead behind the last of them to be noticed: it then
//! reads the leads that it shows, and not all notices of the instance.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Reader;
use super::budget::ReadBudget;
use super::error::StoreError;
use super::item::{Item, n};
use super::key::{self, Keys};
use super::leads::{self, LeadRecord};
use super::opportunities::Card;
use super::table::{PAGE, Page, Span, key_of};
use super::transaction::{Condition, Transaction};
use crate::id::LeadId;
use crate::time::Timestamp;

/// The most notices that a page reads: 3 read units.
const MAX_READ: usize = 100;

/// When it was raised last, in Unix seconds; absent in notices of the former version.
pub const RAISED: &str = "at";
/// That the lead was deleted.
pub const DELETED: &str = "deleted";

/// The leads whose copies may be behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notices {
    leads: BTreeSet<LeadId>,
    unread: Unread,
}

/// Which notices were not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Unread {
    /// None.
    #[default]
    Nothing,
    /// Those of the leads after this one.
    After(LeadId),
    /// Perhaps any: a key could not be read.
    Anything,
}

/// Says in `transaction` that copies of a lead may be behind.
pub fn raise(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId, now: Timestamp) {
    transaction.update(keys.lead_notice(lead), "v", 1, raised(now), Condition::Always);
}

/// The same for a lead that is deleted in `transaction`: its copies are to be taken out.
pub fn raise_deleted(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId, now: Timestamp) {
    let mut deleted = raised(now);
    deleted.insert(DELETED.to_owned(), n(1));
    transaction.update(keys.lead_notice(lead), "v", 1, deleted, Condition::Always);
}

/// When something was raised, as an attribute.
pub fn raised(now: Timestamp) -> Item {
    Item::from([(RAISED.to_owned(), n(now.unix_seconds()))])
}

impl Notices {
    /// Whether a card's lead may be behind.
    pub fn cover(&self, card: &Card) -> bool {
        card.opportunity.lead_id.is_some_and(|lead| self.covers(lead))
    }

    fn covers(&self, lead: LeadId) -> bool {
        self.leads.contains(&lead)
            || match self.unread {
                Unread::Nothing => false,
                Unread::After(last) => lead > last,
                Unread::Anything => true,
            }
    }

    /// The notices of a page of them.
    fn of(page: &Page) -> Self {
        let keys = page.items.iter().map(|item| key_of(item).ok());
        let leads: Vec<_> = keys.map(|key| key.as_ref().and_then(key::noticed)).collect();
        let unread = match (leads.iter().all(Option::is_some), page.more, leads.last()) {
            // Nobody writes such a key. What it hides is not known, so every lead is read.
            (false, _, _) => Unread::Anything,
            (true, true, Some(Some(last))) => Unread::After(*last),
            _ => Unread::Nothing,
        };
        let leads = leads.into_iter().flatten().collect();
        Self { leads, unread }
    }
}

impl Reader {
    /// The notices that stand, as far as a page reads them. One query of at most 3 units.
    pub(super) async fn notices(&self) -> Result<Notices, StoreError> {
        let span = Span::head(self.keys().notices(), MAX_READ);
        let page = self.table.query_markers(span).await?;
        Ok(Notices::of(&page))
    }

    /// Leads' records by id. One batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn lead_records(
        &self,
        ids: impl Iterator<Item = LeadId>,
    ) -> Result<BTreeMap<LeadId, LeadRecord>, StoreError> {
        let found = self.table.get_many(ids.map(|id| self.keys().lead(id))).await?;
        let records = found.into_values().map(leads::decode);
        records
            .map(|record| record.map(|record| (record.lead.id, record)))
            .collect()
    }

    /// Replaces the copies that may be behind by the leads themselves. No call where no notice covers a card.
    pub(super) async fn freshen(&self, notices: &Notices, cards: &mut [&mut Card]) -> Result<(), StoreError> {
        let leads = cards.iter().filter(|card| notices.cover(card));
        let leads: BTreeSet<_> = leads.filter_map(|card| card.opportunity.lead_id).collect();
        if leads.is_empty() {
            return Ok(());
        }
        let records = self.lead_records(leads.into_iter()).await?;
        for card in cards.iter_mut().filter(|card| notices.cover(card)) {
            card.refresh(&records);
        }
        Ok(())
    }

    /// The leads that a notice covers, for a search, which looks into every copy. Reads the notices that a page leaves out.
    pub(super) async fn fresh_leads(
        &self,
        notices: &Notices,
        budget: &ReadBudget,
    ) -> Result<Fresh, StoreError> {
        let mut notices = notices.clone();
        if notices.unread != Unread::Nothing {
            let mut span = Span::head(self.keys().notices(), PAGE);
            notices = Notices::default();
            loop {
                let page = budget.query(&self.table, span.clone()).await?;
                notices.leads.extend(Notices::of(&page).leads);
                span.after = page.items.last().map(key_of).transpose()?.map(|key| key.sk);
                if !page.more {
                    break;
                }
            }
        }
        let records = Mutex::default();
        Ok(Fresh { notices, records })
    }
}

/// The leads that a search takes in place of their copies: those that a notice covers, each read when the search meets it.
#[derive(Debug, Default)]
pub struct Fresh {
    notices: Notices,
    /// Those that were read; `None` where the lead is gone.
    records: Mutex<BTreeMap<LeadId, Option<LeadRecord>>>,
}

impl Fresh {
    /// Whether every copy is as it should be.
    pub fn is_empty(&self) -> bool {
        self.notices.leads.is_empty()
    }

    /// The lead of a card, if it is to be read first.
    pub fn lacks(&self, card: &Card) -> Option<LeadId> {
        let lead = card.opportunity.lead_id;
        lead.filter(|lead| self.notices.covers(*lead) && !self.records().contains_key(lead))
    }

    /// Reads leads. One batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read, or are too many for the budget.
    pub async fn read(
        &self,
        reader: &Reader,
        budget: &ReadBudget,
        leads: BTreeSet<LeadId>,
    ) -> Result<(), StoreError> {
        if leads.is_empty() {
            return Ok(());
        }
        budget
            .take(leads.iter().fold(0.0, |units, _| units + 1.0))
            .await?;
        let mut found = reader.lead_records(leads.iter().copied()).await?;
        let read = leads.into_iter().map(|lead| (lead, found.remove(&lead)));
        self.records().extend(read);
        Ok(())
    }

    /// Replaces the copies of a card if they may be behind.
    pub fn apply(&self, card: &mut Card) {
        let Some(lead) = card.opportunity.lead_id.filter(|lead| self.notices.covers(*lead)) else {
            return;
        };
        let records = self.records();
        let record = records.get(&lead).and_then(Option::as_ref);
        *card = Card::of(card.opportunity.clone(), record);
    }

    fn records(&self) -> MutexGuard<'_, BTreeMap<LeadId, Option<LeadRecord>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Card {
    fn refresh(&mut self, records: &BTreeMap<LeadId, LeadRecord>) {
        let record = self.opportunity.lead_id.and_then(|lead| records.get(&lead));
        *self = Self::of(self.opportunity.clone(), record);
    }
}
