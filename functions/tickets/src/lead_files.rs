//! `GET /sac360/list_file_lead/{id}`: endpoint 18.

use axum::Json;
use shared::auth::{KeyInHeader, Keyed, SeeTickets};
use shared::http::RequestError;
use shared::store::FilesOf;
use shared::ticket::TicketFile;

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::FileView;
use crate::wire::ListOfLead;

/// The files of all tickets of a lead, by ticket, then by file, all or a page (C-62). One round trip for a short
/// page.
pub async fn list(request: Keyed<KeyInHeader, SeeTickets>) -> Result<Json<Vec<FileView>>, TicketsError> {
    let (query, reader, check) = request.parse(ListOfLead::parse).await?;
    let (scope, (lead, start)) = check
        .join(async {
            let files = reader.begin_list::<TicketFile>(FilesOf::Lead(query.lead), &query.page);
            tokio::try_join!(reader.partial_lead(query.lead), files)
        })
        .await?;
    query.require(&scope.viewer, lead.as_ref())?;
    let files = scope.store.finish_list(&scope.viewer, start).await;
    let files = files.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
