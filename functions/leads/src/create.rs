//! `POST /leads` (C-92).

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use shared::auth::{AnyUser, Authorized, EditLeads, KeyAndToken, Permission as _, Prefetch, Scope};
use shared::http::{Idempotent, InvalidField, RawRequest, RequestError, parse_object, replayed};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::lead_edit::LeadPatch;
use shared::store::{
    Claimed, CreatedLead, IdempotencyKey, Identity, PrefetchedLead, Reader, StoreError, UniqueBy,
};

use crate::error::{CreateError, company_gone, invalid};
use crate::view::full;
use crate::wire::{NamedRecords, edit_context};

/// A search of leads of a former format that reads too much (C-86).
const OVER_BUDGET: &str =
    "unique: finding an e-mail address would read more than read_budget allows; run funil migrate";

/// The header of a response with a lead that existed.
const EXISTING: [(&str, &str); 1] = [("x-lead-existing", "true")];

/// A lead to make.
#[derive(Debug)]
pub struct CreateLead {
    patch: LeadPatch,
    unique: UniqueBy,
    /// The idempotency key, and what makes two requests equal: `unique` and the bytes of the body.
    key: Option<(String, Vec<u8>)>,
}

impl Prefetch for CreateLead {
    type Found = (PrefetchedLead, NamedRecords);
    type Error = CreateError;

    fn parse(request: &RawRequest) -> Result<Self, CreateError> {
        let key = request.idempotency_key()?;
        let patch = LeadPatch::read(parse_object(&request.body)?).map_err(invalid)?;
        let text = request.params.one("unique")?.unwrap_or_default();
        let content = || [text.as_bytes(), b" ", &request.body].concat();
        let key = key.map(|key| (key.to_owned(), content()));
        let unique = unique(text)?;
        Ok(Self { patch, unique, key })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let claim = self.claim(reader);
        let identity = Identity::of(self.patch.numbers(), self.patch.email(), self.unique);
        tokio::try_join!(
            reader.begin_lead(identity, claim),
            NamedRecords::read(reader, &self.patch)
        )
    }
}

impl CreateLead {
    fn claim(&self, reader: &Reader) -> Option<IdempotencyKey> {
        let (key, content) = self.key.as_ref()?;
        let caller = reader.caller().key();
        Some(IdempotencyKey::new("POST /leads", caller, key, content))
    }
}

/// The fields in `unique`.
fn unique(text: &str) -> Result<UniqueBy, InvalidField> {
    let mut unique = UniqueBy::default();
    for field in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
        match field {
            "phone" => unique.phone = true,
            "email" => unique.email = true,
            _ => return Err(InvalidField::new("unique", "must be phone, email or phone,email")),
        }
    }
    Ok(unique)
}

/// Makes a lead, or finds the one that has its number or address where `unique` asks for that, and answers the full view.
/// Two round trips: what it rests on is read, then the lead is written, or the one found is read. The permission is judged
/// here, because a repeated request has its own answer to a user who lost it (C-10).
pub async fn create(request: Authorized<KeyAndToken, AnyUser, CreateLead>) -> Result<Response, CreateError> {
    let (scope, query, (start, named)) = request.into_parts();
    if let Some(answer) = replay(&scope, start.claimed).await? {
        return Ok(answer);
    }
    EditLeads::require(&scope.viewer)?;
    let named = named.with_name_of(&scope).await?;
    let lead = query.patch.make(&edit_context(&scope, &named)).map_err(invalid)?;
    let claim = query.claim(scope.store.reader());
    let settings = &scope.viewer.directory().settings;
    let created = scope
        .store
        .create_lead(start, lead, named.company, settings)
        .await;
    match created.map_err(RequestError::over_budget(OVER_BUDGET))? {
        CreatedLead::Made(lead) => Ok(Idempotent::Made(shown(*lead, &scope)).into_response()),
        CreatedLead::Existing(lead) => existing(*lead, &scope, claim).await,
        CreatedLead::CompanyGone => Err(company_gone().into()),
        CreatedLead::Claimed(claimed) => {
            let answer = replay(&scope, claimed).await?;
            Ok(answer.ok_or(StoreError::Contention("claiming a key"))?)
        }
    }
}

fn shown(lead: Lead, scope: &Scope) -> Json<Value> {
    Json(full(lead, scope))
}

/// The lead that has the number or the address, for a user who may see it. A request with a key is remembered.
async fn existing(lead: Lead, scope: &Scope, claim: Option<IdempotencyKey>) -> Result<Response, CreateError> {
    if !scope.viewer.sees_lead(lead.owner, &lead.lists()) {
        return Err(CreateError::Conflict);
    }
    if let Some(claim) = claim {
        let claimed = scope.store.keep_found(&claim, lead.id.get()).await?;
        if let Some(answer) = replay(scope, claimed).await? {
            return Ok(answer);
        }
    }
    Ok((EXISTING, shown(lead, scope)).into_response())
}

/// The response to a repeated request, built again from the lead that the first one created or found; `None` for a new request.
/// The user must have created it, or be able to read it (C-10).
async fn replay(scope: &Scope, claimed: Claimed) -> Result<Option<Response>, CreateError> {
    let Some(id) = replayed(claimed)? else {
        return Ok(None);
    };
    EditLeads::require(&scope.viewer)?;
    let lead = match LeadId::new(id) {
        Some(id) => scope.store.reader().lead(id).await?,
        None => None,
    };
    let viewer = &scope.viewer;
    let may_see = |lead: &Lead| {
        lead.created_by == Some(viewer.user().get()) || viewer.sees_lead(lead.owner, &lead.lists())
    };
    let lead = lead.filter(may_see).ok_or(RequestError::NotFound)?;
    let answer = Idempotent::Replayed(shown(lead, scope));
    Ok(Some(match claimed {
        Claimed::Found(_) => (EXISTING, answer).into_response(),
        _ => answer.into_response(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_names_phone_and_email() {
        let read = |text| unique(text).map(|unique| (unique.phone, unique.email)).ok();
        for (text, fields) in [
            ("", Some((false, false))),
            ("phone", Some((true, false))),
            ("email", Some((false, true))),
            ("phone,email", Some((true, true))),
            ("email, phone", Some((true, true))),
            ("phone,", None),
            ("mobile", None),
            (" ", None),
        ] {
            assert_eq!(read(text), fields, "{text:?}");
        }
    }
}
