//! The call history and the timeline. A call, its event, the change of its lead and the taking of its ids are one
//! transaction (C-75).

mod ids;
mod insert;
pub mod outbox;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::idempotency::{Claimed, IdempotencyKey};
use super::key::Key;
use super::leads;
use super::leads::identity::{claimant, phone_claim, put_claim};
use super::sequence::Sequence;
use super::{Reader, Writer};
use crate::call::{Call, CallType};
use crate::ids::{CallId, EventId, LeadId};
use crate::lead::Lead;
use crate::phone::Phone;
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item};
use table::unknown::Raw;
use table::{CommitError, Condition, Transaction};

pub use ids::CallIds;
pub use insert::{CallParty, NewCall, PrefetchedCall, RecordedCall};

const KIND: &str = "call";
/// Maximum attempts to write a call while its lead is archived and restored concurrently.
const ARCHIVE_ATTEMPTS: usize = 6;

/// A call as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    #[serde(flatten)]
    pub call: Call,
    /// Its event on the lead's timeline.
    #[serde(rename = "event", default)]
    pub event: Option<EventId>,
    /// Nonce of the request that wrote the call; the request recognises its own write by it. Imported calls have none.
    #[serde(default)]
    pub nonce: Option<String>,
    #[serde(skip)]
    pub raw: Raw,
}

impl CallRecord {
    /// The record as an item.
    pub fn encode(&self) -> Result<Item, StoreError> {
        self.raw.carry_typed(KIND, self)
    }
}

/// The caller of a first call from a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCaller {
    /// The digits of the number that identified the caller, as they were sent.
    pub number: String,
    /// The number in its normal form.
    pub phone: Phone,
    /// The name on the number's messaging account.
    pub name: Option<String>,
    /// The picture of that account.
    pub photo_url: Option<String>,
    /// A lead that an earlier call from this number created and that no longer has the number.
    pub instead_of: Option<LeadId>,
}

impl NewCaller {
    /// The lead that the first call creates (C-73).
    fn lead(&self, id: LeadId, now: Timestamp) -> Lead {
        Lead {
            firstname: Some(self.name.clone().unwrap_or_else(|| self.number.clone())),
            phone: Some(self.written()),
            photo_url: self.photo_url.clone(),
            acquisition_channel: Some("VoIP".to_owned()),
            created_by_type: Some("voip".to_owned()),
            ..Lead::new(id, now)
        }
    }

    /// The number as stored in the lead. A foreign number that would be read as a Brazilian one without its `+` keeps
    /// the `+`; otherwise the next call would not find the lead.
    fn written(&self) -> String {
        if Phone::of(&self.number).as_ref() == Some(&self.phone) {
            return self.number.clone();
        }
        format!("+{}", self.number)
    }
}

/// The lead that a call belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// No lead could be resolved.
    Nobody,
    /// An existing lead.
    Known(LeadId),
    /// A lead that the call creates.
    New(Box<NewCaller>),
}

/// Outcome of an attempt to write a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inserted {
    /// The call is written.
    Done(CallId),
    /// Concurrent requests took the ids; nothing is written.
    IdsTaken,
    /// The lead does not exist; nothing is written.
    LeadGone,
    /// A concurrent or earlier first call from the number created this lead; nothing is written.
    AlreadyMade(LeadId),
    /// Another request with the same key came first; nothing is written.
    Claimed(Claimed),
}

impl Reader {
    /// Returns the id of the call with these ids if its nonce is `nonce`, to resolve an attempt of unknown outcome. One
    /// get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn call_written_by(&self, nonce: &str, ids: CallIds) -> Result<Option<CallId>, StoreError> {
        // With an id above the maximum, no attempt was made.
        let (Ok(id), Ok(key)) = (ids.call.id(), ids.key(self.keys())) else {
            return Ok(None);
        };
        let item = self.table.get(&key).await?;
        Ok(item.filter(|item| item::is_own(item, nonce)).map(|_| id))
    }
}

impl Writer {
    /// Writes a call, its event, the lead's last activity or the new lead, the taken ids and the request's claim. One
    /// transaction; more if the lead is archived or restored concurrently. The request recognises its own write by
    /// `nonce`. If an active automation waits for calls, an incoming call with a lead that is not archived also adds an
    /// outbox entry (C-76).
    ///
    /// # Errors
    /// [`StoreError`] if the attempt failed or its outcome is unknown.
    pub async fn insert_call(
        &self,
        call: impl Fn(CallId, Option<LeadId>) -> Call,
        link: &Link,
        ids: CallIds,
        nonce: &str,
        claim: Option<&IdempotencyKey>,
    ) -> Result<Inserted, StoreError> {
        let lead = match link {
            Link::Nobody => None,
            Link::Known(lead) => Some(*lead),
            Link::New(_) => Some(ids.lead.id()?),
        };
        let call = call(ids.call.id()?, lead);
        let mut transaction = Transaction::default();
        self.put_call(&mut transaction, &call, ids, nonce)?;
        match link {
            Link::Nobody => {}
            Link::Known(lead) => {
                let active = (*lead, call.create_date);
                leads::mark_active(&mut transaction, self.keys(), active, &self.reader.environment);
            }
            Link::New(caller) => {
                self.put_new_lead(&mut transaction, caller, ids.lead, call.create_date)?;
            }
        }
        self.take_ids(&mut transaction, link, ids);
        if let Some(claim) = claim {
            claim.put(&mut transaction, self.keys(), call.id.get(), call.create_date);
        }
        let has_entry = self.has_call_automation() && call.kind == CallType::Incoming;
        match self.commit_call(transaction, &call, link, has_entry).await {
            Ok(()) => Ok(Inserted::Done(call.id)),
            Err(CommitError::Store(error)) => Err(error),
            Err(CommitError::Refused(items)) => {
                self.outcome_of_refusal(&call, (link, ids), nonce, claim, &items)
            }
        }
    }

