//! `GET /sac360/list_file_attendance/{id}`: endpoint 17.

use axum::Json;
use shared::auth::{KeyInHeader, Keyed, SeeTickets};
use shared::http::{RawRequest, RequestError};
use shared::ids::TicketId;
use shared::store::ListRequest;

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::FileView;
use crate::wire::sees;

/// A page of a ticket's files.
#[derive(Debug)]
pub struct ListTicketFiles {
    ticket: TicketId,
    page: ListRequest,
}

impl ListTicketFiles {
    fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        Ok(Self {
            ticket: request.id("ticket_id", TicketId::parse)?,
            page: request.params.records()?,
        })
    }
}

/// The files of a ticket whose lead is visible, all or a page (C-62). A ticket without lead, for example of a deleted
/// lead (C-24), is visible to users who see all leads (C-82). A short page takes one round trip for an admin, or if
/// this process knows the ticket's lead; otherwise two.
pub async fn list(request: Keyed<KeyInHeader, SeeTickets>) -> Result<Json<Vec<FileView>>, TicketsError> {
    let (query, reader, check) = request.parse(ListTicketFiles::parse).await?;
    let (scope, found) = check
        .join(reader.begin_ticket_files(query.ticket, &query.page))
        .await?;
    let found = found.ok_or(TicketsError::Ticket(query.ticket))?;
    scope.store.reader().remember_ticket(&found);
    if !scope.viewer.is_admin() {
        let lead = scope.store.reader().lead_of_files(&found).await?;
        if !sees(&scope.viewer, lead.as_ref()) {
            return Err(TicketsError::Ticket(query.ticket));
        }
    }
    let files = scope.store.finish_list(&scope.viewer, found.start).await;
    let files = files.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
