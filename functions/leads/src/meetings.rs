//! `GET /leads/{id}/meetings` (C-113).

use axum::response::Response;
use serde_json::json;
use shared::auth::{KeyAndToken, Keyed, SeeLeadMeetings};
use shared::http::{RequestError, json};
use shared::store::LeadRecord;

use crate::timeline::PageOfLead;

/// Advice for a lead with too many meetings (C-86).
const OVER_BUDGET: &str = "id: the meetings of this lead are more than read_budget allows";

/// The meetings of a lead by start, and their number. One round trip without meetings, else two; one more for each
/// hundred.
pub async fn list(request: Keyed<KeyAndToken, SeeLeadMeetings>) -> Result<Response, RequestError> {
    let (PageOfLead { id, page }, reader, check) = request.parse(PageOfLead::parse).await?;
    let reads = async { tokio::try_join!(reader.lead_record(id), reader.begin_lead_meetings(id)) };
    let (scope, (lead, links)) = check.join(reads).await?;
    let sees = |record: &LeadRecord| scope.sees(&record.lead);
    lead.filter(sees).ok_or(RequestError::NotFound)?;
    let reader = scope.store.reader();
    let page = reader.finish_lead_meetings(&scope.viewer, &page, id, links);
    let page = page.await.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(json(
        &json!({ "data": { "total": page.total, "meetings": page.meetings } }),
    ))
}
