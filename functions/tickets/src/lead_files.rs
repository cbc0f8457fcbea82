//! `GET /sac360/list_file_lead/{id}`: endpoint 18.

use axum::Json;
use shared::auth::{Authorized, KeyInHeader, Prefetch, SeeTickets};
use shared::http::{RawRequest, RequestError};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::FileView;
use crate::wire::require_lead;

/// A page of the files of a lead's tickets.
#[derive(Debug)]
pub struct ListLeadFiles {
    lead: LeadId,
    page: ListRequest,
}

impl Prefetch for ListLeadFiles {
    type Found = (Option<Lead>, PrefetchedList);
    type Error = TicketsError;

    fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        Ok(Self {
            lead: request.id("lead_id", LeadId::parse)?,
            page: request.params.records()?,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let files = reader.begin_lead_files(self.lead, &self.page);
        tokio::try_join!(reader.lead(self.lead), files)
    }
}

/// The files of all tickets of a lead, by ticket, then by file, all or a page (C-62). One round trip for a short
/// page.
pub async fn list(
    request: Authorized<KeyInHeader, SeeTickets, ListLeadFiles>,
) -> Result<Json<Vec<FileView>>, TicketsError> {
    let (scope, query, (lead, start)) = request.into_parts();
    require_lead(&scope.viewer, query.lead, lead.as_ref())?;
    let files = scope.store.finish_files(&scope.viewer, &query.page, start).await;
    let files = files.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
