//! `PUT /crmopportunity/{id}`: endpoint 8.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{EditOpportunities, KeyAndToken, Keyed, Scope};
use shared::http::{RawRequest, RequestError};
use shared::ids::{FunnelId, OpportunityId};
use shared::opportunity::Opportunity;
use shared::opportunity_edit::OpportunityPatch;
use shared::store::{OpportunitySnapshot, PrefetchedUpdate, Updated};

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

impl UpdateOpportunity {
    fn parse(request: &RawRequest) -> Result<Self, OpportunityError> {
        Ok(Self {
            patch: wire::patch::read(&request.body)?,
            id: request.id("opportunity_id", OpportunityId::parse)?,
            funnel: funnel_id(&request.params)?,
        })
    }
}

/// Changes the given fields of an opportunity and returns the record, even if the user no longer sees it (C-32). Two
/// round trips: one for reads and one for the write.
pub async fn update(request: Keyed<KeyAndToken, EditOpportunities>) -> Result<Json<Value>, OpportunityError> {
    let (query, reader, check) = request.parse(UpdateOpportunity::parse).await?;
    let (scope, found) = check
        .join(async {
            let named = (query.patch.lead, query.patch.user);
            reader.begin_update(query.id, query.funnel, named).await
        })
        .await?;
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
