//! `DELETE /leads/{id}` and `DELETE /leads`: endpoint 5, for one lead and in bulk (C-24).

use std::collections::BTreeMap;

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{Authorized, DeleteLeads, KeyInQuery, Prefetch, Scope};
use shared::http::{RawRequest, RequestError, parse_object};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::store::{Deleted, LeadRecord, Reader, StoreError};

use crate::wire::lead_ids;

/// The lead to delete.
#[derive(Debug)]
pub struct One(LeadId);

/// The leads to delete: `{ "ids": [...] }`. A repeated id counts once.
#[derive(Debug)]
pub struct Many(Vec<LeadId>);

impl Prefetch for One {
    type Found = Option<LeadRecord>;
    type Error = RequestError;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self(request.id("id", LeadId::parse)?))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.lead_record(self.0).await
    }
}

impl Prefetch for Many {
    type Found = BTreeMap<LeadId, LeadRecord>;
    type Error = RequestError;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self(lead_ids(&parse_object(&request.body)?, "ids")?))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.lead_records(self.0.iter().copied()).await
    }
}

/// Deletes a lead permanently, archived or not. Two round trips: one reads the lead, one deletes it with all derived
/// items. Its data in other records is hidden at once and erased soon after (C-24).
pub async fn one(request: Authorized<KeyInQuery, DeleteLeads, One>) -> Result<Json<Value>, RequestError> {
    let (scope, One(id), found) = request.into_parts();
    let lead = found.ok_or(RequestError::NotFound)?;
    match scope.store.delete_lead(lead, is_visible(&scope)).await? {
        Deleted::Done => Ok(Json(json!({ "msg": "deleted", "data": { "id": id } }))),
        Deleted::Gone => Err(RequestError::NotFound),
    }
}

/// Deletes up to 120 leads independently: missing or invisible ones do not affect the others.
pub async fn many(request: Authorized<KeyInQuery, DeleteLeads, Many>) -> Result<Json<Value>, RequestError> {
    let (scope, Many(ids), mut found) = request.into_parts();
    let leads: Vec<LeadRecord> = ids.iter().filter_map(|id| found.remove(id)).collect();
    let deleted = scope.store.delete_leads(leads, is_visible(&scope)).await?;
    let (deleted, missing): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| deleted.contains(id));
    let data = json!({ "ids": deleted, "notFound": missing });
    Ok(Json(json!({ "msg": "deleted", "data": data })))
}

/// Whether the user may see a lead.
fn is_visible(scope: &Scope) -> impl Fn(&Lead) -> bool {
    |lead| scope.viewer.sees_lead(lead.owner, &lead.lists())
}
