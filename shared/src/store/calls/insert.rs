//! Resolves the lead of a call and writes both, with retries (C-74, C-75).
//!
//! If the lead cannot be found or created, the call is stored without a lead. After an attempt of unknown outcome the
//! call is looked up by its nonce. All further attempts use the same ids, so at most one of them succeeds.

use super::{CallIds, Inserted, Link, NewCaller};
use crate::call::{Call, CallStatus, CallType};
use crate::ids::{CallId, LeadId, UserId};
use crate::phone::ReadPhone;
use crate::store::{Claimed, IdempotencyKey, Reader, Writer};
use crate::time::Timestamp;
use table::StoreError;

/// Maximum attempts to write a call. The last one is made without a lead, unless an earlier one may still succeed.
const ATTEMPTS: u32 = 8;

/// The other party of a call, as the provider sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallParty {
    /// A lead by its id; `None` if the sent number is outside the range of ids.
    Lead(Option<LeadId>),
    /// The numbers in the sent text that can be somebody's.
    Phone(Vec<ReadPhone>),
}

/// A call to record.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCall {
    /// The operator; `None` if the sent number is outside the range of ids.
    pub user: Option<UserId>,
    /// The other party.
    pub party: CallParty,
    /// The digits of the whole text that was sent as the other party's number.
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
    ids: CallIds,
    /// The lead of the call. A failure does not fail the request: the call is stored without a lead.
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
    /// Reads the counters, the user, the lead with the telephone number and the request's claim, in one round trip. A
    /// failed look-up of the lead is not yet an error.
    ///
    /// # Errors
    /// [`StoreError`] if anything else cannot be read.
    pub async fn begin_call(&self, call: &NewCall) -> Result<PrefetchedCall, StoreError> {
        let (claimed, users, ids, lead) = tokio::join!(
            self.claimed(call.claim.as_ref()),
            self.existing_users(call.user),
            self.next_call_ids(),
            self.lead_of_call(call)
        );
        Ok(PrefetchedCall {
            claimed: claimed?,
            user: users?.pop_first(),
            ids: ids?,
            lead,
        })
    }

    /// The lead that the provider sent, which may not exist, or the lead with the telephone number.
    async fn lead_of_call(&self, call: &NewCall) -> Result<Option<LeadId>, StoreError> {
        match &call.party {
            CallParty::Lead(lead) => Ok(*lead),
            CallParty::Phone(read) => {
                let phones: Vec<_> = read.iter().map(|read| read.phone.clone()).collect();
                self.lead_by_phones(&phones).await
            }
        }
    }

    /// Looks up the lead again after it was deleted. `None` if the provider sent the lead's id.
    async fn other_lead_of_call(&self, call: &NewCall) -> Result<Option<LeadId>, StoreError> {
        match &call.party {
            CallParty::Lead(_) => Ok(None),
            CallParty::Phone(_) => self.lead_of_call(call).await,
        }
    }

    /// The link of the call to `found`, the result of the look-up, or to a new lead for a number without a lead. No
    /// lead if there is no number or a read failed. Returns `ids` too, with the next id of a lead if the call creates
    /// one. A new lead replaces `instead_of` in the claim of the number.
    async fn link(
        &self,
        call: &NewCall,
        found: Result<Option<LeadId>, StoreError>,
        instead_of: Option<LeadId>,
        ids: CallIds,
    ) -> (Link, CallIds) {
        let ReadPhone { phone, digits } = match (found, &call.party) {
            (Ok(Some(lead)), _) => return (Link::Known(lead), ids),
            (Ok(None), CallParty::Phone(read)) => match read.first() {
                Some(first) => first,
                None => return (Link::Nobody, ids),
            },
            (Ok(None), CallParty::Lead(_)) => return (Link::Nobody, ids),
            (Err(cause), _) => {
                tracing::warn!(%cause, "the lead of a call could not be looked up");
                return (Link::Nobody, ids);
            }
        };
        let read = tokio::try_join!(self.profile(phone), self.with_next_lead_id(ids));
        match read {
            Ok((profile, ids)) => {
                let caller = NewCaller {
                    number: digits.clone(),
                    phone: phone.clone(),
                    photo_url: profile.as_ref().and_then(|profile| profile.photo_url.clone()),
                    name: profile.map(|profile| profile.name),
                    instead_of,
                };
                (Link::New(Box::new(caller)), ids)
            }
            Err(cause) => {
                tracing::warn!(%cause, "no lead could be made for a call");
                (Link::Nobody, ids)
            }
        }
    }
}

impl Writer {
    /// Writes a call of `user`, with its lead if that can be found or created.
    ///
    /// After a refusal the cause is resolved: other ids, or another link of the call. After a failure the call is
    /// written without its lead and with the same ids, so only one of both writes can succeed. The last attempt
    /// reserves ids, unless such a failed attempt may still succeed.
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
        let (mut link, mut ids) = self.reader.link(call, found.lead, None, found.ids).await;
        if self.has_contended_counter(&link) {
            ids = self.reserve_call_ids(&link).await?;
        }
        let mut may_succeed_late = false;
        for attempt in 1..=ATTEMPTS {
            if attempt == ATTEMPTS && !may_succeed_late {
                link = Link::Nobody;
                ids = self.reserve_call_ids(&link).await?;
            }
            let claim = call.claim.as_ref();
            match self.insert_call(record, &link, ids, &nonce, claim).await {
                Ok(Inserted::Done(id)) => return Ok(RecordedCall::Made(id)),
                Ok(Inserted::Claimed(claimed)) => return Ok(RecordedCall::Claimed(claimed)),
                Ok(Inserted::IdsTaken) => {
                    self.note_contended(&link);
                    ids = self.reserve_call_ids(&link).await?;
                }
                Ok(Inserted::LeadGone) => {
                    let lead = self.reader.other_lead_of_call(call).await;
                    let next = self.reader.next_call_ids().await?;
                    (link, ids) = self.reader.link(call, lead, None, next).await;
                }
                Ok(Inserted::AlreadyMade(made)) => {
                    let lead = self.reader.lead_of_call(call).await;
                    let next = self.reader.next_call_ids().await?;
                    (link, ids) = self.reader.link(call, lead, Some(made), next).await;
                }
                Err(cause) => {
                    if let Some(id) = self.reader.call_written_by(&nonce, ids).await? {
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
