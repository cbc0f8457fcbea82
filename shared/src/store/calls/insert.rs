//! Resolves the lead of a call and writes both, with retries (C-74, C-75).
//!
//! If the lead cannot be found or created, the call is stored without a lead. After an attempt of unknown outcome the
//! call is looked up by its nonce. All further attempts use the same ids, so at most one of them succeeds.

use super::{CallSequences, Inserted, KnownCaller, Link};
use crate::call::{Call, CallStatus, CallType};
use crate::ids::{CallId, LeadId, UserId};
use crate::phone::Phone;
use crate::store::{Claimed, IdempotencyKey, Reader, Writer};
use crate::time::Timestamp;
use table::StoreError;

/// Maximum attempts to write a call. The last attempt is made without a lead.
const ATTEMPTS: u32 = 8;

/// The other party of a call, as the provider sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallParty {
    /// A lead by its id; `None` if the sent number is outside the range of ids.
    Lead(Option<LeadId>),
    /// A telephone number; `None` if the sent text has no digits or too many.
    Phone(Option<Phone>),
}

/// A call to record.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCall {
    /// The operator; `None` if the sent number is outside the range of ids.
    pub user: Option<UserId>,
    /// The other party.
    pub party: CallParty,
    /// The digits of the other party's number.
    pub number: String,
    /// Incoming or outgoing.
    pub kind: CallType,
    /// Whether the call was answered.
    pub status: CallStatus,
    /// Duration in seconds.
    pub duration: u64,
    /// Whether the provider recorded it.
    pub record: bool,
    /// The provider's service.
    pub service: String,
    /// The other party's name, as the provider has it.
    pub lead_name: Option<String>,
    /// The operator's name, as the provider has it.
    pub user_name: Option<String>,
    /// The provider's id of the call.
    pub call_id: Option<String>,
    /// A note.
    pub description: Option<String>,
    /// The idempotency key of the request, if any (C-10).
    pub claim: Option<IdempotencyKey>,
}

/// Prefetched reads of a call to record.
#[derive(Debug)]
pub struct PrefetchedCall {
    /// Outcome of earlier requests with the same key (C-10).
    pub claimed: Claimed,
    /// The operator, if the user exists.
    pub user: Option<UserId>,
    numbers: CallSequences,
    lead: Result<Option<LeadId>, StoreError>,
}

/// Outcome of recording a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedCall {
    /// The call is in the history.
    Made(CallId),
    /// Another request with the same key came first; nothing is written.
    Claimed(Claimed),
}

impl NewCall {
    /// The record of the call.
    #[must_use]
    pub fn record(&self, id: CallId, user: UserId, lead: Option<LeadId>, now: Timestamp) -> Call {
        Call {
            id,
            user,
            lead_phone: Some(self.number.clone()),
            kind: self.kind,
            status: self.status,
            duration: self.duration,
            record: self.record,
            service: self.service.clone(),
            lead,
            lead_name: self.lead_name.clone(),
            user_name: self.user_name.clone(),
            call_id: self.call_id.clone(),
            description: self.description.clone(),
            create_date: now,
        }
    }
}

impl Reader {
    /// Reads the counters, the user, the lead with the telephone number, the request's claim and the format to write,
    /// in one round trip. A failed look-up of the lead is not yet an error.
    ///
    /// # Errors
    /// [`StoreError`] if anything else cannot be read.
    pub async fn begin_call(&self, call: &NewCall) -> Result<PrefetchedCall, StoreError> {
        let claimed = self.claimed(call.claim.as_ref());
        let users = self.existing_users(call.user);
        let (claimed, users, numbers, lead, format) = tokio::join!(
            claimed,
            users,
            self.call_numbers(),
            self.lead_of_call(call),
            self.learn_format()
        );
        format?;
        let numbers = CallSequences {
            spread: self.keys().spreads_calls(),
            ..numbers?
        };
        Ok(PrefetchedCall {
            claimed: claimed?,
            user: users?.pop_first(),
            numbers,
            lead,
        })
    }

    /// The lead that the provider sent, or the lead with the telephone number.
    async fn lead_of_call(&self, call: &NewCall) -> Result<Option<LeadId>, StoreError> {
        match &call.party {
            CallParty::Lead(lead) => Ok(*lead),
            CallParty::Phone(None) => Ok(None),
            CallParty::Phone(Some(phone)) => self.lead_by_phone(phone).await,
        }
    }

