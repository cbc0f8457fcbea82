//! Creates an opportunity. The record, its derived items, its id and the request's claim are one transaction, on
//! condition that the embedded lead is unchanged (C-24).

use super::{OpportunityRecord, OpportunitySnapshot};
use crate::funnel::Funnel;
use crate::ids::{FunnelId, LeadId, OpportunityId, UserId};
use crate::opportunity::Opportunity;
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::store::key::Counter;
use crate::store::leads::{self, LeadRecord};
use crate::store::sequence::Sequence;
use crate::store::{Reader, Writer};
use table::StoreError;
use table::item;
use table::{CommitError, Policy, Transaction};

/// Attribute of the counter with the last id.
const NUMBER: &str = "opportunity";

/// Prefetched reads of a creation.
#[derive(Debug)]
pub struct PrefetchedCreation {
    /// The funnel, if there is one.
    pub funnel: Option<Funnel>,
    /// The lead's record, if there is one.
    pub lead: Option<LeadRecord>,
    /// The requested user, if it exists.
    pub user: Option<UserId>,
    /// Outcome of earlier requests with the same key.
    pub claimed: Claimed,
    /// The id of the opportunity.
    number: Sequence,
    claim: Option<IdempotencyKey>,
}

/// Outcome of a creation.
#[derive(Debug, Clone, PartialEq)]
pub enum Created {
    /// It is written.
    Made(Box<OpportunitySnapshot>),
    /// The lead does not exist; nothing is written.
    LeadGone,
    /// Another request with the same key came first; nothing is written.
    Claimed(Claimed),
}

impl Reader {
    /// Prefetches the records for a creation. One batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_creation(
        &self,
        funnel: FunnelId,
        (lead, user): (LeadId, Option<UserId>),
        claim: Option<IdempotencyKey>,
    ) -> Result<PrefetchedCreation, StoreError> {
        let keys = self.keys();
        let funnel_key = keys.funnel(funnel);
        let lead_key = keys.lead(lead);
        let counter = keys.counter(Counter::Opportunity);
        let claim_key = claim.as_ref().map(|claim| claim.key(keys));
        let wanted = [funnel_key.clone(), lead_key.clone(), counter.clone()]
            .into_iter()
            .chain(claim_key.clone())
            .chain(user.map(|user| keys.user(user)));
        let mut found = self.table.get_many(wanted).await?;
        let now = self.environment.now();
        let claim_with_key = claim.as_ref().zip(claim_key);
        let claimed = claim_with_key.and_then(|(claim, key)| Some(claim.outcome(found.get(&key)?, now)));
        let funnel = found.remove(&funnel_key).map(|item| item::decode("funnel", item));
        Ok(PrefetchedCreation {
            funnel: funnel.transpose()?,
            lead: found.remove(&lead_key).map(LeadRecord::decode).transpose()?,
            user: user.filter(|user| found.contains_key(&keys.user(*user))),
            claimed: claimed.transpose()?.unwrap_or(Claimed::New),
            number: Sequence::next(found.get(&counter), NUMBER)?,
            claim,
        })
    }
}

impl Writer {
    /// Creates the opportunity that `make` returns for its id. One transaction; more after conflicts. The items that
    /// failed conditions return are the basis of the next attempt, so it needs no reads.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn insert_opportunity(
        &self,
        start: PrefetchedCreation,
        make: impl Fn(OpportunityId) -> Opportunity,
    ) -> Result<Created, StoreError> {
        let nonce = self.reader.environment.token();
        let claim = start.claim.as_ref();
        let Some(mut lead) = start.lead else {
            return Ok(Created::LeadGone);
        };
        let mut number = self.first_id(start.number, Counter::Opportunity, NUMBER).await?;
        let mut retry = self
            .reader
            .table
            .retry(Policy::CONTESTED, "making an opportunity");
        loop {
            let id: OpportunityId = number.id()?;
            let snapshot = OpportunitySnapshot::of(make(id), Some(&lead));
            let transaction = self.creation(&snapshot, &lead, number, claim, &nonce)?;
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(Created::Made(Box::new(snapshot))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => return self.find_own_write(id, &nonce).await?.ok_or(error),
            };
            let record_key = self.keys().opportunity(id);
            let counter = self.keys().counter(Counter::Opportunity);
            // An earlier attempt of unknown outcome wrote it.
            if refused
                .get(&record_key)
                .is_some_and(|item| item::is_own(item, &nonce))
            {
                return Ok(Created::Made(Box::new(snapshot)));
            }
            if let Some(claimed) = self.claimed_concurrently(claim, &refused)? {
                return Ok(Created::Claimed(claimed));
            }
            if let Some(item) = refused.get(&self.keys().lead(lead.lead.id)) {
                if item.is_empty() {
                    return Ok(Created::LeadGone);
                }
                lead = LeadRecord::decode(item)?;
            }
            if refused.contains_key(&record_key) || refused.contains_key(&counter) {
                number = self.reserve_after_conflict(Counter::Opportunity, NUMBER).await?;
            }
            retry.again().await?;
        }
    }

    /// The writes of a new opportunity of a lead, on condition that the lead is unchanged. The request recognises its
    /// own write by `nonce`.
    pub(crate) fn creation(
        &self,
        snapshot: &OpportunitySnapshot,
        lead: &LeadRecord,
        number: Sequence,
        claim: Option<&IdempotencyKey>,
        nonce: &str,
    ) -> Result<Transaction, StoreError> {
        let id = snapshot.opportunity.id;
        let record = OpportunityRecord::made(snapshot.clone(), Some(nonce));
        let mut transaction = self.put_record(&record, None)?;
        leads::link(&mut transaction, self.keys(), lead);
        number.take(
            &mut transaction,
            self.keys().counter(Counter::Opportunity),
            NUMBER,
        );
        if let Some(claim) = claim {
            claim.put(
                &mut transaction,
                self.keys(),
                id.get(),
                self.reader.environment.now(),
            );
        }
        Ok(transaction)
    }

    /// The outcome of a transaction that returned an error: the opportunity, if it was written all the same.
    async fn find_own_write(&self, id: OpportunityId, nonce: &str) -> Result<Option<Created>, StoreError> {
        let stored = self.reader.opportunity(id).await?;
        let own = stored.filter(|record| record.nonce.as_deref() == Some(nonce));
        Ok(own.map(|record| Created::Made(Box::new(record.value))))
    }
}
