//! `POST /lead/archive`: endpoint 6, for one lead and in bulk (C-25).

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{ArchiveLeads, KeyInQuery, Keyed};
use shared::http::{InvalidField, RawRequest, RequestError, parse_object, required};
use shared::ids::LeadId;
use shared::input::{drop_blanks, flag};
use shared::lead::Lead;
use shared::store::LeadRecord;

use crate::wire::{lead_id, lead_ids};

/// The leads to archive or restore.
#[derive(Debug)]
pub struct Archive {
    archived: bool,
    ids: Vec<LeadId>,
    /// Whether the body has a list of ids, and so does the response.
    is_bulk: bool,
}

impl Archive {
    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        let mut body = parse_object(&request.body)?;
        drop_blanks(&mut body);
        let archived = required(&body, "archived", "must be true or false", flag)?;
        let (ids, is_bulk) = match (body.get("id"), body.get("ids")) {
            (None, Some(_)) => (lead_ids(&body, "ids")?, true),
            (Some(Value::Array(_)), None) => (lead_ids(&body, "id")?, true),
            (Some(_), Some(_)) => return Err(InvalidField::new("ids", "must not be sent with id").into()),
            (_, None) => (
                vec![required(&body, "id", InvalidField::MUST_BE_ID, lead_id)?],
                false,
            ),
        };
        Ok(Self {
            archived,
            ids,
            is_bulk,
        })
    }
}

/// Archives or restores leads; a repeated request changes nothing. Two round trips, one if nothing changes.
pub async fn archive(request: Keyed<KeyInQuery, ArchiveLeads>) -> Result<Json<Value>, RequestError> {
    let (query, reader, check) = request.parse(Archive::parse).await?;
    let (scope, mut found) = check.join(reader.lead_records(query.ids.iter().copied())).await?;
    let Archive {
        archived,
        ids,
        is_bulk,
    } = query;
    let records: Vec<LeadRecord> = ids.iter().filter_map(|id| found.remove(id)).collect();
    let changed = scope
        .store
        .archive_leads(records, archived, |lead| scope.sees(lead))
        .await?;
    let mut shown: Vec<_> = changed.iter().map(view).collect();
    if !is_bulk {
        let lead = shown.pop().ok_or(RequestError::NotFound)?;
        return Ok(Json(json!({ "data": { "lead": lead } })));
    }
    let mut missing = ids;
    missing.retain(|id| !changed.iter().any(|lead| lead.id == *id));
    Ok(Json(json!({ "data": { "leads": shown, "notFound": missing } })))
}

fn view(lead: &Lead) -> Value {
    json!({ "id": lead.id, "fullname": lead.fullname(), "email": lead.email, "archived": lead.archived })
}