    /// Looks up the lead again after it was deleted. `None` if the provider sent the lead's id.
    async fn other_lead_of_call(&self, call: &NewCall) -> Result<Option<LeadId>, StoreError> {
        match &call.party {
            CallParty::Lead(_) => Ok(None),
            CallParty::Phone(_) => self.lead_of_call(call).await,
        }
    }

    /// The link of the call, with the ids to take: the lead that was found, a new lead for a number without a lead, or
    /// no lead if there is no number or a read failed.
    async fn link(
        &self,
        call: &NewCall,
        found: Result<Option<LeadId>, StoreError>,
        instead_of: Option<LeadId>,
        numbers: CallSequences,
    ) -> (Link, CallSequences) {
        let phone = match (found, &call.party) {
            (Ok(Some(lead)), _) => return (Link::Known(lead), numbers),
            (Ok(None), CallParty::Phone(Some(phone))) => phone,
            (Ok(None), _) => return (Link::Nobody, numbers),
            (Err(cause), _) => {
                tracing::warn!(%cause, "the lead of a call could not be looked up");
                return (Link::Nobody, numbers);
            }
        };
        let read = tokio::try_join!(self.profile(phone), self.with_lead_number(numbers));
        match read {
            Ok((profile, numbers)) => {
                let (name, photo_url) =
                    profile.map_or((None, None), |profile| (Some(profile.name), profile.photo_url));
                let caller = KnownCaller {
                    number: call.number.clone(),
                    phone: phone.clone(),
                    name,
                    photo_url,
                    instead_of,
                };
                (Link::New(Box::new(caller)), numbers)
            }
            Err(cause) => {
                tracing::warn!(%cause, "no lead could be made for a call");
                (Link::Nobody, numbers)
            }
        }
    }
}

impl Writer {
    /// Writes a call of `user`, with its lead if that can be found or created. The last attempt reserves ids, unless an
    /// attempt of unknown outcome may still succeed with the current ones.
    ///
    /// # Errors
    /// [`StoreError`] if the call could not be stored, or its outcome is unknown.
    pub async fn record_call(
        &self,
        call: &NewCall,
        user: UserId,
        found: PrefetchedCall,
    ) -> Result<RecordedCall, StoreError> {
        let (nonce, now) = (self.reader.environment.token(), self.reader.environment.now());
        let record = |id, lead| call.record(id, user, lead, now);
        let (mut link, mut numbers) = self.reader.link(call, found.lead, None, found.numbers).await;
        if self.are_contended(&link) {
            numbers = self.take_call_numbers(&link).await?;
        }
        let mut may_succeed_late = false;
        for attempt in 1..=ATTEMPTS {
            if attempt == ATTEMPTS && !may_succeed_late {
                link = Link::Nobody;
                numbers = self.take_call_numbers(&link).await?;
            }
            let claim = call.claim.as_ref();
            match self.insert_call(record, &link, numbers, &nonce, claim).await {
                Ok(Inserted::Done(id)) => return Ok(RecordedCall::Made(id)),
                Ok(Inserted::Claimed(claimed)) => return Ok(RecordedCall::Claimed(claimed)),
                Ok(Inserted::NumbersTaken) => {
                    self.note_contended(&link);
                    numbers = self.take_call_numbers(&link).await?;
                }
                Ok(Inserted::LeadGone) => {
                    let lead = self.reader.other_lead_of_call(call).await;
                    let seen = self.reader.call_numbers().await?;
                    (link, numbers) = self.reader.link(call, lead, None, seen).await;
                }
                Ok(Inserted::AlreadyMade(made)) => {
                    let lead = self.reader.lead_of_call(call).await;
                    let seen = self.reader.call_numbers().await?;
                    (link, numbers) = self.reader.link(call, lead, Some(made), seen).await;
                }
                Err(cause) => {
                    if let Some(id) = self.reader.call_happened(numbers, &nonce).await? {
                        return Ok(RecordedCall::Made(id));
                    }
                    if link == Link::Nobody {
                        return Err(cause);
                    }
                    tracing::warn!(%cause, "the call is stored without its lead");
                    (link, may_succeed_late) = (Link::Nobody, true);
                }
            }
        }
        Err(StoreError::Contention("recording a call"))
    }
}
