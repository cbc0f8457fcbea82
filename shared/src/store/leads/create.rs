//! Making a lead on request: the record, all that is derived from it, its claims, the number it takes and the request's
//! claim are one transaction (C-92).
//!
//! The claims of numbers are those of calls, so a call and a request for one number make one lead.

use std::collections::BTreeMap;

use super::details::Details;
use super::identity::{Claimants, Identity};
use super::ranks;
use super::record::{LeadRecord, LeadState};
use crate::ids::LeadId;
use crate::lead::Lead;
use crate::settings::Settings;
use crate::store::budget::ReadBudget;
use crate::store::companies::NamedCompany;
use crate::store::format::Format;
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::store::key::{Counter, Key};
use crate::store::sequence::Sequence;
use crate::store::{Reader, Writer};
use table::item::{self, Item};
use table::{CommitError, Policy, StoreError, Transaction};

const NUMBER: &str = "lead";

/// Prefetched reads of a lead to make.
#[derive(Debug)]
pub struct PrefetchedLead {
    /// Outcome of earlier requests with the same key.
    pub claimed: Claimed,
    /// The fields that must be unique.
    identity: Identity,
    /// The lead that has it.
    existing: Option<LeadId>,
    /// Its look-ups may be incomplete.
    unmigrated: bool,
    /// The number that the lead takes.
    number: Sequence,
    claim: Option<IdempotencyKey>,
}

/// Outcome of a request for a lead.
#[derive(Debug, Clone, PartialEq)]
pub enum CreatedLead {
    /// It is written.
    Made(Box<Lead>),
    /// This lead has the number, or the address; nothing is written.
    Existing(Box<Lead>),
    /// Its company is gone; nothing is written.
    CompanyGone,
    /// Another request with the same key came first; nothing is written.
    Claimed(Claimed),
}

/// A lead to write.
struct NewLead {
    /// Its id is set for each attempt.
    lead: Lead,
    company: Option<NamedCompany>,
    identity: Identity,
    /// Leads that claimed a number or the address earlier, and do not have it any more.
    earlier: Claimants,
    claim: Option<IdempotencyKey>,
    nonce: String,
}

impl Reader {
    /// Reads what making a lead rests on: gets and queries of one item, in one round trip. `identity` is what must be unique
    /// of it.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_lead(
        &self,
        identity: Identity,
        claim: Option<IdempotencyKey>,
    ) -> Result<PrefetchedLead, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let (claimed, existing, unmigrated, counter) = tokio::try_join!(
            self.claimed(claim.as_ref()),
            self.identified_lead(&identity),
            self.lacks_email_look_ups(&identity),
            self.table.get(&counter),
        )?;
        Ok(PrefetchedLead {
            claimed,
            identity,
            existing,
            unmigrated,
            number: Sequence::next(counter.as_ref(), NUMBER)?,
            claim,
        })
    }
}

