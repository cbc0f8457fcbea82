//! Creates a lead on request. The record, its derived items, its claims, its id and the request's claim are one
//! transaction (C-92).
//!
//! Calls use the same claims of numbers, so a concurrent call and request with one number create one lead.

use std::collections::BTreeMap;

use super::details::Details;
use super::identity::{Claimants, Identity};
use super::record::{LeadRecord, LeadState};
use crate::form::{Form, Submitted};
use crate::ids::LeadId;
use crate::lead::Lead;
use crate::store::companies::NamedCompany;
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::store::key::{Counter, Key};
use crate::store::sequence::Sequence;
use crate::store::{Reader, Writer};
use crate::time::Timestamp;
use table::item::{self, Item};
use table::{CommitError, Policy, StoreError, Transaction};

/// The counter's attribute with the last id of a lead.
const SEQUENCE: &str = "lead";

/// An accepted submission.
#[derive(Debug, Clone)]
pub struct FormReceipt {
    /// The form.
    pub form: Form,
    /// The accepted values.
    pub submitted: Submitted,
    /// Time of the request.
    pub now: Timestamp,
    /// The claims that equal submissions share. The creation of a lead takes the first one by itself.
    pub(super) claims: Vec<IdempotencyKey>,
    pub(super) event: Sequence,
    /// Recognises the event of this submission after an unknown outcome.
    pub(super) nonce: String,
}

/// Prefetched reads of a lead to create.
#[derive(Debug)]
pub struct PrefetchedLead {
    /// Outcome of earlier requests with the same key.
    pub claimed: Claimed,
    /// The fields that must be unique.
    identity: Identity,
    /// The lead that has one of them.
    existing: Option<LeadId>,
    /// The id of the new lead, if no other request takes it first.
    next_id: Sequence,
    idempotency_key: Option<IdempotencyKey>,
    receipt: Option<FormReceipt>,
}

impl PrefetchedLead {
    /// With the submission that creates the lead.
    #[must_use]
    pub fn with_receipt(mut self, receipt: FormReceipt) -> Self {
        self.receipt = Some(receipt);
        self
    }
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
    idempotency_key: Option<IdempotencyKey>,
    receipt: Option<FormReceipt>,
    /// Recognises the request's own write after an unknown outcome.
    nonce: String,
}

/// Result of one attempt to write a lead.
enum CreationAttempt {
    /// The request is decided.
    Done(CreatedLead),
    /// Conditions failed, for which there may be a remedy. Contains the current items of these conditions.
    Refused(BTreeMap<Key, Item>),
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
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<PrefetchedLead, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let (claimed, existing, counter) = tokio::try_join!(
            self.claimed(idempotency_key.as_ref()),
            self.identified_lead(&identity),
            self.table.get(&counter),
        )?;
        Ok(PrefetchedLead {
            claimed,
            identity,
            existing,
            next_id: Sequence::next(counter.as_ref(), SEQUENCE)?,
            idempotency_key,
            receipt: None,
        })
    }
}

