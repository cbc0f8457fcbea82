//! `GET /sac360/list_file_lead/{id}`: endpoint 18.

use axum::Json;
use shared::auth::{Authorized, KeyInHeader, Prefetch, SeeTickets};
use shared::http::{RawRequest, RequestError};
use shared::lead::Lead;
use shared::store::{PrefetchedList, Reader, StoreError};

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::FileView;
use crate::wire::ListOfLead;

/// A page of the files of a lead's tickets.
#[derive(Debug)]
pub struct ListLeadFiles(ListOfLead);

impl Prefetch for ListLeadFiles {
    type Found = (Option<Lead>, PrefetchedList);
    type Error = TicketsError;

    fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        ListOfLead::parse(request).map(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let files = reader.begin_lead_files(self.0.lead, &self.0.page);
        tokio::try_join!(reader.partial_lead(self.0.lead), files)
    }
}

/// The files of all tickets of a lead, by ticket, then by file, all or a page (C-62). One round trip for a short
/// page.
pub async fn list(
    request: Authorized<KeyInHeader, SeeTickets, ListLeadFiles>,
) -> Result<Json<Vec<FileView>>, TicketsError> {
    let (scope, ListLeadFiles(query), (lead, start)) = request.into_parts();
    query.require(&scope.viewer, lead.as_ref())?;
    let files = scope.store.finish_files(&scope.viewer, &query.page, start).await;
    let files = files.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
