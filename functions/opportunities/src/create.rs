//! `POST /crmopportunity`: endpoint 7.

use axum::Json;
use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use shared::funnel::Funnel;
use shared::http::idempotency_key;
use shared::id::{FunnelId, OpportunityId};
use shared::scope::{Access, KeyAndToken, Scope};
use shared::store::{Claim, Claimed, Created, CreationStart, Reader, StoreError};

use crate::error::{Breach, CreateError};
use crate::view::record;
use crate::wire::{Ground, NewOpportunity, funnel_id, seen_funnel};

/// What a request asks for.
struct Wanted {
    funnel: FunnelId,
    new: NewOpportunity,
    /// By which an equal request is recognised, where the caller wants that.
    claim: Option<Claim>,
}

/// Makes an opportunity and answers its record. Two round trips: what it rests on is read beside the credential, then it
/// is written.
pub async fn create(
    access: Access<KeyAndToken>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, CreateError> {
    let wanted = Wanted::read(&access, &headers, &body);
    let (scope, wanted, start) = access.open_for(wanted, Wanted::begin).await?;
    let start = start?;
    match answered(&scope, start.claimed, start.funnel.as_ref()).await? {
        Some(answer) => Ok(answer),
        None => insert(&scope, &wanted, start).await,
    }
}

async fn insert(scope: &Scope, wanted: &Wanted, mut start: CreationStart) -> Result<Response, CreateError> {
    let Wanted { funnel, new, claim } = wanted;
    if !scope.viewer.permissions().edit_opportunities {
        return Err(CreateError::Permission);
    }
    let funnel = seen_funnel(start.funnel.take(), *funnel, &scope.viewer)?;
    let ground = Ground::of(scope, &funnel, (start.lead.as_ref(), start.user));
    new.judge(&ground)?;
    let make = |id| new.make(id, &ground);
    match scope
        .store
        .insert_opportunity(start, claim.as_ref(), make)
        .await?
    {
        Created::Made(card) => Ok(Json(record(*card, scope)).into_response()),
        Created::LeadGone => Err(Breach::Lead(new.lead).into()),
        Created::Claimed(claimed) => {
            let answer = answered(scope, claimed, Some(&funnel)).await?;
            answer.ok_or(StoreError::Contention("claiming a key").into())
        }
    }
}

/// The answer to a request that came before, built again from the record that it made, which the key must still be able to
/// read through endpoint 8 (C-10, C-82); `None` for a new one.
async fn answered(
    scope: &Scope,
    claimed: Claimed,
    funnel: Option<&Funnel>,
) -> Result<Option<Response>, CreateError> {
    let made = match claimed {
        Claimed::Free => return Ok(None),
        Claimed::Other => return Err(CreateError::OtherBody),
        Claimed::Done(made) => OpportunityId::new(made).ok_or(CreateError::Gone)?,
    };
    let viewer = &scope.viewer;
    let funnel = funnel.filter(|funnel| viewer.sees_funnel(&funnel.access));
    let funnel = funnel.filter(|_| viewer.permissions().edit_opportunities);
    let ground = Ground::of(scope, funnel.ok_or(CreateError::Gone)?, (None, None));
    let card = scope.store.opportunity_card(made).await?;
    let card = card.filter(|card| ground.sees(&card.opportunity));
    let card = card.ok_or(CreateError::Gone)?;
    let replayed = [("idempotent-replayed", "true")];
    Ok(Some((replayed, Json(record(card, scope))).into_response()))
}

impl Wanted {
    /// Equal requests are those for the same funnel with the same bytes.
    fn read(access: &Access<KeyAndToken>, headers: &HeaderMap, body: &[u8]) -> Result<Self, CreateError> {
        let key = idempotency_key(headers)?;
        let (new, funnel) = (NewOpportunity::read(body)?, funnel_id(access.params())?);
        let claim = key.map(|key| {
            let asked = [funnel.to_string().as_bytes(), b" ", body].concat();
            Claim::new("POST /crmopportunity", &access.key(), key, &asked)
        });
        Ok(Self { funnel, new, claim })
    }

    async fn begin(reader: &Reader, wanted: &Self) -> Result<CreationStart, StoreError> {
        let Self { funnel, new, claim } = wanted;
        let named = (new.lead, new.user);
        reader.begin_creation(*funnel, named, claim.as_ref()).await
    }
}