impl Writer {
    /// Creates a lead and sets its id, or finds the lead with the unique number or address. Of concurrent requests and
    /// calls for one number or address, one creates the lead. One transaction, or a get of the existing lead and of the
    /// claim; more after conflicts.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn create_lead(
        &self,
        prefetched: PrefetchedLead,
        lead: Lead,
        company: Option<NamedCompany>,
    ) -> Result<CreatedLead, StoreError> {
        let (mut existing, mut id) = (prefetched.existing, prefetched.next_id);
        let mut new = NewLead {
            lead,
            company,
            identity: prefetched.identity,
            earlier: Claimants::new(),
            idempotency_key: prefetched.idempotency_key,
            receipt: prefetched.receipt,
            nonce: self.reader.environment.token(),
        };
        let mut is_first_attempt = true;
        let mut retry = self.reader.table.retry(Policy::CROWDED, "making a lead");
        loop {
            if let Some(existing_id) = existing {
                if let Some(outcome) = self.outcome_of_existing(existing_id, &new).await? {
                    return Ok(outcome);
                }
                existing = self.reader.identified_lead(&new.identity).await?;
            }
            if existing.is_none() {
                if is_first_attempt {
                    id = self.first_id(id, Counter::Lead, SEQUENCE).await?;
                    is_first_attempt = false;
                }
                match self.insert_lead(&mut new, id).await? {
                    CreationAttempt::Done(outcome) => return Ok(outcome),
                    CreationAttempt::Refused(items) => {
                        if let Some(receipt) = &mut new.receipt {
                            self.renumber(receipt, &items).await?;
                        }
                        existing = self.reader.identified_lead(&new.identity).await?;
                        if existing.is_none() {
                            id = self.id_after_refusal(&items, id).await?;
                        }
                    }
                }
            }
            retry.again().await?;
        }
    }

    /// The outcome if lead `id` has a number or the address of the new lead; `None` if it no longer has any, or is
    /// gone. An equal request may have created it after this request read its idempotency key, so the key is read
    /// again.
    async fn outcome_of_existing(
        &self,
        id: LeadId,
        new: &NewLead,
    ) -> Result<Option<CreatedLead>, StoreError> {
        let (lead, claimed) = tokio::try_join!(
            self.reader.lead_if_identified(id, &new.identity),
            self.reader.claimed(new.idempotency_key.as_ref())
        )?;
        if claimed != Claimed::New {
            return Ok(Some(CreatedLead::Claimed(claimed)));
        }
        Ok(lead.map(|lead| CreatedLead::Existing(Box::new(lead))))
    }

    /// Makes one attempt to write a lead with this id. After a refusal, `new` contains the current company, and the
    /// leads whose claims refused the attempt.
    async fn insert_lead(&self, new: &mut NewLead, id: Sequence) -> Result<CreationAttempt, StoreError> {
        new.lead.id = id.id()?;
        let made = || CreationAttempt::Done(CreatedLead::Made(Box::new(new.lead.clone())));
        let refused = match self.table.commit(self.lead_creation(new, id)?).await {
            Ok(()) => return Ok(made()),
            Err(CommitError::Refused(items)) => items,
            Err(CommitError::Store(error)) => {
                // The outcome may be unknown, so the nonce decides.
                let stored = self.reader.lead_record(new.lead.id).await?;
                let is_own = stored.is_some_and(|record| record.nonce.as_deref() == Some(new.nonce.as_str()));
                return if is_own { Ok(made()) } else { Err(error) };
            }
        };
        // An earlier attempt to send the same transaction may have succeeded.
        let there = refused.get(&self.keys().lead(new.lead.id));
        if there.is_some_and(|item| item::is_own(item, &new.nonce)) {
            return Ok(made());
        }
        if let Some(claimed) = self.claimed_concurrently(new.idempotency_key.as_ref(), &refused)? {
            return Ok(CreationAttempt::Done(CreatedLead::Claimed(claimed)));
        }
        let by_receipt = new
            .receipt
            .as_ref()
            .map(|receipt| self.claimed_by_other(receipt, &refused));
        if let Some(claimed) = by_receipt.transpose()?.flatten() {
            return Ok(CreationAttempt::Done(CreatedLead::Claimed(claimed)));
        }
        if let Some(company) = new.company.take() {
            let current = company.renewed(self.keys(), &refused)?;
            if current.is_none() {
                return Ok(CreationAttempt::Done(CreatedLead::CompanyGone));
            }
            new.company = current;
        }
        let claimants = new.identity.claimants_among(self.keys(), &refused)?;
        new.earlier.extend(claimants);
        Ok(CreationAttempt::Refused(refused))
    }

    /// The writes of a new lead with its id, which the transaction takes at the counter unless it is reserved.
    fn lead_creation(&self, new: &NewLead, id: Sequence) -> Result<Transaction, StoreError> {
        let (keys, now) = (self.keys(), self.reader.environment.now());
        let state = LeadState {
            lead: new.lead.clone(),
            company: new.company.as_ref().map(|named| named.company.clone()),
            unlinked: true,
            details: Details::default(),
        };
        let record = LeadRecord::made(state, Some(new.nonce.as_str()));
        let mut transaction = self.put_record(&record, None)?;
        if let Some(company) = &new.company {
            company.require(&mut transaction, keys);
        }
        new.identity
            .put_claims(&mut transaction, keys, new.lead.id, (&new.earlier, now));
        id.take(&mut transaction, keys.counter(Counter::Lead), SEQUENCE);
        if let Some(receipt) = &new.receipt {
            self.put_receipt(&mut transaction, receipt, &new.lead)?;
        }
        if let Some(key) = &new.idempotency_key {
            key.put(&mut transaction, keys, new.lead.id.get(), now);
        }
        Ok(transaction)
    }

    /// The id of the next attempt: a reserved one if a concurrent request took `id`, otherwise `id`.
    async fn id_after_refusal(
        &self,
        refused: &BTreeMap<Key, Item>,
        id: Sequence,
    ) -> Result<Sequence, StoreError> {
        let counter = self.keys().counter(Counter::Lead);
        let record = self.keys().lead(id.id()?);
        if refused.contains_key(&counter) || refused.contains_key(&record) {
            return self.reserve_after_conflict(Counter::Lead, SEQUENCE).await;
        }
        Ok(id)
    }
}
