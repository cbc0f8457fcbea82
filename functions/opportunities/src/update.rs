//! `PUT /crmopportunity/{id}`: endpoint 8.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{Authorized, EditOpportunities, KeyAndToken, Prefetch, Scope};
use shared::http::{RawRequest, RequestError};
use shared::ids::{FunnelId, OpportunityId};
use shared::opportunity::Opportunity;
use shared::opportunity_edit::OpportunityPatch;
use shared::store::{OpportunitySnapshot, PrefetchedUpdate, Reader, StoreError, Updated};

use crate::error::OpportunityError;
use crate::view::record;
use crate::wire::{self, context, funnel_id, visible_funnel};

/// Changes of an opportunity in a funnel.
#[derive(Debug)]
pub struct UpdateOpportunity {
    id: OpportunityId,
    funnel: FunnelId,
    patch: OpportunityPatch,
}

impl Prefetch for UpdateOpportunity {
    type Found = PrefetchedUpdate;
    type Error = OpportunityError;

    fn parse(request: &RawRequest) -> Result<Self, OpportunityError> {
        Ok(Self {
            patch: wire::patch::read(&request.body)?,
            id: request.id("opportunity_id", OpportunityId::parse)?,
            funnel: funnel_id(&request.params)?,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let named = (self.patch.lead, self.patch.user);
        reader.begin_update(self.id, self.funnel, named).await
    }
}

/// Changes the given fields of an opportunity and returns the record, even if the user no longer sees it (C-32). Two
/// round trips: one for reads and one for the write.
pub async fn update(
    request: Authorized<KeyAndToken, EditOpportunities, UpdateOpportunity>,
) -> Result<Json<Value>, OpportunityError> {
    let (scope, query, found) = request.into_parts();
    let card = change(&scope, &query, found).await?;
    Ok(Json(json!({ "msg": "updated", "data": record(card, &scope) })))
}

async fn change(
    scope: &Scope,
    query: &UpdateOpportunity,
    mut found: PrefetchedUpdate,
) -> Result<OpportunitySnapshot, OpportunityError> {
    let funnel = visible_funnel(found.funnel.take(), query.funnel, &scope.viewer)?;
    let unknown = || OpportunityError::Opportunity(query.id, funnel.id);
    if found.stored.is_none() {
        return Err(unknown());
    }
    let context = context(scope, &funnel, (found.lead.as_ref(), found.user));
    // Checked again on every retry: a request that loses a race against a closing must not reopen the opportunity.
    let change = |stored: &Opportunity| {
        if !context.sees(stored) {
            return Err(unknown());
        }
        let changed = query.patch.apply(stored, &context);
        Ok(changed.map_err(RequestError::invalid)?)
    };
    match Box::pin(scope.store.update_opportunity(found, change)).await? {
        Updated::Done(card) => Ok(*card),
        Updated::Refused(refused) => Err(refused),
        Updated::Gone => Err(OpportunityError::Gone),
    }
}
