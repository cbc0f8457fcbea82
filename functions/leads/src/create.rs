//! `POST /leads` (C-92).

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use shared::auth::{AnyUser, Authorized, EditLeads, KeyAndToken, Permission as _, Prefetch, Scope};
use shared::http::{Idempotent, InvalidField, RawRequest, RequestError, parse_object, replayed};
use shared::ids::LeadId;
use shared::lead::{Lead, LeadPatch};
use shared::store::{CreatedLead, IdempotencyKey, Identity, PrefetchedLead, Reader, StoreError, UniqueBy};

use crate::error::{CreateError, company_gone, invalid};
use crate::view::full;
use crate::wire::{Named, edit_context};

/// A search of leads of a former format that reads too much (C-86).
const OVER_BUDGET: &str =
    "unique: finding an e-mail address would read more than read_budget allows; run funil migrate";

/// A lead to make.
#[derive(Debug)]
pub struct CreateLead {
    patch: LeadPatch,
    unique: UniqueBy,
    /// The idempotency key, and what makes two requests equal: `unique` and the bytes of the body.
    key: Option<(String, Vec<u8>)>,
}

impl Prefetch for CreateLead {
    type Found = (PrefetchedLead, Named);
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
        let claim = self
            .key
            .as_ref()
            .map(|(key, content)| IdempotencyKey::new("POST /leads", reader.caller().key(), key, content));
        let identity = Identity::of(self.patch.numbers(), self.patch.email(), self.unique);
        tokio::try_join!(
            reader.begin_lead(identity, claim),
            Named::read(reader, &self.patch)
        )
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
    if let Some(made) = replayed(start.claimed)? {
        return replay(&scope, made).await;
    }
    EditLeads::require(&scope.viewer)?;
    let named = named.with_name_of(&scope).await?;
    let lead = query.patch.make(&edit_context(&scope, &named)).map_err(invalid)?;
    let settings = &scope.viewer.directory().settings;
    let created = scope
        .store
        .create_lead(start, lead, named.company, settings)
        .await;
    match created.map_err(RequestError::over_budget(OVER_BUDGET))? {
        CreatedLead::Made(lead) => Ok(Idempotent::Made(shown(*lead, &scope)).into_response()),
        CreatedLead::Existing(lead) => existing(*lead, &scope),
        CreatedLead::CompanyGone => Err(company_gone().into()),
        CreatedLead::Claimed(claimed) => {
            let made = replayed(claimed)?.ok_or(StoreError::Contention("claiming a key"))?;
            replay(&scope, made).await
        }
    }
}

fn shown(lead: Lead, scope: &Scope) -> Json<Value> {
    Json(full(lead, scope))
}

/// The lead that has the number or the address, for a user who may see it.
fn existing(lead: Lead, scope: &Scope) -> Result<Response, CreateError> {
    if !scope.viewer.sees_lead(lead.owner, &lead.lists()) {
        return Err(CreateError::Conflict);
    }
    Ok(([("x-lead-existing", "true")], shown(lead, scope)).into_response())
}

/// The response to a repeated request, built again from the lead that the first one made. The user must have made it, or be
/// able to read it (C-10).
async fn replay(scope: &Scope, made: u64) -> Result<Response, CreateError> {
    EditLeads::require(&scope.viewer)?;
    let lead = match LeadId::new(made) {
        Some(id) => scope.store.lead(id).await?,
        None => None,
    };
    let viewer = &scope.viewer;
    let may_see = |lead: &Lead| {
        lead.created_by == Some(viewer.user().get()) || viewer.sees_lead(lead.owner, &lead.lists())
    };
    let lead = lead.filter(may_see).ok_or(RequestError::NotFound)?;
    Ok(Idempotent::Replayed(shown(lead, scope)).into_response())
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
