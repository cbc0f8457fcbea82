//! `PUT /crmopportunity/{id}`: endpoint 8.

use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use serde_json::{Value, json};
use shared::http::Params;
use shared::id::{FunnelId, OpportunityId};
use shared::opportunity::Opportunity;
use shared::scope::{Access, KeyAndToken, Scope};
use shared::store::{Card, Reader, StoreError, UpdateStart, Updated};

use crate::error::UpdateError;
use crate::view::record;
use crate::wire::{Ground, OpportunityPatch, funnel_id, seen_funnel};

/// What a request asks for.
struct Wanted {
    id: OpportunityId,
    funnel: FunnelId,
    patch: OpportunityPatch,
}

/// Changes what the body names of an opportunity and answers the record as it is then, even where the key does not see
/// it any more (C-32). Two round trips: what it rests on is read beside the credential, then it is written.
pub async fn update(
    access: Access<KeyAndToken>,
    id: Result<Path<String>, PathRejection>,
    body: Bytes,
) -> Result<Json<Value>, UpdateError> {
    let wanted = Wanted::read(id.ok(), access.params(), &body);
    let (scope, wanted, start) = access.open_for(wanted, Wanted::begin).await?;
    if !scope.viewer.permissions().edit_opportunities {
        return Err(UpdateError::Permission);
    }
    let card = change(&scope, &wanted, start?).await?;
    Ok(Json(json!({ "msg": "updated", "data": record(card, &scope) })))
}

async fn change(scope: &Scope, wanted: &Wanted, mut start: UpdateStart) -> Result<Card, UpdateError> {
    let funnel = seen_funnel(start.funnel.take(), wanted.funnel, &scope.viewer)?;
    let unknown = || UpdateError::Opportunity(wanted.id, funnel.id);
    if start.stored.is_none() {
        return Err(unknown());
    }
    let ground = Ground::of(scope, &funnel, (start.lead.as_ref(), start.user));
    // Asked of every record that it may turn out to be: whoever loses a race against a closing must not reopen it.
    let change = |stored: &Opportunity| {
        let seen = ground.sees(stored).then_some(stored).ok_or_else(unknown)?;
        Ok(wanted.patch.apply(seen, &ground)?)
    };
    match Box::pin(scope.store.update_opportunity(start, change)).await? {
        Updated::Done(card) => Ok(*card),
        Updated::Refused(refused) => Err(refused),
        Updated::Gone => Err(UpdateError::Gone),
    }
}

impl Wanted {
    /// An id that is not UTF-8 is no id either.
    fn read(id: Option<Path<String>>, params: &Params, body: &[u8]) -> Result<Self, UpdateError> {
        let id = id.and_then(|Path(id)| OpportunityId::parse(&id));
        Ok(Self {
            patch: OpportunityPatch::read(body)?,
            id: id.ok_or(UpdateError::Id)?,
            funnel: funnel_id(params)?,
        })
    }

    async fn begin(reader: &Reader, wanted: &Self) -> Result<UpdateStart, StoreError> {
        let named = (wanted.patch.lead, wanted.patch.user);
        reader.begin_update(wanted.id, wanted.funnel, named).await
    }
}
