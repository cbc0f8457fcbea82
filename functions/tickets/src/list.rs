//! `GET /sac360/lead/{id}`: endpoint 16.

use axum::Json;
use shared::auth::{KeyInHeader, Keyed, SeeTickets};
use shared::http::RequestError;
use shared::ticket::Ticket;

use crate::error::{OVER_BUDGET, TicketsError};
use crate::view::TicketView;
use crate::wire::ListOfLead;

/// The tickets of a lead, newest first, all or a page (C-62). One round trip for a short page.
pub async fn list(request: Keyed<KeyInHeader, SeeTickets>) -> Result<Json<Vec<TicketView>>, TicketsError> {
    let (query, reader, check) = request.parse(ListOfLead::parse).await?;
    let (scope, (lead, start)) = check
        .join(async {
            let tickets = reader.begin_list::<Ticket>(query.lead, &query.page);
            tokio::try_join!(reader.partial_lead(query.lead), tickets)
        })
        .await?;
    query.require(&scope.viewer, lead.as_ref())?;
    let tickets = scope.store.finish_list(&scope.viewer, start).await;
    let tickets = tickets.map_err(RequestError::over_budget(OVER_BUDGET))?;
    Ok(Json(tickets.into_iter().map(TicketView::from).collect()))
}
