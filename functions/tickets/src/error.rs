//! Errors of endpoints 16 to 18 and of `POST /sac360/relaction` (spec.md, Errors; C-62, C-100).

use axum::response::{IntoResponse, Response};
use shared::http::{Problem, RequestError};
use shared::ids::{LeadId, TicketId};

/// Advice for a far page over the read budget (C-86).
pub const OVER_BUDGET: &str =
    "page: is too far from the start to be read on its own; read the pages in order";

/// Error of listing or changing tickets or files.
#[derive(Debug, thiserror::Error)]
pub enum TicketsError {
    /// Errors common to all endpoints.
    #[error(transparent)]
    Request(RequestError),
    /// 400: the lead does not exist, or the user may not see it.
    #[error("lead_id: lead {0} does not exist")]
    Lead(LeadId),
    /// 400: the ticket does not exist, or the user may not see its lead.
    #[error("ticket_id: ticket {0} does not exist")]
    Ticket(TicketId),
    /// 400: the new lead does not exist, or the user may not see it.
    #[error("lead: lead {0} does not exist")]
    NewLead(LeadId),
    /// 400: the ticket does not exist, or the user may not see its lead.
    #[error("attendance: ticket {0} does not exist")]
    Attendance(TicketId),
}

impl<E: Into<RequestError>> From<E> for TicketsError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl IntoResponse for TicketsError {
    fn into_response(self) -> Response {
        let problem = match self {
            Self::Request(error) => error.into(),
            Self::Lead(_) | Self::Ticket(_) | Self::NewLead(_) | Self::Attendance(_) => {
                Problem::Invalid(self.to_string())
            }
        };
        problem.into_response()
    }
}
