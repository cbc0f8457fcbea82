//! Making an opportunity: the record, all that is derived from it, the number it takes and the request's claim are one
//! transaction, which checks that the lead still is the one whose copy is embedded (C-24).

use super::{Card, OpportunityRecord};
use crate::funnel::Funnel;
use crate::id::{FunnelId, LeadId, OpportunityId, UserId};
use crate::opportunity::Opportunity;
use crate::store::error::StoreError;
use crate::store::idempotency::{Claim, Claimed};
use crate::store::item;
use crate::store::key::Counter;
use crate::store::leads::{self, LeadRecord};
use crate::store::number::Number;
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::store::unknown::Raw;
use crate::store::{InstanceStore, Reader};

/// Attempts before a contested creation is given up. None waits: creations do not get in each other's way once they have
/// their numbers, and what a refusal tells of the lead is newest at once.
const ATTEMPTS: u32 = 12;
const NUMBER: &str = "opportunity";

/// What a creation rests on.
#[derive(Debug)]
pub struct CreationStart {
    /// The funnel, if there is one.
    pub funnel: Option<Funnel>,
    /// The lead's record, if there is one.
    pub lead: Option<LeadRecord>,
    /// The user that is named, if there is one.
    pub user: Option<UserId>,
    /// What became of earlier requests with the same key.
    pub claimed: Claimed,
    /// The number that the opportunity takes.
    number: Number,
}

/// What became of a creation.
#[derive(Debug, Clone, PartialEq)]
pub enum Created {
    /// It is written.
    Made(Box<Card>),
    /// The lead is gone; nothing is written.
    LeadGone,
    /// Another request with the same key came first; nothing is written.
    Claimed(Claimed),
}

impl Reader {
    /// Reads what a creation rests on. One batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn begin_creation(
        &self,
        funnel: FunnelId,
        (lead, user): (LeadId, Option<UserId>),
        claim: Option<&Claim>,
    ) -> Result<CreationStart, StoreError> {
        let keys = self.keys();
        let (funnel, lead, counter) = (
            keys.funnel(funnel),
            keys.lead(lead),
            keys.counter(Counter::Opportunity),
        );
        let claim = claim.map(|claim| (claim, claim.key(keys)));
        let wanted = [funnel.clone(), lead.clone(), counter.clone()];
        let wanted = wanted.into_iter().chain(claim.iter().map(|(_, key)| key.clone()));
        let wanted = wanted.chain(user.map(|user| keys.user(user)));
        let mut found = self.table.get_many(wanted).await?;
        let now = self.table.ambient.now();
        let claimed = claim.and_then(|(claim, key)| Some(claim.judge(found.get(&key)?, now)));
        let funnel = found.remove(&funnel).map(|item| item::decode("funnel", item));
        Ok(CreationStart {
            funnel: funnel.transpose()?,
            lead: found.remove(&lead).map(leads::decode).transpose()?,
            user: user.filter(|user| found.contains_key(&keys.user(*user))),
            claimed: claimed.transpose()?.unwrap_or(Claimed::Free),
            number: Number::next(found.get(&counter), NUMBER)?,
        })
    }
}

impl InstanceStore {
    /// Makes an opportunity of what `make` gives for its number. One transaction; more only where others come in between.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn insert_opportunity(
        &self,
        start: CreationStart,
        claim: Option<&Claim>,
        make: impl Fn(OpportunityId) -> Opportunity,
    ) -> Result<Created, StoreError> {
        let nonce = self.table.ambient.token();
        let Some(mut lead) = start.lead else {
            return Ok(Created::LeadGone);
        };
        let mut number = start.number;
        for _ in 0..ATTEMPTS {
            let id: OpportunityId = number.id()?;
            let card = Card::of(make(id), Some(&lead));
            let transaction = self.creation(&card, &lead, number, claim, &nonce)?;
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(Created::Made(Box::new(card))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => return self.made_after_all(id, &nonce).await?.ok_or(error),
            };
            let (record, counter) = (
                self.keys().opportunity(id),
                self.keys().counter(Counter::Opportunity),
            );
            if refused
                .get(&record)
                .is_some_and(|item| item::is_own(item, &nonce))
            {
                return Ok(Created::Made(Box::new(card)));
            }
            if let Some(claimed) = self.claimed_meanwhile(claim, &refused)? {
                return Ok(Created::Claimed(claimed));
            }
            if let Some(item) = refused.get(&self.keys().lead(lead.lead.id)) {
                if item.is_empty() {
                    return Ok(Created::LeadGone);
                }
                lead = leads::decode(item.clone())?;
            }
            if refused.contains_key(&record) || refused.contains_key(&counter) {
                number = self.table.take_number(&counter, NUMBER).await?;
            }
        }
        Err(StoreError::Contention("making an opportunity"))
    }

    /// The writes that make an opportunity of a lead under a number, on condition that the lead is as it was read. `nonce`
    /// makes the opportunity recognisable to the one who wrote it.
    pub(in crate::store) fn creation(
        &self,
        card: &Card,
        lead: &LeadRecord,
        number: Number,
        claim: Option<&Claim>,
        nonce: &str,
    ) -> Result<Transaction, StoreError> {
        let id = card.opportunity.id;
        let record = OpportunityRecord {
            card: card.clone(),
            version: 1,
            edited: true,
            nonce: Some(nonce.to_owned()),
            raw: Raw::default(),
        };
        let mut transaction = self.put_record(None, &record)?;
        transaction.check(self.keys().lead(lead.lead.id), Condition::Version(lead.version));
        number.take(
            &mut transaction,
            self.keys().counter(Counter::Opportunity),
            NUMBER,
        );
        if let Some(claim) = claim {
            claim.put(&mut transaction, self.keys(), id.get(), self.table.ambient.now());
        }
        Ok(transaction)
    }

    /// What an attempt of unknown outcome made, if it did.
    async fn made_after_all(&self, id: OpportunityId, nonce: &str) -> Result<Option<Created>, StoreError> {
        let stored = self.opportunity(id).await?;
        let own = stored.filter(|record| record.nonce.as_deref() == Some(nonce));
        Ok(own.map(|record| Created::Made(Box::new(record.card))))
    }
}
