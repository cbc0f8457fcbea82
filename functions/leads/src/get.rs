//! `GET /leads/{id}`: endpoints 2, 3 and 4.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use serde::Serialize;
use shared::id::LeadId;
use shared::scope::{Access, KeyAndToken};
use shared::store::Reader;

use crate::error::LeadError;
use crate::view::{ONE, Shown, View};
use crate::wire::lead_id;

#[derive(Serialize)]
struct One<'a> {
    lead: Shown<'a>,
}

/// One lead: in summary, all fields with `allFields=1`, or those that `query` selects. One round trip: the lead is read
/// beside the credential.
pub async fn get(
    access: Access<KeyAndToken>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, LeadError> {
    let wanted = read(&access, id.ok());
    let (scope, (_, view), found) = access
        .open_for(wanted, async |reader: &Reader, (id, view): &(LeadId, View)| {
            tokio::try_join!(reader.lead(*id), view.expected_names(reader, "lead"))
        })
        .await?;
    let (lead, names) = found?;
    let lead = lead
        .filter(|lead| scope.viewer.sees_lead(lead.owner, &lead.lists()))
        .ok_or(LeadError::NotFound)?;
    let mut lead = [lead];
    let names = view.names(&scope.store, (names, "lead"), &lead).await?;
    let [lead] = &mut lead;
    let lead = view.lead(lead, &scope, &names);
    Ok(view.answer(One { lead }))
}

fn read(access: &Access<KeyAndToken>, id: Option<Path<String>>) -> Result<(LeadId, View), LeadError> {
    Ok((lead_id(id)?, View::read(access.params(), ONE)?))
}
