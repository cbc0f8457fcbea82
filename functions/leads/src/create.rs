//! `POST /leads` (C-92).

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use shared::auth::{AnyUser, EditLeads, KeyAndToken, Keyed, Permission as _, Scope};
use shared::http::{Idempotent, InvalidField, RawRequest, RequestError, parse_object, replayed};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::lead_edit::{LeadPatch, split_name};
use shared::store::{
    Claimed, CreatedLead, IdempotencyKey, Identity, LeadRecord, Reader, StoreError, UniqueBy,
};

use crate::error::{CreateError, company_gone, invalid};
use crate::view::full;
use crate::wire::{NamedRecords, edit_context};

/// The header of a response with an existing lead.
const EXISTING: [(&str, &str); 1] = [("x-lead-existing", "true")];

/// A lead to create.
#[derive(Debug)]
pub struct CreateLead {
    patch: LeadPatch,
    unique: UniqueBy,
    /// The idempotency key, and the content that equal requests share: `unique` and the bytes of the body.
    key: Option<(String, Vec<u8>)>,
}

impl CreateLead {
    fn parse(request: &RawRequest) -> Result<Self, CreateError> {
        let key = request.idempotency_key()?;
        let mut fields = parse_object(&request.body)?;
        split_name(&mut fields, &["name", "fullname"]);
        let patch = LeadPatch::read(fields).map_err(invalid)?;
        let unique_text = request.params.all("unique").collect::<Vec<_>>().join(",");
        let content = || [unique_text.as_bytes(), b" ", &request.body].concat();
        let key = key.map(|key| (key.to_owned(), content()));
        let unique = unique(&unique_text)?;
        Ok(Self { patch, unique, key })
    }
}

impl CreateLead {
    fn claim(&self, reader: &Reader) -> Option<IdempotencyKey> {
        let (key, content) = self.key.as_ref()?;
        let caller = reader.caller().key();
        Some(IdempotencyKey::new("POST /leads", caller, key, content))
    }
}

/// The fields in the parameter `unique`; none if it is empty.
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

/// Creates a lead, or finds the existing one with its number or address if `unique` asks for that. Returns the full
/// view. Two round trips: one for reads, and one that writes the new lead or reads the existing one. The permission is
/// checked here, because a repeated request has its own response to a user who lost the permission (C-10).
pub async fn create(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, CreateError> {
    let (query, reader, check) = request.parse(CreateLead::parse).await?;
    let (scope, (start, named)) = check
        .join(async {
            let claim = query.claim(&reader);
            let identity = Identity::of(query.patch.number_texts(), query.patch.email(), query.unique);
            tokio::try_join!(
                reader.begin_lead(identity, claim),
                NamedRecords::read(&reader, &query.patch)
            )
        })
        .await?;
    if let Some(answer) = replay(&scope, start.claimed).await? {
        return Ok(answer);
    }
    EditLeads::require(&scope.viewer)?;
    let named = named.with_name_of(&scope).await?;
    let lead = query.patch.make(&edit_context(&scope, &named)).map_err(invalid)?;
    let claim = query.claim(scope.store.reader());
    match scope.store.create_lead(start, lead, named.company).await? {
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

/// The response with the existing lead that has the number or the address. Stores the key of the request, if it has
/// one. Returns an error if the user may not see the lead.
async fn existing(lead: Lead, scope: &Scope, claim: Option<IdempotencyKey>) -> Result<Response, CreateError> {
    if !scope.sees(&lead) {
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

/// The response to a repeated request, built again from the lead that the first request created or found. Returns
/// `None` for a new request. The user must be able to read the lead (C-10).
async fn replay(scope: &Scope, claimed: Claimed) -> Result<Option<Response>, CreateError> {
    let Some(id) = replayed(claimed)? else {
        return Ok(None);
    };
    EditLeads::require(&scope.viewer)?;
    let lead = match LeadId::new(id) {
        Some(id) => scope.store.reader().whole_lead(id).await?,
        None => None,
    };
    let lead = lead.map(|lead| LeadRecord::from(lead).value.lead);
    let lead = lead
        .filter(|lead| scope.sees(lead))
        .ok_or(RequestError::NotFound)?;
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