impl Writer {
    /// Makes a lead, whose id is set here, or finds the one that has what must be unique. Of any number of concurrent
    /// requests for one number or address, calls among them, one makes the lead. One transaction, or one get; more only
    /// where others come in between. `settings` limit a search in a table of a former format.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn create_lead(
        &self,
        start: PrefetchedLead,
        lead: Lead,
        company: Option<NamedCompany>,
        settings: &Settings,
    ) -> Result<CreatedLead, StoreError> {
        let (mut existing, mut number) = (start.existing, start.number);
        if existing.is_none() && start.unmigrated {
            let budget = ReadBudget::within(settings);
            existing = ReadBudget::in_time(self.reader.listed_lead(&start.identity, &budget)).await?;
        }
        self.learn_division(&lead).await?;
        let mut new = NewLead {
            lead,
            company,
            identity: start.identity,
            earlier: Claimants::new(),
            claim: start.claim,
            nonce: self.reader.environment.token(),
        };
        let (mut is_first, mut retry) = (true, self.reader.table.retry(Policy::CROWDED, "making a lead"));
        loop {
            if let Some(id) = existing {
                // An equal request may have made it after this one looked for its claim.
                let claimed = self.reader.claimed(new.claim.as_ref());
                let (lead, claimed) = tokio::try_join!(self.reader.lead_if(id, &new.identity), claimed)?;
                if claimed != Claimed::New {
                    return Ok(CreatedLead::Claimed(claimed));
                }
                if let Some(lead) = lead {
                    return Ok(CreatedLead::Existing(Box::new(lead)));
                }
                existing = self.reader.identified_lead(&new.identity).await?;
            }
            if existing.is_none() {
                if std::mem::take(&mut is_first) {
                    number = self.first_number(number, Counter::Lead, NUMBER).await?;
                }
                match self.insert_lead(&mut new, number).await? {
                    Ok(outcome) => return Ok(outcome),
                    Err(refused) => {
                        existing = self.reader.identified_lead(&new.identity).await?;
                        if existing.is_none() {
                            number = self.other_number(&refused, number).await?;
                        }
                    }
                }
            }
            retry.again().await?;
        }
    }

    /// One attempt to write a lead: its outcome, or the items that refused it.
    async fn insert_lead(
        &self,
        new: &mut NewLead,
        number: Sequence,
    ) -> Result<Result<CreatedLead, BTreeMap<Key, Item>>, StoreError> {
        let id: LeadId = number.id()?;
        new.lead.id = id;
        let made = || CreatedLead::Made(Box::new(new.lead.clone()));
        let refused = match self.table.commit(self.lead_creation(new, number)?).await {
            Ok(()) => return Ok(Ok(made())),
            Err(CommitError::Refused(items)) => items,
            Err(CommitError::Store(error)) => {
                let stored = self.reader.lead_record(id).await?;
                let own = stored.is_some_and(|record| record.nonce.as_deref() == Some(new.nonce.as_str()));
                return own.then(|| Ok(made())).ok_or(error);
            }
        };
        let there = refused.get(&self.keys().lead(id));
        if there.is_some_and(|item| item::is_own(item, &new.nonce)) {
            return Ok(Ok(made()));
        }
        if let Some(claimed) = self.claimed_meanwhile(new.claim.as_ref(), &refused)? {
            return Ok(Ok(CreatedLead::Claimed(claimed)));
        }
        let renewed = new
            .company
            .take()
            .map(|company| company.renewed(self.keys(), &refused));
        match renewed.transpose()? {
            Some(None) => return Ok(Ok(CreatedLead::CompanyGone)),
            company => new.company = company.flatten(),
        }
        new.earlier
            .extend(new.identity.refused_by(self.keys(), &refused)?);
        Ok(Err(refused))
    }

    /// The writes that make a lead under a number.
    fn lead_creation(&self, new: &NewLead, number: Sequence) -> Result<Transaction, StoreError> {
        let (keys, now) = (self.keys(), self.reader.environment.now());
        let id = new.lead.id;
        let state = LeadState {
            lead: new.lead.clone(),
            company: new.company.as_ref().map(|named| named.company.clone()),
            unlinked: self.reader.settled.has(Format::UNLINKED),
            details: Details::default().next(&self.reader.settled),
        };
        let record = LeadRecord::made(state, Some(new.nonce.as_str()));
        let mut transaction = self.put_record(&record, None)?;
        ranks::leave_to_count(&mut transaction, keys, &new.lead, number);
        if let Some(company) = &new.company {
            company.require(&mut transaction, keys);
        }
        new.identity
            .put_claims(&mut transaction, keys, id, (&new.earlier, now));
        number.take(&mut transaction, keys.counter(Counter::Lead), NUMBER);
        if let Some(claim) = &new.claim {
            claim.put(&mut transaction, keys, id.get(), now);
        }
        Ok(transaction)
    }

    /// Another number, where others took this one.
    async fn other_number(
        &self,
        refused: &BTreeMap<Key, Item>,
        number: Sequence,
    ) -> Result<Sequence, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let record = self.keys().lead(number.id()?);
        if refused.contains_key(&counter) || refused.contains_key(&record) {
            return self.number_after_conflict(Counter::Lead, NUMBER).await;
        }
        Ok(number)
    }
}
