//! `POST /lead/archive`: endpoint 6, for one lead and in bulk (C-25).

use axum::Json;
use axum::body::Bytes;
use serde_json::{Value, json};
use shared::id::LeadId;
use shared::lead::Lead;
use shared::scope::{Access, KeyInQuery, Scope};
use shared::store::{LeadRecord, Reader};

use crate::error::LeadError;
use crate::wire::{Archived, NewArchive};

/// Archives a lead or takes it out of the archive; done again it changes nothing. Two round trips, one where nothing
/// changes.
pub async fn archive(access: Access<KeyInQuery>, body: Bytes) -> Result<Json<Value>, LeadError> {
    let wanted = NewArchive::read(&body);
    let (scope, NewArchive { archived, leads }, found) = access
        .open_for(wanted, async |reader: &Reader, wanted: &NewArchive| {
            reader.lead_records(wanted.leads.ids().iter().copied()).await
        })
        .await?;
    if !scope.viewer.permissions().archive_leads {
        return Err(LeadError::Permission);
    }
    let mut found = found?;
    let records: Vec<LeadRecord> = leads.ids().iter().filter_map(|id| found.remove(id)).collect();
    let changed = change(&scope, records, archived).await?;
    let data = match leads {
        Archived::One(_) => {
            let lead = changed.first().ok_or(LeadError::NotFound)?;
            json!({ "lead": view(lead) })
        }
        Archived::Many(ids) => {
            let shown: Vec<_> = changed.iter().map(view).collect();
            let done: Vec<LeadId> = changed.iter().map(|lead| lead.id).collect();
            let missing: Vec<_> = ids.into_iter().filter(|id| !done.contains(id)).collect();
            json!({ "leads": shown, "notFound": missing })
        }
    };
    Ok(Json(json!({ "data": data })))
}

/// The leads as they are then: those that the caller sees.
async fn change(scope: &Scope, records: Vec<LeadRecord>, archived: bool) -> Result<Vec<Lead>, LeadError> {
    let set = |lead: &Lead| {
        let seen = scope.viewer.sees_lead(lead.owner, &lead.lists());
        seen.then(|| Lead {
            archived,
            ..lead.clone()
        })
    };
    Ok(scope.store.update_leads(records, set).await?)
}

fn view(lead: &Lead) -> Value {
    json!({ "id": lead.id, "fullname": lead.fullname(), "email": lead.email, "archived": lead.archived })
}
