//! `DELETE /leads/{id}` and `DELETE /leads`: endpoint 5, for one lead and in bulk (C-24).

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{DeleteLeads, KeyInQuery, Keyed};
use shared::http::{RawRequest, RequestError, parse_object};
use shared::ids::LeadId;
use shared::store::{Deleted, LeadRecord};

use crate::wire::lead_ids;

/// Deletes a lead permanently, archived or not. Two round trips: one reads the lead, one deletes it with all derived
/// items. Its data in other records is hidden at once and erased soon after (C-24).
pub async fn one(request: Keyed<KeyInQuery, DeleteLeads>) -> Result<Json<Value>, RequestError> {
    let id = |request: &RawRequest| Ok::<_, RequestError>(request.id("id", LeadId::parse)?);
    let (id, reader, check) = request.parse(id).await?;
    let (scope, found) = check.join(reader.lead_record(id)).await?;
    let lead = found.ok_or(RequestError::NotFound)?;
    match scope.store.delete_lead(lead, |lead| scope.sees(lead)).await? {
        Deleted::Done => Ok(Json(json!({ "msg": "deleted", "data": { "id": id } }))),
        Deleted::Gone => Err(RequestError::NotFound),
    }
}

/// Deletes up to 120 leads, `{ "ids": [...] }`, independently: missing or invisible ones do not affect the others.
pub async fn many(request: Keyed<KeyInQuery, DeleteLeads>) -> Result<Json<Value>, RequestError> {
    let ids = |request: &RawRequest| Ok::<_, RequestError>(lead_ids(&parse_object(&request.body)?, "ids")?);
    let (ids, reader, check) = request.parse(ids).await?;
    let (scope, mut found) = check.join(reader.lead_records(ids.iter().copied())).await?;
    let leads: Vec<LeadRecord> = ids.iter().filter_map(|id| found.remove(id)).collect();
    let deleted = scope.store.delete_leads(leads, |lead| scope.sees(lead)).await?;
    let (deleted, missing): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| deleted.contains(id));
    let data = json!({ "ids": deleted, "notFound": missing });
    Ok(Json(json!({ "msg": "deleted", "data": data })))
}
