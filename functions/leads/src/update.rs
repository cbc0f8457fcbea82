//! `PUT /leads/{id}`, and `PUT /leads` with `id` in the body (C-91).

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{Authorized, EditLeads, KeyAndToken, Prefetch, Scope};
use shared::http::{InvalidField, RawRequest, RequestError, parse_object, required};
use shared::ids::LeadId;
use shared::integer::whole_or_text;
use shared::lead::Lead;
use shared::lead_edit::LeadPatch;
use shared::store::{LeadRecord, Reader, StoreError, UpdatedLead};

use crate::error::{company_gone, invalid};
use crate::view::full;
use crate::wire::{NamedRecords, edit_context};

/// Changes of the lead in the path.
#[derive(Debug)]
pub struct InPath(Changes);

/// Changes of the lead whose `id` is in the body.
#[derive(Debug)]
pub struct InBody(Changes);

#[derive(Debug)]
struct Changes {
    id: LeadId,
    patch: LeadPatch,
}

type PrefetchedLeadUpdate = (Option<LeadRecord>, NamedRecords);
type UpdateReply = Result<Json<Value>, RequestError>;

impl Changes {
    async fn prefetch(&self, reader: &Reader) -> Result<PrefetchedLeadUpdate, StoreError> {
        tokio::try_join!(
            reader.lead_record(self.id),
            NamedRecords::read(reader, &self.patch)
        )
    }
}

impl Prefetch for InPath {
    type Found = PrefetchedLeadUpdate;
    type Error = RequestError;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        let id = request.id("id", LeadId::parse)?;
        let patch = LeadPatch::read(parse_object(&request.body)?).map_err(invalid)?;
        Ok(Self(Changes { id, patch }))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<PrefetchedLeadUpdate, StoreError> {
        self.0.prefetch(reader).await
    }
}

impl Prefetch for InBody {
    type Found = PrefetchedLeadUpdate;
    type Error = RequestError;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        let body = parse_object(&request.body)?;
        let id = |id: &Value| whole_or_text(id).and_then(LeadId::new);
        let id = required(&body, "id", InvalidField::MUST_BE_ID, id)?;
        let patch = LeadPatch::read(body).map_err(invalid)?;
        Ok(Self(Changes { id, patch }))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<PrefetchedLeadUpdate, StoreError> {
        self.0.prefetch(reader).await
    }
}

/// `PUT /leads/{id}`.
pub async fn in_path(request: Authorized<KeyAndToken, EditLeads, InPath>) -> UpdateReply {
    let (scope, InPath(changes), found) = request.into_parts();
    update(&scope, &changes, found).await
}

/// `PUT /leads`.
pub async fn in_body(request: Authorized<KeyAndToken, EditLeads, InBody>) -> UpdateReply {
    let (scope, InBody(changes), found) = request.into_parts();
    update(&scope, &changes, found).await
}

/// Changes the fields of a lead that the body names. Returns the full view of the changed lead, even if the user no longer sees
/// it. Two round trips: the first reads the lead and the records that the body names, the second writes the lead.
/// One more for a large lead.
async fn update(scope: &Scope, changes: &Changes, (stored, named): PrefetchedLeadUpdate) -> UpdateReply {
    let stored = stored.ok_or(RequestError::NotFound)?;
    let whole = scope.store.reader().whole(stored);
    let (stored, named) = tokio::try_join!(whole, named.with_name_of(scope))?;
    let stored = stored.ok_or(RequestError::NotFound)?;
    let context = edit_context(scope, &named);
    let change = |lead: &Lead| {
        if !scope.viewer.sees_lead(lead.owner, &lead.lists()) {
            return Err(RequestError::NotFound);
        }
        changes.patch.apply(lead, &context).map_err(invalid)
    };
    let company = named.company.clone();
    match Box::pin(scope.store.update_lead(stored, company, change)).await? {
        UpdatedLead::Done(lead) => Ok(Json(json!({ "msg": "updated", "data": full(*lead, scope) }))),
        UpdatedLead::Refused(refused) => Err(refused),
        UpdatedLead::Gone => Err(RequestError::NotFound),
        UpdatedLead::CompanyGone => Err(company_gone()),
    }
}
