//! `GET /sac360/list_file_attendance/{id}`: endpoint 17.

use axum::Json;
use shared::scope::{Access, KeyInHeader};
use shared::store::Reader;

use crate::error::TicketsError;
use crate::view::FileView;
use crate::wire::{PathId, TicketWanted, permitted, sees};

/// The files of a ticket whose lead the key may see, all or a page of them (C-62). A ticket without lead, as where the lead was
/// deleted (C-24), is seen like a lead without owner: by those who see all leads (C-82). Where the page is short, one round
/// trip for an admin, and for everybody else where this process knows whose the ticket is; else one more.
pub async fn list(access: Access<KeyInHeader>, id: PathId) -> Result<Json<Vec<FileView>>, TicketsError> {
    let wanted = TicketWanted::read(id, &access);
    let (scope, wanted, found) = access
        .open_for(wanted, async |reader: &Reader, wanted: &TicketWanted| {
            reader.begin_ticket_files(wanted.ticket, &wanted.list).await
        })
        .await?;
    permitted(&scope.viewer)?;
    let found = found?.ok_or(TicketsError::Ticket(wanted.ticket))?;
    if !scope.viewer.is_admin() {
        let lead = scope.store.lead_of_files(&found).await?;
        if !sees(&scope.viewer, lead.as_ref()) {
            return Err(TicketsError::Ticket(wanted.ticket));
        }
    }
    let files = scope
        .store
        .finish_files(&scope.viewer, &wanted.list, found.start)
        .await?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
