//! `GET /leads/{id}/timeline` (C-113).

use axum::response::Response;
use serde_json::json;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::http::{RawRequest, RequestError, json};
use shared::ids::LeadId;
use shared::store::{LeadRecord, ListRequest};

/// Advice for a lead with too many events (C-86).
const OVER_BUDGET: &str = "id: the events of this lead are more than read_budget allows";

/// A page of what belongs to a lead.
#[derive(Debug)]
pub struct PageOfLead {
    /// The lead.
    pub id: LeadId,
    /// The page.
    pub page: ListRequest,
}

impl PageOfLead {
    /// Reads the id in the path, `page` and `limit`.
    ///
    /// # Errors
    /// [`RequestError`] naming the one that is invalid.
    pub fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        let limit = request
            .params
            .limit(200, "must be a whole number from 1 to 200")?;
        Ok(Self {
            id: request.id("id", LeadId::parse)?,
            page: ListRequest {
                page: request.params.whole("page")?,
                limit: Some(limit.unwrap_or(50)),
            },
        })
    }
}

/// The calls and the submissions of forms of a lead, newest first, and their number. One round trip, two for a lead with 50 events
/// of a sort or more.
pub async fn list(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, RequestError> {
    let (PageOfLead { id, page }, reader, check) = request.parse(PageOfLead::parse).await?;
    let reads = async { tokio::try_join!(reader.lead_record(id), reader.begin_timeline(id)) };
    let (scope, (lead, start)) = check.join(reads).await?;
    let sees = |record: &LeadRecord| scope.sees(&record.lead);
    lead.filter(sees).ok_or(RequestError::NotFound)?;
    let reader = scope.store.reader();
    let page = reader.finish_timeline(&scope.viewer, &page, start).await;
    let page = page.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(json(
        &json!({ "data": { "total": page.total, "events": page.events } }),
    ))
}
