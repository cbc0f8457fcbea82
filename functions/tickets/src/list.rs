//! `GET /sac360/lead/{id}`: endpoint 16.

use axum::Json;
use shared::auth::{Authorized, KeyInHeader, Prefetch, SeeTickets};
use shared::http::{RawRequest, RequestError};
use shared::lead::Lead;
use shared::store::{PrefetchedList, Reader, StoreError};

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::TicketView;
use crate::wire::ListOfLead;

/// A page of a lead's tickets.
#[derive(Debug)]
pub struct ListTickets(ListOfLead);

impl Prefetch for ListTickets {
    type Found = (Option<Lead>, PrefetchedList);
    type Error = TicketsError;

    fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        ListOfLead::parse(request).map(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let tickets = reader.begin_lead_tickets(self.0.lead, &self.0.page);
        tokio::try_join!(reader.partial_lead(self.0.lead), tickets)
    }
}

/// The tickets of a lead, newest first, all or a page (C-62). One round trip for a short page.
pub async fn list(
    request: Authorized<KeyInHeader, SeeTickets, ListTickets>,
) -> Result<Json<Vec<TicketView>>, TicketsError> {
    let (scope, ListTickets(query), (lead, start)) = request.into_parts();
    query.require(&scope.viewer, lead.as_ref())?;
    let tickets = scope
        .store
        .finish_tickets(&scope.viewer, &query.page, start)
        .await;
    let tickets = tickets.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(tickets.into_iter().map(TicketView::from).collect()))
}
