//! Notices that copies of a lead may be behind, and what brings the copies up to date.
//!
//! Opportunities copy their lead. A lead may have thousands of them, so a change of the lead does not write them all; it
//! raises a notice in the same transaction. While the notice stands, every reader takes the lead itself in place of its
//! copies, so that what was acknowledged is shown at once (C-12). [`Store::refresh_copies`] writes the copies and takes
//! the notice down on condition that it was not raised again: a crash at any moment leaves the notice, and so nothing
//! wrong. Whoever writes a copy, checks in the same transaction that the lead is at the version copied, and so does
//! whoever takes the notice down: of two that refresh at one time, the slower brings nothing older back.
//!
//! Readers read notices and copies at one time and not one after the other. So a notice stays up for longer than any
//! request takes once the copies are written: whoever finds none reads no copy from before that.

use std::collections::{BTreeMap, BTreeSet};

use super::error::StoreError;
use super::item::{self, Item, n};
use super::key::Keys;
use super::leads::{self, LeadRecord};
use super::opportunities::{self, Card, OpportunityRecord};
use super::table::{PAGE, Page, Span, key_of};
use super::transaction::{CommitError, Condition, Transaction};
use super::{Reader, Store, meter};
use crate::id::{LeadId, OpportunityId};

/// For how many seconds a notice outlasts the writing of the copies: longer than any request takes.
const GRACE: u32 = 60;
/// How often an opportunity is written anew because others changed it meanwhile.
const ATTEMPTS: u32 = 8;

/// The version of the notice whose copies are written, and when they were, in Unix seconds.
const WRITTEN: &str = "written";
const SINCE: &str = "since";
/// That the lead was deleted.
const DELETED: &str = "deleted";

/// The leads whose copies may be behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notices(BTreeSet<LeadId>);

/// Says in `transaction` that copies of a lead may be behind.
pub fn raise(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId) {
    transaction.update(keys.lead_notice(lead), "v", 1, Item::new(), Condition::Always);
}

/// The same for a lead that is deleted in `transaction`: its copies are to be taken out.
pub fn raise_deleted(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId) {
    let deleted = Item::from([(DELETED.to_owned(), n(1))]);
    transaction.update(keys.lead_notice(lead), "v", 1, deleted, Condition::Always);
}

impl Notices {
    /// Whether a card's lead may be behind.
    pub fn cover(&self, card: &Card) -> bool {
        card.opportunity
            .lead_id
            .is_some_and(|lead| self.0.contains(&lead))
    }
}