    /// Writes a call, with its outbox entry if `has_entry` and the call has a lead that is not archived (C-76). The
    /// write itself decides whether an existing lead is archived: the first attempt has an entry and requires that it
    /// is not; the next one has no entry and requires that it is.
    async fn commit_call(
        &self,
        mut transaction: Transaction,
        call: &Call,
        link: &Link,
        has_entry: bool,
    ) -> Result<(), CommitError> {
        let Some(lead) = call.lead.filter(|_| has_entry) else {
            return self.table.commit(transaction).await;
        };
        let mut with_entry = transaction.clone();
        outbox::enqueue(&mut with_entry, self.keys(), call.id);
        if matches!(link, Link::New(_)) {
            return self.table.commit(with_entry).await;
        }
        let key = self.keys().lead(lead);
        with_entry.require(key.clone(), leads::is_archived(lead, false));
        transaction.require(key.clone(), leads::is_archived(lead, true));
        let mut attempts = [with_entry, transaction]
            .into_iter()
            .cycle()
            .take(ARCHIVE_ATTEMPTS);
        loop {
            let Some(attempt) = attempts.next() else {
                return Err(StoreError::Contention("recording a call").into());
            };
            match self.table.commit(attempt).await {
                // The lead exists and only its archived flag differs from the condition.
                Err(CommitError::Refused(items)) if is_only_refusal(&items, &key) => {}
                outcome => return outcome,
            }
        }
    }

    /// Adds the call to a transaction and, if it has a lead, its event.
    fn put_call(
        &self,
        transaction: &mut Transaction,
        call: &Call,
        ids: CallIds,
        nonce: &str,
    ) -> Result<(), StoreError> {
        let event_id = call.lead.map(|_| ids.event.id()).transpose()?;
        let event = event_id.and_then(|id| call.event(id));
        if let Some(event) = &event {
            let item = item::encode("event", event)?;
            transaction.put(self.keys().event(event.lead, event.id), item, Condition::Absent);
        }
        let record = CallRecord {
            call: call.clone(),
            event: event.map(|event| event.id),
            nonce: Some(nonce.to_owned()),
            raw: Raw::default(),
        };
        transaction.put(ids.key(self.keys())?, record.encode()?, Condition::Absent);
        Ok(())
    }

    /// Adds the lead of a new caller, and the claim of the caller's number, to a transaction.
    fn put_new_lead(
        &self,
        transaction: &mut Transaction,
        caller: &NewCaller,
        sequence: Sequence,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = sequence.id()?;
        self.add_lead(transaction, caller.lead(id, now))?;
        let claim = phone_claim(self.keys(), &caller.phone);
        put_claim(transaction, claim, (id, caller.instead_of), now);
        Ok(())
    }

    /// The outcome of an attempt whose conditions failed, from the items of these conditions. An attempt of unknown
    /// outcome may have written the call, so its nonce is compared first. The ids are taken if no other condition
    /// failed.
    fn outcome_of_refusal(
        &self,
        call: &Call,
        (link, ids): (&Link, CallIds),
        nonce: &str,
        claim: Option<&IdempotencyKey>,
        items: &BTreeMap<Key, Item>,
    ) -> Result<Inserted, StoreError> {
        let item = |key: &Key| items.get(key);
        if item(&ids.key(self.keys())?).is_some_and(|item| item::is_own(item, nonce)) {
            return Ok(Inserted::Done(call.id));
        }
        if let Some(claimed @ (Claimed::Replay(_) | Claimed::Mismatch)) =
            self.claimed_concurrently(claim, items)?
        {
            return Ok(Inserted::Claimed(claimed));
        }
        match link {
            Link::Known(lead) if item(&self.keys().lead(*lead)).is_some_and(Item::is_empty) => {
                return Ok(Inserted::LeadGone);
            }
            Link::New(caller) => {
                if let Some(claim) = item(&phone_claim(self.keys(), &caller.phone)) {
                    return claimant(claim).map(Inserted::AlreadyMade);
                }
            }
            _ => {}
        }
        Ok(Inserted::IdsTaken)
    }
}

/// Whether only the condition on this item failed, and the item exists.
fn is_only_refusal(refused: &BTreeMap<Key, Item>, key: &Key) -> bool {
    refused.len() == 1 && refused.get(key).is_some_and(|item| !item.is_empty())
}

/// Decodes a record.
pub fn decode_record(item: Item) -> Result<CallRecord, StoreError> {
    let raw = Raw::of(&item);
    let record = item::decode(KIND, item)?;
    Ok(CallRecord { raw, ..record })
}

/// Decodes a call.
pub fn decode(item: Item) -> Result<Call, StoreError> {
    item::decode(KIND, item).map(|record: CallRecord| record.call)
}
