//! `POST /leadsadvanced` (C-93).

use axum::response::Response;
use serde_json::Value;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::http::{InvalidField, JsonObject, RawRequest, RequestError};
use shared::ids::TagId;
use shared::input;
use shared::integer::whole_or_text;
use shared::store::{LeadRequest, LeadSearch};

use crate::list::{self, ListLeads};
use crate::view::{MANY, View};

const LIMIT_RULE: &str = "must be a whole number from 1 to 500";

/// Endpoint 1 with its parameters in the body, and pages always from 0.
pub async fn list(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, RequestError> {
    list::answer(request, page).await
}

/// A page of the list, named in the body.
fn page(RawRequest { params, body, .. }: &RawRequest) -> Result<ListLeads, RequestError> {
    // Every field is optional, and so is the body.
    let body: &[u8] = if body.is_empty() { b"{}" } else { body };
    let body = JsonObject::parse(body)?.without_nulls();
    let body = body.without_blanks(&["tag", "showArchived", "page", "limit"]);
    let query = body.optional("query", text)?;
    let view = View::of(query.as_deref(), params.flag("allFields")?, &MANY)?;
    let tag = body.optional("tag", |id| {
        whole_or_text(id)
            .and_then(TagId::new)
            .ok_or(InvalidField::MUST_BE_ID)
    })?;
    let page = LeadRequest {
        archived: body.optional("showArchived", flag)?.unwrap_or(false),
        search: body
            .optional("search", text)?
            .and_then(|term| LeadSearch::new(&term)),
        tag: tag.or(list::tag(params)?),
        page: body.optional("page", number)?,
        from_zero: true,
        limit: body.optional("limit", limit)?.unwrap_or(50),
        whole: view.needs_record(),
    };
    Ok(ListLeads { page, view })
}

fn text(value: &Value) -> Result<String, &'static str> {
    value.as_str().map(str::to_owned).ok_or("must be text")
}

fn flag(value: &Value) -> Result<bool, &'static str> {
    input::flag(value).ok_or("must be true or false")
}

fn number(value: &Value) -> Result<u64, &'static str> {
    whole_or_text(value).ok_or("must be a whole number")
}

fn limit(value: &Value) -> Result<u16, &'static str> {
    let limit = whole_or_text(value).and_then(|limit| u16::try_from(limit).ok());
    limit.filter(|limit| (1..=500).contains(limit)).ok_or(LIMIT_RULE)
}
