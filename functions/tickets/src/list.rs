//! `GET /sac360/lead/{id}`: endpoint 16.

use axum::Json;
use shared::auth::{Authorized, KeyInHeader, Prefetch, SeeTickets};
use shared::http::{RawRequest, RequestError};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::TicketView;
use crate::wire::require_lead;

/// A page of a lead's tickets.
#[derive(Debug)]
pub struct ListTickets {
    lead: LeadId,
    page: ListRequest,
}

impl Prefetch for ListTickets {
    type Found = (Option<Lead>, PrefetchedList);
    type Error = TicketsError;

    fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        Ok(Self {
            lead: request.id("lead_id", LeadId::parse)?,
            page: request.params.records()?,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let tickets = reader.begin_lead_tickets(self.lead, &self.page);
        tokio::try_join!(reader.lead(self.lead), tickets)
    }
}

/// The tickets of a lead, newest first, all or a page (C-62). One round trip for a short page.
pub async fn list(
    request: Authorized<KeyInHeader, SeeTickets, ListTickets>,
) -> Result<Json<Vec<TicketView>>, TicketsError> {
    let (scope, query, (lead, start)) = request.into_parts();
    require_lead(&scope.viewer, query.lead, lead.as_ref())?;
    let tickets = scope
        .store
        .finish_tickets(&scope.viewer, &query.page, start)
        .await;
    let tickets = tickets.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(tickets.into_iter().map(TicketView::from).collect()))
}
