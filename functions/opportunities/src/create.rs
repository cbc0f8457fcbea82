//! `POST /crmopportunity`: endpoint 7.

use axum::Json;
use serde_json::Value;
use shared::auth::{AnyUser, EditOpportunities, KeyAndToken, Keyed, Permission as _, Scope};
use shared::funnel::Funnel;
use shared::http::{Idempotent, RawRequest, RequestError, replayed};
use shared::ids::{FunnelId, OpportunityId};
use shared::opportunity_edit::{NewOpportunity, ValidationError};
use shared::store::{Created, IdempotencyKey, StoreError};

use crate::error::OpportunityError;
use crate::view::record;
use crate::wire::{self, context, funnel_id, visible_funnel};

/// An opportunity to create in a funnel.
#[derive(Debug)]
pub struct CreateOpportunity {
    funnel: FunnelId,
    new: NewOpportunity,
    /// The idempotency key, scoped to the funnel and the bytes of the body.
    key: Option<(String, Vec<u8>)>,
}

type Reply = Idempotent<Json<Value>>;

impl CreateOpportunity {
    fn parse(request: &RawRequest) -> Result<Self, OpportunityError> {
        let key = request.idempotency_key()?;
        let new = wire::new::read(&request.body)?;
        let funnel = funnel_id(&request.params)?;
        let content = || [funnel.to_string().as_bytes(), b" ", &request.body].concat();
        let key = key.map(|key| (key.to_owned(), content()));
        Ok(Self { funnel, new, key })
    }
}

/// Creates an opportunity and returns its record. Two round trips: one for reads, one for the write. The permission
/// is checked here, because a repeated request has its own response to a user who lost the permission (C-10).
pub async fn create(request: Keyed<KeyAndToken, AnyUser>) -> Result<Reply, OpportunityError> {
    let (query, reader, check) = request.parse(CreateOpportunity::parse).await?;
    let (scope, mut found) = check
        .join(async {
            let claim = query.key.as_ref().map(|(key, content)| {
                IdempotencyKey::new("POST /crmopportunity", reader.caller().key(), key, content)
            });
            let named = (query.new.lead, query.new.user);
            reader.begin_creation(query.funnel, named, claim).await
        })
        .await?;
    let funnel = found.funnel.take();
    if let Some(id) = replayed(found.claimed)? {
        return replay(&scope, id, funnel.as_ref()).await;
    }
    EditOpportunities::require(&scope.viewer)?;
    let funnel = visible_funnel(funnel, query.funnel, &scope.viewer)?;
    let context = context(&scope, &funnel, (found.lead.as_ref(), found.user));
    query.new.validate(&context).map_err(RequestError::invalid)?;
    let opportunity = |id| query.new.make(id, &context);
    match scope.store.insert_opportunity(found, opportunity).await? {
        Created::Made(card) => Ok(Idempotent::Made(Json(record(*card, &scope)))),
        Created::LeadGone => {
            let gone = ValidationError::Lead(query.new.lead);
            Err(RequestError::invalid(gone).into())
        }
        Created::Claimed(claimed) => {
            let id = replayed(claimed)?.ok_or(StoreError::Contention("claiming a key"))?;
            replay(&scope, id, Some(&funnel)).await
        }
    }
}

/// The response to a repeated request, rebuilt from the record of the first one. The user must still be able to read
/// it through endpoint 8 (C-10, C-82).
async fn replay(scope: &Scope, id: u64, funnel: Option<&Funnel>) -> Result<Reply, OpportunityError> {
    let gone = OpportunityError::ReplayGone;
    let funnel = funnel.filter(|funnel| scope.viewer.sees_funnel(&funnel.access));
    let is_permitted = EditOpportunities::require(&scope.viewer).is_ok();
    let (Some(funnel), Some(id), true) = (funnel, OpportunityId::new(id), is_permitted) else {
        return Err(gone);
    };
    let context = context(scope, funnel, (None, None));
    let card = scope.store.reader().opportunity_card(id).await?;
    let card = card.filter(|card| context.sees(&card.opportunity)).ok_or(gone)?;
    Ok(Idempotent::Replayed(Json(record(card, scope))))
}
