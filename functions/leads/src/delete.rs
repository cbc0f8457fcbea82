//! `DELETE /leads/{id}` and `DELETE /leads`: endpoint 5, for one lead and in bulk (C-24).

use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use serde_json::{Value, json};
use shared::id::LeadId;
use shared::lead::Lead;
use shared::scope::{Access, KeyInQuery, Scope};
use shared::store::{Deleted, LeadRecord, Reader};

use crate::error::LeadError;
use crate::wire::{lead_id, lead_ids};

/// Deletes a lead for good, archived or not. Two round trips: the lead is read beside the credential, then it and all that
/// is derived from it go together. What other records hold of it is never shown again and erased soon after.
pub async fn one(
    access: Access<KeyInQuery>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, LeadError> {
    let wanted = lead_id(id.ok());
    let (scope, id, lead) = access
        .open_for(wanted, async |reader: &Reader, id: &LeadId| {
            reader.lead_record(*id).await
        })
        .await?;
    permitted(&scope)?;
    let lead = lead?.ok_or(LeadError::NotFound)?;
    match scope.store.delete_lead(lead, sight(&scope)).await? {
        Deleted::Done => Ok(Json(json!({ "msg": "deleted", "data": { "id": id } }))),
        Deleted::Gone => Err(LeadError::NotFound),
    }
}

/// Deletes up to 120 leads, each for itself: those that are not there, or not to be seen, stop no others.
pub async fn many(access: Access<KeyInQuery>, body: Bytes) -> Result<Json<Value>, LeadError> {
    let wanted = lead_ids(&body);
    let (scope, ids, leads) = access
        .open_for(wanted, async |reader: &Reader, ids: &Vec<LeadId>| {
            reader.lead_records(ids.iter().copied()).await
        })
        .await?;
    permitted(&scope)?;
    let mut leads = leads?;
    let found: Vec<LeadRecord> = ids.iter().filter_map(|id| leads.remove(id)).collect();
    let deleted = scope.store.delete_leads(found, sight(&scope)).await?;
    let (gone, missing): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| deleted.contains(id));
    Ok(Json(
        json!({ "msg": "deleted", "data": { "ids": gone, "notFound": missing } }),
    ))
}

fn permitted(scope: &Scope) -> Result<(), LeadError> {
    let may = scope.viewer.permissions().delete_leads;
    may.then_some(()).ok_or(LeadError::Permission)
}

/// Whether a lead is one that the caller sees.
fn sight(scope: &Scope) -> impl Fn(&Lead) -> bool {
    |lead| scope.viewer.sees_lead(lead.owner, &lead.lists())
}
