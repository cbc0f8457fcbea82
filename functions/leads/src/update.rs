//! `PUT /leads/{id}`, and `PUT /leads` with `id` in the body (C-91).

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{EditLeads, KeyAndToken, Keyed};
use shared::http::{InvalidField, RawRequest, RequestError, parse_object, required};
use shared::ids::LeadId;
use shared::integer::whole_or_text;
use shared::lead::Lead;
use shared::lead_edit::LeadPatch;
use shared::store::UpdatedLead;

use crate::error::{company_gone, invalid};
use crate::view::full;
use crate::wire::{NamedRecords, edit_context};

/// Changes of a lead.
#[derive(Debug)]
struct Changes {
    id: LeadId,
    patch: LeadPatch,
}

type UpdateReply = Result<Json<Value>, RequestError>;

impl Changes {
    /// Changes of the lead in the path.
    fn in_path(request: &RawRequest) -> Result<Self, RequestError> {
        let id = request.id("id", LeadId::parse)?;
        let patch = LeadPatch::read(parse_object(&request.body)?).map_err(invalid)?;
        Ok(Self { id, patch })
    }

    /// Changes of the lead whose `id` is in the body.
    fn in_body(request: &RawRequest) -> Result<Self, RequestError> {
        let body = parse_object(&request.body)?;
        let id = |id: &Value| whole_or_text(id).and_then(LeadId::new);
        let id = required(&body, "id", InvalidField::MUST_BE_ID, id)?;
        let patch = LeadPatch::read(body).map_err(invalid)?;
        Ok(Self { id, patch })
    }
}

/// `PUT /leads/{id}`.
pub async fn in_path(request: Keyed<KeyAndToken, EditLeads>) -> UpdateReply {
    update(request, Changes::in_path).await
}

/// `PUT /leads`.
pub async fn in_body(request: Keyed<KeyAndToken, EditLeads>) -> UpdateReply {
    update(request, Changes::in_body).await
}

/// Changes the fields of a lead that the body names. Returns the full view of the changed lead, even if the user no longer sees
/// it. Two round trips: the first reads the lead and the records that the body names, the second writes the lead.
/// One more for a large lead.
async fn update(
    request: Keyed<KeyAndToken, EditLeads>,
    parse: fn(&RawRequest) -> Result<Changes, RequestError>,
) -> UpdateReply {
    let (Changes { id, patch }, reader, check) = request.parse(parse).await?;
    let reads = async { tokio::try_join!(reader.lead_record(id), NamedRecords::read(&reader, &patch)) };
    let (scope, (stored, named)) = check.join(reads).await?;
    let stored = stored.ok_or(RequestError::NotFound)?;
    let whole = scope.store.reader().whole(stored);
    let (stored, named) = tokio::try_join!(whole, named.with_name_of(&scope))?;
    let stored = stored.ok_or(RequestError::NotFound)?;
    let context = edit_context(&scope, &named);
    let change = |lead: &Lead| {
        if !scope.sees(lead) {
            return Err(RequestError::NotFound);
        }
        patch.apply(lead, &context).map_err(invalid)
    };
    let company = named.company.clone();
    match Box::pin(scope.store.update_lead(stored, company, change)).await? {
        UpdatedLead::Done(lead) => Ok(Json(json!({ "msg": "updated", "data": full(*lead, &scope) }))),
        UpdatedLead::Refused(refused) => Err(refused),
        UpdatedLead::Gone => Err(RequestError::NotFound),
        UpdatedLead::CompanyGone => Err(company_gone()),
    }
}
