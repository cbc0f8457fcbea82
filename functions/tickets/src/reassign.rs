//! `POST /sac360/relaction` (C-100).

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{KeyAndToken, Keyed, SeeTickets};
use shared::http::{InvalidField, RawRequest, RequestError, parse_object, required};
use shared::ids::{LeadId, TicketId};
use shared::integer::whole_or_text;
use shared::store::Reassigned;

use crate::error::TicketsError;
use crate::view::TicketView;
use crate::wire::sees;

/// Advice for a ticket with too many files (C-86).
const OVER_BUDGET: &str =
    "attendance: the ticket has more files than read_budget allows to read, or they take too long";

/// A ticket and its new lead.
#[derive(Debug)]
pub struct Reassign {
    ticket: TicketId,
    lead: LeadId,
}

impl Reassign {
    fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        let body = parse_object(&request.body)?;
        let rule = InvalidField::MUST_BE_ID;
        Ok(Self {
            lead: required(&body, "lead", rule, |id| whole_or_text(id).and_then(LeadId::new))?,
            ticket: required(&body, "attendance", rule, |id| {
                whole_or_text(id).and_then(TicketId::new)
            })?,
        })
    }
}

/// Moves a ticket with its files to another lead and returns the ticket. The user must see both leads. Two round trips
/// if this process read the ticket after its last change and the ticket has at most 16 files; otherwise three, because
/// the files are read in between.
pub async fn reassign(request: Keyed<KeyAndToken, SeeTickets>) -> Result<Json<Value>, TicketsError> {
    let (query, reader, check) = request.parse(Reassign::parse).await?;
    let (scope, found) = check
        .join(reader.begin_reassignment(query.ticket, query.lead))
        .await?;
    let Reassign { ticket, lead } = query;
    let visible = |lead: Option<&_>| sees(&scope.viewer, lead);
    let outcome = scope
        .store
        .reassign_ticket(&scope.viewer, (ticket, lead), found, visible);
    let outcome = Box::pin(outcome).await;
    match outcome.map_err(RequestError::over_budget(OVER_BUDGET))? {
        Reassigned::Done(ticket) => Ok(Json(
            json!({ "msg": "updated", "data": TicketView::from(*ticket) }),
        )),
        Reassigned::NoTicket => Err(TicketsError::Attendance(ticket)),
        Reassigned::NoLead => Err(TicketsError::NewLead(lead)),
    }
}
