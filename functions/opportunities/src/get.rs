//! `GET /crmopportunity/{id}` (C-94).

use axum::response::Response;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::funnel::Funnel;
use shared::http::{RawRequest, RequestError, json};
use shared::ids::{FunnelId, OpportunityId};

use crate::view::censor;

/// An opportunity, and the funnel that it must belong to if the request names one.
#[derive(Debug)]
pub struct GetOpportunity {
    id: OpportunityId,
    funnel: Option<FunnelId>,
}

impl GetOpportunity {
    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self {
            id: request.id("opportunity_id", OpportunityId::parse)?,
            funnel: request.params.id("id")?,
        })
    }
}

/// One opportunity as endpoint 10 lists it; 404 if the user may not see it or its funnel. One round trip; one more if
/// the copy of its lead is stale, or if its funnel is neither named nor among the first 50.
pub async fn get(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, RequestError> {
    let (query, reader, check) = request.parse(GetOpportunity::parse).await?;
    let (scope, (card, mut funnels)) = check
        .join(async {
            let funnels = async {
                match query.funnel {
                    Some(id) => {
                        let named = reader.funnel(id).await?;
                        Ok(named.map(|funnel| (id, funnel)).into_iter().collect())
                    }
                    None => reader.expected::<Funnel>().await,
                }
            };
            tokio::try_join!(reader.opportunity_card(query.id), funnels)
        })
        .await?;
    let mut card = card.ok_or(RequestError::NotFound)?;
    let opportunity = &card.opportunity;
    let is_in_funnel = query.funnel.is_none_or(|funnel| funnel == opportunity.crm_id);
    let is_visible =
        scope
            .viewer
            .sees_opportunity(opportunity.user, opportunity.status, &opportunity.restriction());
    if !is_in_funnel || !is_visible {
        return Err(RequestError::NotFound);
    }
    let funnel = match funnels.remove(&opportunity.crm_id) {
        None => scope.store.reader().funnel(opportunity.crm_id).await?,
        prefetched => prefetched,
    };
    if !funnel.is_some_and(|funnel| scope.viewer.sees_funnel(&funnel.access)) {
        return Err(RequestError::NotFound);
    }
    censor([&mut card], &scope);
    Ok(json(&card.view(scope.instance())))
}
