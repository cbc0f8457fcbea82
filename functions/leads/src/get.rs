//! `GET /leads/{id}`: endpoints 2, 3 and 4.

use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::http::{RawRequest, RequestError};
use shared::ids::LeadId;
use shared::store::LeadRecord;

use crate::view::{ONE, Shown, View};

/// A lead and its view.
#[derive(Debug)]
pub struct GetLead {
    id: LeadId,
    view: View,
}

#[derive(Serialize)]
struct LeadAnswer<'a> {
    lead: Shown<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Value>,
}

impl GetLead {
    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self {
            id: request.id("id", LeadId::parse)?,
            view: View::of(
                request.params.one("query")?,
                request.params.flag("allFields")?,
                &ONE,
            )?,
        })
    }
}

/// One lead: in summary, in full with `allFields=1`, or the fields selected by `query`, with its tags if they are selected too. One
/// round trip, two for a large lead in full.
pub async fn get(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, RequestError> {
    let (query, reader, check) = request.parse(GetLead::parse).await?;
    let (scope, (record, expected)) = check
        .join(async { tokio::try_join!(reader.lead_record(query.id), query.view.expected(&reader)) })
        .await?;
    let GetLead { view, .. } = query;
    let sees = |record: &LeadRecord| scope.sees(&record.lead);
    let mut record = record.filter(sees).ok_or(RequestError::NotFound)?;
    if view.has_custom_fields() {
        let whole = scope.store.reader().whole(record).await?;
        // Checked again, because a newer version may have been read.
        let whole = whole.map(LeadRecord::from).filter(sees);
        record = whole.ok_or(RequestError::NotFound)?;
    }
    let mut state = record.value;
    let related = view
        .related(&scope, expected, std::slice::from_ref(&state))
        .await?;
    let tags = view.root_tags(&state.lead, &related);
    let lead = view.lead(&mut state, &scope, &related);
    Ok(view.answer(LeadAnswer { lead, tags }))
}
