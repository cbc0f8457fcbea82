//! Errors of the leads' endpoints, in addition to those of every endpoint.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::auth::{ArchiveLeads, Permission as _};
use shared::http::{Problem, RequestError};
use shared::lead_edit::LeadEditError;

/// Error of creating a lead with `POST /leads` (C-92).
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Errors common to all endpoints, and those of the lead's rules.
    #[error(transparent)]
    Request(RequestError),
    /// 409: a lead that the user may not see has the number or the e-mail address (C-92).
    #[error("a lead that the user may not see has the number or the e-mail address")]
    Conflict,
}

impl<E: Into<RequestError>> From<E> for CreateError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl IntoResponse for CreateError {
    fn into_response(self) -> Response {
        let problem = match self {
            Self::Request(error) => error.into(),
            Self::Conflict => Problem::Other(StatusCode::CONFLICT, json!({ "error": "Conflict" })),
        };
        problem.into_response()
    }
}

/// The response to a breach of a lead's rules.
pub fn invalid(error: LeadEditError) -> RequestError {
    match error {
        LeadEditError::Archive => RequestError::Permission(ArchiveLeads::NAME),
        error => RequestError::invalid(error),
    }
}

/// The response if the company of a request is deleted concurrently.
pub fn company_gone() -> RequestError {
    RequestError::invalid("company: the company does not exist any more")
}
