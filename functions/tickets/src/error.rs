//! What can be wrong with a request for tickets or files: every invalid one is `{ "error": "Invalid request" }` and nothing
//! more (spec.md, Errors; C-62, C-82). A header tells what is wrong.

use axum::response::{IntoResponse, Response};
use shared::http::{BadParameter, Refusal, Shape};
use shared::id::{LeadId, TicketId};
use shared::scope::AccessError;
use shared::store::StoreError;

/// Why tickets or files are not shown.
#[derive(Debug, thiserror::Error)]
pub enum TicketsError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the key's group does not see tickets.
    #[error("tickets: the user does not have this permission")]
    Permission,
    /// 400: what the path names this way is no id.
    #[error("{0}: must be a whole number from 1 to 999999999999999")]
    Id(&'static str),
    /// 400: a parameter has a value it does not take.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// 400: there is no such lead, or none that the key may see.
    #[error("lead_id: lead {0} does not exist")]
    Lead(LeadId),
    /// 400: there is no such ticket, or it is one of a lead that the key may not see.
    #[error("ticket_id: ticket {0} does not exist")]
    Ticket(TicketId),
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for TicketsError {
    fn into_response(self) -> Response {
        Shape::Fixed.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Permission | Self::Id(_) | Self::Parameter(_) | Self::Lead(_) | Self::Ticket(_) => {
                Refusal::Invalid(self.to_string())
            }
            Self::Store(StoreError::OverBudget) => Refusal::Invalid(
                "page: lies too far behind to be found by itself; read the pages in their order".to_owned(),
            ),
            Self::Store(cause) => {
                tracing::error!(%cause, "tickets could not be read");
                Refusal::Internal
            }
        })
    }
}
