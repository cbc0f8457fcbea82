//! Submissions of forms (C-101). A submission is an event on the timeline of its lead, in the transaction that creates or
//! completes the lead. So it is there exactly once, and nothing that was sent is lost.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::create::{FormReceipt, PrefetchedLead};
use super::identity::{Claimants, Identity, UniqueBy};
use super::record::LeadRecord;
use crate::form::{Form, Submitted};
use crate::ids::LeadId;
use crate::lead::Lead;
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::store::key::{Counter, Key};
use crate::store::sequence::Sequence;
use crate::store::{Reader, WholeLead, Writer, events};
use table::item::{self, Item, s};
use table::{CommitError, Condition, Policy, StoreError, Transaction};

/// The sequence of events' ids.
const EVENT: &str = "event";
/// The fields of a lead that identify a person.
const IDENTIFYING: [&str; 4] = ["phone", "mobile", "chatapp", "email"];

/// Prefetched reads of a submission.
#[derive(Debug)]
pub struct PrefetchedForm {
    /// The reads for a new lead.
    pub lead: PrefetchedLead,
    /// Outcome of earlier submissions with one of the claims.
    pub claimed: Claimed,
    claims: Vec<IdempotencyKey>,
    /// The id of the event, if no other request takes it first.
    event: Sequence,
}

/// Outcome of the submission of a person who is a lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormReceived {
    /// It is on the lead's timeline.
    Done(LeadId),
    /// The lead is gone; nothing is written.
    Gone,
    /// An equal submission came first; nothing is written.
    Claimed(Claimed),
}

impl FormReceipt {
    /// The fields by which the submission would identify a lead that has no such value yet.
    fn added(&self, lead: &Lead) -> Vec<&'static str> {
        let present = [&lead.phone, &lead.mobile, &lead.chatapp, &lead.email];
        let is_absent = |value: &Option<String>| value.as_ref().is_none_or(|text| text.trim().is_empty());
        let fields = IDENTIFYING.into_iter().zip(present);
        let added = fields.filter(|(name, value)| is_absent(value) && self.submitted.text(name).is_some());
        added.map(|(name, _)| name).collect()
    }

    /// The numbers and the address in these fields.
    fn identity(&self, fields: &[&str]) -> Identity {
        let text = |name: &&str| self.submitted.text(name).filter(|_| fields.contains(name));
        let both = UniqueBy {
            phone: true,
            email: true,
        };
        Identity::of(IDENTIFYING[..3].iter().filter_map(text), text(&"email"), both)
    }
}

impl PrefetchedForm {
    /// Whether no submission has the first claim.
    #[must_use]
    pub fn has_new_key(&self) -> bool {
        self.lead.claimed == Claimed::New
    }
}

impl Reader {
    /// Prefetches the records for a submission: those for a lead, the claims and the counter of events, in one round
    /// trip.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_form(
        &self,
        identity: Identity,
        claims: Vec<IdempotencyKey>,
    ) -> Result<PrefetchedForm, StoreError> {
        let counter = self.keys().counter(Counter::Call);
        let (lead, second, counter) = tokio::try_join!(
            self.begin_lead(identity, claims.first().cloned()),
            self.claimed(claims.get(1)),
            self.table.get(&counter)
        )?;
        Ok(PrefetchedForm {
            claimed: match lead.claimed {
                Claimed::New => second,
                first => first,
            },
            lead,
            claims,
            event: Sequence::next(counter.as_ref(), EVENT)?,
        })
    }
}

impl Writer {
    /// An accepted submission, and the reads for a new lead. No call unless other requests take ids too; then one write.
    ///
    /// # Errors
    /// [`StoreError`] if an id cannot be reserved.
    pub async fn receipt(
        &self,
        form: &Form,
        submitted: &Submitted,
        start: PrefetchedForm,
    ) -> Result<(FormReceipt, PrefetchedLead), StoreError> {
        let receipt = FormReceipt {
            form: form.clone(),
            submitted: submitted.clone(),
            now: self.reader.environment.now(),
            claims: start.claims,
            event: self.first_id(start.event, Counter::Call, EVENT).await?,
            nonce: self.reader.environment.token(),
        };
        Ok((receipt.clone(), start.lead.with_receipt(receipt)))
    }

    /// Takes another id for the event of a submission, if a concurrent request took its own.
    pub(super) async fn renumber(
        &self,
        receipt: &mut FormReceipt,
        refused: &BTreeMap<Key, Item>,
    ) -> Result<(), StoreError> {
        if refused.contains_key(&self.keys().counter(Counter::Call)) {
            receipt.event = self.reserve_after_conflict(Counter::Call, EVENT).await?;
        }
        Ok(())
    }

    /// The outcome of a concurrent submission with one of the claims.
    pub(super) fn claimed_by_other(
        &self,
        receipt: &FormReceipt,
        refused: &BTreeMap<Key, Item>,
    ) -> Result<Option<Claimed>, StoreError> {
        for claim in &receipt.claims {
            if let Some(claimed) = self.claimed_concurrently(Some(claim), refused)? {
                return Ok(Some(claimed));
            }
        }
        Ok(None)
    }