impl Reader {
    /// All notices that stand. One query, of next to nothing.
    pub(super) async fn notices(&self) -> Result<Notices, StoreError> {
        let items = self
            .table
            .query_all(Span::head(self.keys().notices(), PAGE))
            .await?;
        items.iter().map(noticed).collect::<Result<_, _>>().map(Notices)
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

    /// The records of all leads that a notice covers, for those who look into every copy.
    pub(super) async fn noticed_leads(&self, notices: &Notices) -> Result<Fresh, StoreError> {
        if notices.0.is_empty() {
            return Ok(Fresh::default());
        }
        let records = self.lead_records(notices.0.iter().copied()).await?;
        Ok(Fresh {
            notices: notices.clone(),
            records,
        })
    }

    /// Writes the copies of every lead that has a notice, and takes down the notices whose copies were written `grace`
    /// seconds ago or before. Returns the copies of how many leads were written.
    pub(super) async fn refresh_copies(&self, grace: u32) -> Result<u64, StoreError> {
        let mut done = 0;
        for notice in self
            .table
            .query_all(Span::head(self.keys().notices(), PAGE))
            .await?
        {
            let deleted = notice.contains_key(DELETED);
            meter::note(|deeds| deeds.erasures += u64::from(deleted));
            // Whatever still shows a deleted lead must have come to its end.
            let grace = if deleted { GRACE } else { grace };
            let transaction = if number(&notice, "v")? == number(&notice, WRITTEN)? {
                self.take_down(&notice, grace)?
            } else {
                done += 1;
                meter::note(|deeds| deeds.copies += 1);
                self.refresh_noticed(&notice, grace).await?
            };
            match self.table.commit(transaction).await {
                // Raised again meanwhile, or seen to by others: the next round sees to what is left.
                Ok(()) | Err(CommitError::Refused(_)) => {}
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Writes the copies that a notice tells of. Gives what says so in the notice, or takes it down at once. The lead is
    /// checked beside it, because a notice that was taken down and raised again looks the same.
    async fn refresh_noticed(&self, notice: &Item, grace: u32) -> Result<Transaction, StoreError> {
        let (lead, value) = (noticed(notice)?, number(notice, "v")?);
        // Read behind the notice, so that it is no older than what the notice tells of.
        let record = self.lead_record(lead).await?;
        self.refresh_copies_of(lead, record.as_ref()).await?;
        if record.is_none() {
            self.erase(lead).await?;
        }
        let unraised = Condition::Number { name: "v", value };
        let mut transaction = Transaction::default();
        transaction.check(self.keys().lead(lead), as_read(record.as_ref()));
        if grace == 0 {
            self.end(&mut transaction, notice, unraised)?;
        } else {
            let since = self.table.ambient.now().unix_seconds();
            let written = Item::from([(WRITTEN.to_owned(), n(value)), (SINCE.to_owned(), n(since))]);
            transaction.update(key_of(notice)?, "v", 0, written, unraised);
        }
        Ok(transaction)
    }

    /// What takes down a notice whose copies are written, if that is long enough ago.
    fn take_down(&self, notice: &Item, grace: u32) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        let over = number(notice, SINCE)?.saturating_add(u64::from(grace));
        let now = u64::try_from(self.table.ambient.now().unix_seconds()).unwrap_or(0);
        if now >= over {
            let has = notice
                .iter()
                .filter(|(name, _)| ["v", WRITTEN, SINCE].contains(&name.as_str()));
            let has = has.map(|(name, value)| (name.clone(), value.clone())).collect();
            let unraised = Condition::Exactly {
                has,
                lacks: Vec::new(),
            };
            self.end(&mut transaction, notice, unraised)?;
        }
        Ok(transaction)
    }

    /// Takes a notice down, and with that of a deleted lead the mark that something may be left of it.
    fn end(
        &self,
        transaction: &mut Transaction,
        notice: &Item,
        unraised: Condition,
    ) -> Result<(), StoreError> {
        if notice.contains_key(DELETED) {
            transaction.delete(self.keys().erasure(noticed(notice)?), Condition::Always);
        }
        transaction.delete(key_of(notice)?, unraised);
        Ok(())
    }

    async fn refresh_copies_of(&self, lead: LeadId, record: Option<&LeadRecord>) -> Result<(), StoreError> {
        let mut span = Span::head(self.keys().lead_opportunities(lead), 100);
        loop {
            let Page { items, more } = self.table.query(span.clone()).await?;
            let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
            let ids = keys
                .iter()
                .filter_map(|key| OpportunityId::new(key.sk.parse().ok()?));
            let ids: Vec<_> = ids.collect();
            let found = self
                .table
                .get_many(ids.iter().map(|id| self.keys().opportunity(*id)))
                .await?;
            for item in found.values() {
                self.refresh_copy(opportunities::decode(item)?, lead, record)
                    .await?;
            }
            if !more {
                return Ok(());
            }
            span.after = keys.last().map(|key| key.sk.clone());
        }
    }

    /// Writes one opportunity with the lead as it is, unless it has it already.
    async fn refresh_copy(
        &self,
        mut stored: OpportunityRecord,
        lead: LeadId,
        record: Option<&LeadRecord>,
    ) -> Result<(), StoreError> {
        for attempt in 0..ATTEMPTS {
            let opportunity = stored.card.opportunity.clone();
            let fresh = Card::of(opportunity, record);
            if stored.card.opportunity.lead_id != Some(lead) || fresh == stored.card {
                return Ok(());
            }
            let key = self.keys().opportunity(fresh.opportunity.id);
            let mut transaction = self.replace_card(&stored, fresh, stored.edited)?;
            transaction.check(self.keys().lead(lead), as_read(record));
            match self.table.commit(transaction).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Refused(items)) => {
                    // Where the lead changed, its notice is not taken down, and the next round sees to it.
                    let item = items.get(&key).filter(|item| !item.is_empty());
                    let Some(item) = item else { return Ok(()) };
                    stored = opportunities::decode(item)?;
                    self.table.pause(attempt).await;
                }
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Err(StoreError::Contention("refreshing a copy"))
    }
}

/// The leads whose copies may be behind, with their records.
#[derive(Debug, Default)]
pub struct Fresh {
    notices: Notices,
    records: BTreeMap<LeadId, LeadRecord>,
}

impl Fresh {
    /// Replaces the copies of a card if they may be behind.
    pub fn apply(&self, card: &mut Card) {
        if self.notices.cover(card) {
            card.refresh(&self.records);
        }
    }
}

impl Card {
    fn refresh(&mut self, records: &BTreeMap<LeadId, LeadRecord>) {
        let record = self.opportunity.lead_id.and_then(|lead| records.get(&lead));
        *self = Self::of(self.opportunity.clone(), record);
    }
}

impl Store {
    /// Brings the copies of all instances up to date; see [`super::notices`]. Returns the copies of how many leads were
    /// written.
    ///
    /// # Errors
    /// [`StoreError`] where the table fails; what is not done is done the next time.
    pub async fn refresh_copies(&self) -> Result<u64, StoreError> {
        let mut done = 0;
        for instance in self.instances().await? {
            done += self.reader(instance.name).refresh_copies(GRACE).await?;
        }
        Ok(done)
    }
}

/// That a lead is still as it was read.
fn as_read(lead: Option<&LeadRecord>) -> Condition {
    lead.map_or(Condition::Absent, |lead| Condition::Version(lead.version))
}

fn number(notice: &Item, name: &str) -> Result<u64, StoreError> {
    item::number("notice", notice, name)
}

fn noticed(notice: &Item) -> Result<LeadId, StoreError> {
    let key = key_of(notice)?;
    let id = key
        .sk
        .strip_prefix("lead#")
        .and_then(|id| LeadId::new(id.parse().ok()?));
    id.ok_or_else(|| item::corrupt("notice", "it names no lead"))
}
