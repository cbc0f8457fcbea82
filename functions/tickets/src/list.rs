//! `GET /sac360/lead/{id}`: endpoint 16.

use axum::Json;
use shared::id::LeadId;
use shared::scope::{Access, KeyInHeader};
use shared::store::Reader;

use crate::error::TicketsError;
use crate::view::TicketView;
use crate::wire::{PathId, lead_id, permitted, sees};

/// The tickets of a lead, the newest first. One round trip: the lead and its tickets are read beside the credential.
pub async fn list(access: Access<KeyInHeader>, id: PathId) -> Result<Json<Vec<TicketView>>, TicketsError> {
    let (scope, id, found) = access
        .open_for(lead_id(id), async |reader: &Reader, id: &LeadId| {
            tokio::try_join!(reader.lead(*id), reader.lead_tickets(*id))
        })
        .await?;
    permitted(&scope.viewer)?;
    let (lead, tickets) = found?;
    lead.filter(|lead| sees(&scope.viewer, Some(lead)))
        .ok_or(TicketsError::Lead(id))?;
    Ok(Json(tickets.into_iter().map(TicketView::from).collect()))
}
