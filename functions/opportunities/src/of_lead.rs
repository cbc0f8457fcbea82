//! `GET /listopportunitysleadcomplete/{id}` (C-95).

use axum::response::Response;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::http::{RawRequest, RequestError, json};
use shared::ids::LeadId;
use shared::store::ListRequest;

use crate::view;

/// Advice for a lead with too many or too large opportunities (C-86).
const OVER_BUDGET: &str = "lead_id: the opportunities of this lead are more than read_budget allows, or take too long; list them by funnel with POST /crm/opportunities/{id}";

/// A page of the opportunities of a lead.
#[derive(Debug)]
pub struct ListLeadOpportunities {
    lead: LeadId,
    page: ListRequest,
}

impl ListLeadOpportunities {
    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self {
            lead: request.id("lead_id", LeadId::parse)?,
            page: request.params.records()?,
        })
    }
}

/// The opportunities of a lead in all funnels that the user sees, newest first, including archived ones, all or a page
/// of them. One round trip if this process expected the records; otherwise one more for the records and one for their
/// users.
pub async fn list(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, RequestError> {
    let (query, reader, check) = request.parse(ListLeadOpportunities::parse).await?;
    let (scope, mut found) = check.join(reader.begin_lead_opportunities(query.lead)).await?;
    let lead = found.lead.take();
    let lead = lead.filter(|lead| scope.viewer.sees_lead(lead.lead.owner, &lead.lead.lists()));
    let lead = lead.ok_or(RequestError::NotFound)?;
    let page = scope
        .store
        .finish_lead_opportunities(&scope.viewer, &query.page, &lead, found);
    let mut page = page.await.map_err(RequestError::over_budget(OVER_BUDGET))?;
    if !scope.viewer.is_admin() {
        page.lead.hide_secrets();
    }
    Ok(json(&view::of_lead(&page, scope.instance())))
}
