//! Changing an opportunity: a change is decided on the record that was read, and written on condition that it still is
//! the one; where others came first it is decided again on theirs, so that no update is lost (C-31).

use super::{Card, OpportunityRecord, decode};
use crate::funnel::Funnel;
use crate::id::{FunnelId, LeadId, OpportunityId, UserId};
use crate::opportunity::Opportunity;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::leads::{self, LeadRecord};
use crate::store::notices::Notices;
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::store::{InstanceStore, Reader};

/// Attempts before a contested change is given up: about 6 s of pauses in all. Of those who meet one wins each time.
const ATTEMPTS: u32 = 80;
/// From which attempt on pauses no longer grow: whoever waits long loses to those who come later.
const LONGEST_PAUSE: u32 = 3;

/// What an update rests on.
#[derive(Debug)]
pub struct UpdateStart {
    /// The funnel, if there is one.
    pub funnel: Option<Funnel>,
    /// The opportunity's record, if there is one.
    pub stored: Option<OpportunityRecord>,
    /// The record of the lead that the request names, if it names one that exists.
    pub lead: Option<LeadRecord>,
    /// The user that the request names, if it names one that exists.
    pub user: Option<UserId>,
    notices: Notices,
}

/// What became of an update.
#[derive(Debug, Clone, PartialEq)]
pub enum Updated<R> {
    /// It is written, or changes nothing.
    Done(Box<Card>),
    /// The change was refused by who decided it; nothing is written.
    Refused(R),
    /// The opportunity, or the lead that it would have, is not there; nothing is written.
    Gone,
}

impl Reader {
    /// Reads what an update rests on. One batch of gets, and the notices beside it.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn begin_update(
        &self,
        id: OpportunityId,
        funnel: FunnelId,
        (lead, user): (Option<LeadId>, Option<UserId>),
    ) -> Result<UpdateStart, StoreError> {
        let (id, funnel) = (self.keys().opportunity(id), self.keys().funnel(funnel));
        let lead = lead.map(|lead| self.keys().lead(lead));
        let named = user.map(|user| self.keys().user(user));
        let wanted = [id.clone(), funnel.clone()].into_iter().chain(lead.clone());
        let wanted = wanted.chain(named.clone());
        let (mut found, notices) = tokio::try_join!(self.table.get_many(wanted), self.notices())?;
        let funnel = found.remove(&funnel).map(|item| item::decode("funnel", item));
        let lead = lead.and_then(|lead| found.remove(&lead)).map(leads::decode);
        Ok(UpdateStart {
            funnel: funnel.transpose()?,
            stored: found.get(&id).map(decode).transpose()?,
            lead: lead.transpose()?,
            user: user.filter(|_| named.is_some_and(|named| found.contains_key(&named))),
            notices,
        })
    }

    /// An opportunity by id, with its lead as it is. One get, the notices beside it, and the lead where one covers it.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn opportunity_card(&self, id: OpportunityId) -> Result<Option<Card>, StoreError> {
        let (stored, notices) = tokio::try_join!(self.opportunity(id), self.notices())?;
        let Some(OpportunityRecord { mut card, .. }) = stored else {
            return Ok(None);
        };
        self.freshen(&notices, &mut [&mut card]).await?;
        Ok(Some(card))
    }
}

impl InstanceStore {
    /// Changes an opportunity as `change` decides, which is asked again on the newer record where others changed it
    /// meanwhile. One transaction; none where it changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn update_opportunity<R>(
        &self,
        start: UpdateStart,
        change: impl Fn(&Opportunity) -> Result<Opportunity, R>,
    ) -> Result<Updated<R>, StoreError> {
        let (notices, mut lead) = (start.notices, start.lead);
        let Some(mut stored) = start.stored else {
            return Ok(Updated::Gone);
        };
        for attempt in 0..ATTEMPTS {
            // Whoever reads the record now takes the lead itself for its copy, and so must the answer and the new record.
            let mut fresh = stored.card.clone();
            self.freshen(&notices, &mut [&mut fresh]).await?;
            let changed = match change(&fresh.opportunity) {
                Ok(changed) => changed,
                Err(refused) => return Ok(Updated::Refused(refused)),
            };
            if changed == fresh.opportunity {
                return Ok(Updated::Done(Box::new(fresh)));
            }
            let Some((card, transaction)) = self.change(&stored, fresh, changed, lead.as_ref())? else {
                return Ok(Updated::Gone);
            };
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(Updated::Done(Box::new(card))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => return self.changed_after_all(card).await?.ok_or(error),
            };
            if let Some(item) = refused.get(&self.keys().opportunity(card.opportunity.id)) {
                stored = decode(item)?;
                // An attempt of which nobody heard had done it.
                if stored.card.opportunity == card.opportunity {
                    return Ok(Updated::Done(Box::new(card)));
                }
            }
            lead = newer(lead, |lead| refused.get(&self.keys().lead(lead)))?;
            match self.later(stored, attempt).await? {
                Some(record) => stored = record,
                None => return Ok(Updated::Gone),
            }
        }
        Err(StoreError::Contention("changing an opportunity"))
    }

    /// The record to decide on next: at first the one that stood in the way, then the one that is there after a pause. Where
    /// many want the same, what was there before the pause is old after it.
    async fn later(
        &self,
        stored: OpportunityRecord,
        attempt: u32,
    ) -> Result<Option<OpportunityRecord>, StoreError> {
        if attempt == 0 {
            return Ok(Some(stored));
        }
        self.table.pause(attempt.min(LONGEST_PAUSE)).await;
        self.opportunity(stored.card.opportunity.id).await
    }

    /// The card as it is to be, and the writes that make it so; `None` where it would have a lead that is not there.
    fn change(
        &self,
        stored: &OpportunityRecord,
        fresh: Card,
        changed: Opportunity,
        lead: Option<&LeadRecord>,
    ) -> Result<Option<(Card, Transaction)>, StoreError> {
        if changed.lead_id == fresh.opportunity.lead_id {
            let card = Card {
                opportunity: changed,
                ..fresh
            };
            let transaction = self.replace_card(stored, card.clone(), true)?;
            return Ok(Some((card, transaction)));
        }
        let Some(lead) = lead.filter(|record| changed.lead_id == Some(record.lead.id)) else {
            return Ok(None);
        };
        let card = Card::of(changed, Some(lead));
        let mut transaction = self.replace_card(stored, card.clone(), true)?;
        transaction.check(self.keys().lead(lead.lead.id), Condition::Version(lead.version));
        Ok(Some((card, transaction)))
    }

    /// What an attempt of unknown outcome came to: the record as it was to be, if it is so.
    async fn changed_after_all<R>(&self, card: Card) -> Result<Option<Updated<R>>, StoreError> {
        let stored = self.opportunity(card.opportunity.id).await?;
        let same = stored.is_some_and(|record| record.card.opportunity == card.opportunity);
        Ok(same.then_some(Updated::Done(Box::new(card))))
    }
}

/// The record of a named lead as it stood in the way, else as it was known; `None` where it is gone, and then
/// [`change`](InstanceStore::change) finds none.
fn newer<'i>(
    known: Option<LeadRecord>,
    refused: impl FnOnce(LeadId) -> Option<&'i Item>,
) -> Result<Option<LeadRecord>, StoreError> {
    match known.as_ref().and_then(|known| refused(known.lead.id)) {
        Some(item) if item.is_empty() => Ok(None),
        Some(item) => leads::decode(item.clone()).map(Some),
        None => Ok(known),
    }
}