    /// Adds the event of a submission to the timeline of a lead, its id, its fact for automations, and all its claims but
    /// the first.
    pub(super) fn put_receipt(
        &self,
        transaction: &mut Transaction,
        receipt: &FormReceipt,
        lead: &Lead,
    ) -> Result<(), StoreError> {
        let FormReceipt {
            form, submitted, now, ..
        } = receipt;
        let keys = self.keys();
        for claim in receipt.claims.iter().skip(1) {
            claim.put_found(transaction, keys, lead.id.get(), *now);
        }
        receipt
            .event
            .take(transaction, keys.counter(Counter::Call), EVENT);
        let event = submitted.event(form, receipt.event.id()?, lead.id, *now);
        let key = self.keys().form_event(lead.id, event.id);
        let mut item = events::encode(&event);
        item.insert("nonce".to_owned(), s(&receipt.nonce));
        transaction.put(key, item, Condition::Absent);
        self.raise_form(transaction, &event, lead);
        Ok(())
    }

    /// Adds a submission to the timeline of an existing lead, fills the lead's absent fields, restores an archived lead,
    /// and sets its last activity. A number or an address that identifies another lead stays in the event. One
    /// transaction; look-ups before it if the lead gets a number or an address.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn receive_form(
        &self,
        stored: WholeLead,
        mut receipt: FormReceipt,
    ) -> Result<FormReceived, StoreError> {
        let mut stored = LeadRecord::from(stored);
        let mut earlier = Claimants::new();
        let mut retry = self.reader.table.retry(Policy::CONTESTED, "receiving a form");
        loop {
            let id = stored.lead.id;
            let added = receipt.added(&stored.lead);
            let (taken, new) = self.added_fields(id, added, &receipt).await?;
            let identity = receipt.identity(&new);
            let keys = self.keys();
            let event = keys.form_event(id, receipt.event.id()?);
            let transaction = self.writes_of_form(&stored, &receipt, &taken, (&identity, &earlier))?;
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(FormReceived::Done(id)),
                Err(CommitError::Refused(items)) => items,
                // The outcome may be unknown.
                Err(CommitError::Store(error)) => {
                    let event = self.reader.table.get(&event).await?;
                    let is_own = event.is_some_and(|event| item::is_own(&event, &receipt.nonce));
                    return is_own.then_some(FormReceived::Done(id)).ok_or(error);
                }
            };
            let event = refused.get(&event);
            if event.is_some_and(|event| item::is_own(event, &receipt.nonce)) {
                return Ok(FormReceived::Done(id));
            }
            if let Some(claimed) = self.claimed_by_other(&receipt, &refused)? {
                return Ok(FormReceived::Claimed(claimed));
            }
            self.renumber(&mut receipt, &refused).await?;
            // If a number or address still identifies no lead then, that of the claim is gone or has another one.
            earlier.extend(identity.claimants_among(keys, &refused)?);
            match self.newer_lead(stored, refused, &mut retry).await? {
                Some(newer) => stored = newer,
                None => return Ok(FormReceived::Gone),
            }
        }
    }

    /// The writes of a submission to an existing lead, which gets none of the taken fields. Its own claims, which it has since
    /// it was made, and the earlier ones are replaced.
    fn writes_of_form(
        &self,
        stored: &LeadRecord,
        receipt: &FormReceipt,
        taken: &[&'static str],
        (identity, earlier): (&Identity, &Claimants),
    ) -> Result<Transaction, StoreError> {
        let (keys, id) = (self.keys(), stored.lead.id);
        let completed = Lead {
            archived: false,
            last_active: receipt.now.max(stored.lead.last_active),
            ..receipt
                .submitted
                .without(taken)
                .complete(&receipt.form, &stored.lead)
        };
        let mut transaction = self.lead_change(stored, &completed)?;
        self.put_receipt(&mut transaction, receipt, &completed)?;
        let own = identity.claims(keys).into_iter().map(|claim| (claim, id));
        let earlier: Claimants = own.chain(earlier.clone()).collect();
        identity.put_claims(&mut transaction, keys, id, (&earlier, receipt.now));
        if let Some(claim) = receipt.claims.first() {
            claim.put_found(&mut transaction, keys, id.get(), receipt.now);
        }
        Ok(transaction)
    }

    /// Of the fields that a lead would get, those that identify another lead, and those that identify none yet.
    async fn added_fields(
        &self,
        id: LeadId,
        added: Vec<&'static str>,
        receipt: &FormReceipt,
    ) -> Result<(Vec<&'static str>, Vec<&'static str>), StoreError> {
        let look_ups = added.iter().map(async |field| {
            let identity = receipt.identity(&[field]);
            self.reader.identified_lead(&identity).await
        });
        let found = try_join_all(look_ups).await?;
        let (mut taken, mut new) = (Vec::new(), Vec::new());
        for (field, found) in added.into_iter().zip(found) {
            match found {
                Some(found) if found == id => {}
                Some(_) => taken.push(field),
                None => new.push(field),
            }
        }
        Ok((taken, new))
    }

    /// Gives up the claims of a submission whose lead is gone, so that an equal one is new. One write for each.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be written.
    pub async fn release(&self, claims: &[IdempotencyKey], lead: u64) -> Result<(), StoreError> {
        for claim in claims {
            let mut transaction = Transaction::default();
            claim.release(&mut transaction, self.keys(), lead);
            match self.table.commit(transaction).await {
                // It is of another lead, or a concurrent request has released it.
                Ok(()) | Err(CommitError::Refused(_)) => {}
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Ok(())
    }
}
