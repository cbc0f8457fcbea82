//! Writing a call into the history: the lead it belongs to, and what to do when others got in between.
//!
//! A call is never lost for the sake of its lead: where the lead cannot be found or made, the call is stored without one
//! (C-74). An attempt of which nobody knows whether it happened is looked up under a mark of its own before another one
//! is made with the same numbers, so one request never writes two calls.

use std::collections::BTreeSet;

use shared::id::{CallId, LeadId, UserId};
use shared::scope::WebhookScope;
use shared::store::{CallNumbers, Caller, Claimed, Inserted, Link, Reader, StoreError};

use crate::wire::{NewCall, Sent};

/// Attempts before a contested call is given up; the last one is made without a lead.
const ATTEMPTS: u32 = 8;

/// What was read beside the instance's settings.
#[derive(Debug)]
pub struct Seen {
    /// What became of earlier requests with the same key (C-10).
    pub claimed: Claimed,
    /// The user that is named, where it exists.
    pub users: BTreeSet<UserId>,
    numbers: CallNumbers,
    lead: Result<Option<LeadId>, StoreError>,
}

impl Seen {
    /// Reads the numbers last taken, the user, the lead that the number belongs to and what is known of the request's key, in
    /// one round trip. That the lead cannot be found is not yet a failure.
    pub async fn read(reader: &Reader, call: &NewCall) -> Result<Self, StoreError> {
        let claimed = reader.claimed(call.claim.as_ref());
        let users = reader.existing_users(call.user);
        let (claimed, users, numbers, lead) =
            tokio::join!(claimed, users, reader.call_numbers(), find(reader, call));
        Ok(Self {
            claimed: claimed?,
            users: users?,
            numbers: numbers?,
            lead,
        })
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is in the history.
    Done(CallId),
    /// Another request with the same key came first; nothing is written.
    Claimed(Claimed),
}

/// Writes the call, with its lead if it can be had. Numbers stay the same after an attempt of unknown outcome, so that it
/// and the next one exclude each other. The request's claim goes with every attempt, with a lead or without.
pub async fn write(
    scope: &WebhookScope,
    call: &NewCall,
    user: UserId,
    seen: Seen,
) -> Result<Written, StoreError> {
    let (nonce, now) = (scope.ambient.token(), scope.now());
    let record = |id, lead| call.record(id, user, lead, now);
    let (mut link, mut numbers) = link(scope, call, seen.lead, None, seen.numbers).await;
    for attempt in 1..=ATTEMPTS {
        if attempt == ATTEMPTS {
            link = Link::Nobody;
            numbers = scope.store.take_call_numbers(&link).await?;
        }
        let claim = call.claim.as_ref();
        match scope
            .store
            .insert_call(record, &link, numbers, &nonce, claim, scope.directory.triggers)
            .await
        {
            Ok(Inserted::Done(id)) => return Ok(Written::Done(id)),
            Ok(Inserted::Claimed(claimed)) => return Ok(Written::Claimed(claimed)),
            Ok(Inserted::NumbersTaken) => numbers = scope.store.take_call_numbers(&link).await?,
            Ok(Inserted::LeadGone) => {
                let lead = find_again(scope, call).await;
                let seen = scope.store.call_numbers().await?;
                (link, numbers) = self::link(scope, call, lead, None, seen).await;
            }
            Ok(Inserted::AlreadyMade(made)) => {
                let lead = find(&scope.store, call).await;
                let seen = scope.store.call_numbers().await?;
                (link, numbers) = self::link(scope, call, lead, Some(made), seen).await;
            }
            Err(cause) => {
                if let Some(id) = scope.store.call_happened(numbers, &nonce).await? {
                    return Ok(Written::Done(id));
                }
                if link == Link::Nobody {
                    return Err(cause);
                }
                tracing::warn!(%cause, "the call is stored without its lead");
                link = Link::Nobody;
            }
        }
    }
    Err(StoreError::Contention("recording a call"))
}

/// The lead that the call is sent for, or that its number belongs to.
async fn find(reader: &Reader, call: &NewCall) -> Result<Option<LeadId>, StoreError> {
    match &call.sent {
        Sent::Lead(lead) => Ok(*lead),
        Sent::Phone(None) => Ok(None),
        Sent::Phone(Some(phone)) => reader.lead_by_phone(phone).await,
    }
}

/// The same once the lead that was found is gone: one that was sent for stays gone.
async fn find_again(scope: &WebhookScope, call: &NewCall) -> Result<Option<LeadId>, StoreError> {
    match &call.sent {
        Sent::Lead(_) => Ok(None),
        Sent::Phone(_) => find(&scope.store, call).await,
    }
}

/// What the call is linked to: the lead that was found; a new one for a number that no lead has; nobody where there is
/// no number or the search failed. With it, the numbers to take.
async fn link(
    scope: &WebhookScope,
    call: &NewCall,
    found: Result<Option<LeadId>, StoreError>,
    instead_of: Option<LeadId>,
    numbers: CallNumbers,
) -> (Link, CallNumbers) {
    let phone = match (found, &call.sent) {
        (Ok(Some(lead)), _) => return (Link::Known(lead), numbers),
        (Ok(None), Sent::Phone(Some(phone))) => phone,
        (Ok(None), _) => return (Link::Nobody, numbers),
        (Err(cause), _) => {
            tracing::warn!(%cause, "the lead of a call could not be looked up");
            return (Link::Nobody, numbers);
        }
    };
    let read = tokio::try_join!(scope.store.profile(phone), scope.store.with_lead_number(numbers));
    match read {
        Ok((profile, numbers)) => {
            let (name, photo_url) =
                profile.map_or((None, None), |profile| (Some(profile.name), profile.photo_url));
            let caller = Caller {
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
