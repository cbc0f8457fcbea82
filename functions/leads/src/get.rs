//! `GET /leads/{id}`: endpoints 2, 3 and 4.

use axum::response::Response;
use serde::Serialize;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::store::{Names, Reader, StoreError};

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
}

impl Prefetch for GetLead {
    type Found = (Option<Lead>, Names);
    type Error = RequestError;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self {
            id: request.id("id", LeadId::parse)?,
            view: View::read(&request.params, &ONE)?,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        tokio::try_join!(reader.lead(self.id), self.view.expected_names(reader))
    }
}

/// One lead: in summary, in full with `allFields=1`, or the fields selected by `query`. One round trip.
pub async fn get(request: Authorized<KeyAndToken, AnyUser, GetLead>) -> Result<Response, RequestError> {
    let (scope, query, found) = request.into_parts();
    let (view, (lead, names)) = (query.view, found);
    let lead = lead.filter(|lead| scope.viewer.sees_lead(lead.owner, &lead.lists()));
    let mut lead = [lead.ok_or(RequestError::NotFound)?];
    let names = view.names(&scope.store, names, &lead).await?;
    let [lead] = &mut lead;
    let lead = view.lead(lead, &scope, &names);
    Ok(view.answer(LeadAnswer { lead }))
}
