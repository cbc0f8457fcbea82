//! `GET /sac360/list_file_attendance/{id}`: endpoint 17.

use axum::Json;
use shared::id::TicketId;
use shared::scope::{Access, KeyInHeader};
use shared::store::Reader;

use crate::error::TicketsError;
use crate::view::FileView;
use crate::wire::{PathId, permitted, sees, ticket_id};

/// The files of a ticket whose lead the key may see. A ticket without lead, as where the lead was deleted (C-24), is seen like a
/// lead without owner: by those who see all leads (C-82). One round trip for an admin, and for everybody else where this
/// process knows whose the ticket is; else two.
pub async fn list(access: Access<KeyInHeader>, id: PathId) -> Result<Json<Vec<FileView>>, TicketsError> {
    let (scope, id, found) = access
        .open_for(ticket_id(id), async |reader: &Reader, id: &TicketId| {
            reader.ticket_files(*id).await
        })
        .await?;
    permitted(&scope.viewer)?;
    let found = found?.ok_or(TicketsError::Ticket(id))?;
    if !scope.viewer.is_admin() {
        let lead = scope.store.lead_of_files(&found).await?;
        if !sees(&scope.viewer, lead.as_ref()) {
            return Err(TicketsError::Ticket(id));
        }
    }
    Ok(Json(found.files.into_iter().map(FileView::from).collect()))
}
