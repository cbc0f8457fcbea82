//! Creates a lead on request. The record, its derived items, its claims, its id and the request's claim are one
//! transaction (C-92).
//!
//! Calls use the same claims of numbers, so a concurrent call and request with one number create one lead.

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

/// Prefetched reads of a lead to create.
#[derive(Debug)]
pub struct PrefetchedLead {
    /// Outcome of earlier requests with the same key.
    pub claimed: Claimed,
    /// The fields that must be unique.
    identity: Identity,
    /// The lead that has one of them.
    existing: Option<LeadId>,
    /// Whether look-ups by e-mail address may be incomplete.
    unmigrated: bool,
    /// The id of the new lead.
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
    /// Leads with a claim to a number or the address that they no longer have.
    earlier: Claimants,
    claim: Option<IdempotencyKey>,
    nonce: String,
}

impl Reader {
    /// Prefetches the records for a new lead: gets and queries of one item, in one round trip. `identity` contains the
    /// fields that must be unique.
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
    /// Creates a lead and sets its id, or finds the lead with the unique number or address. Of concurrent requests and
    /// calls for one number or address, one creates the lead. One transaction, or a get of the existing lead and of the
    /// claim; more after conflicts. `settings` limit the search in a table of an earlier format.
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
                // An equal request may have created it after this request read the claim.
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

    /// One attempt to write a lead. Returns its outcome, or the items of failed conditions.
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

    /// The writes of a new lead with an id.
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

    /// A reserved id, if a concurrent request took this one; otherwise this one.
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
