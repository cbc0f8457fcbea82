//! Errors of endpoints 7, 8 and 10 and of the totals of a funnel. Endpoint 9 has none of its own.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::http::query::json_schema::Violation;
use shared::http::{Problem, RequestError};
use shared::ids::{FunnelId, OpportunityId};
use shared::opportunity::BadDate;

/// Error of creating or changing an opportunity: endpoints 7 and 8 (C-7, C-30, C-31).
#[derive(Debug, thiserror::Error)]
pub enum OpportunityError {
    /// Errors common to all endpoints, and those of the opportunity's rules
    /// ([`ValidationError`](shared::opportunity_edit::ValidationError)).
    #[error(transparent)]
    Request(RequestError),
    /// 400: the funnel does not exist, or the user may not see it.
    #[error("id: funnel {0} does not exist")]
    Funnel(FunnelId),
    /// 400: the opportunity of an equal request no longer exists, or the user may not edit it (C-10).
    #[error("the opportunity of this key is gone")]
    ReplayGone,
    /// 400: the opportunity is not in the funnel, or the user may not see it (C-31, C-32).
    #[error("opportunity_id: opportunity {0} does not exist in funnel {1}")]
    Opportunity(OpportunityId, FunnelId),
    /// 400: the opportunity, or its new lead, was deleted concurrently (C-24).
    #[error("lead_id: the lead or the opportunity does not exist any more")]
    Gone,
}

/// Error of listing the opportunities of a funnel: endpoint 10, in the order of its checks (C-41).
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// Errors common to all endpoints; 401 also if the user may not see the funnel.
    #[error(transparent)]
    Request(RequestError),
    /// 400 in its own format: the body violates the schema.
    #[error("{} {}", .0.instance_path, .0.message)]
    Schema(Box<Violation>),
    /// 400: the funnel does not exist (C-41, C-96).
    #[error("funnel_id: funnel {0} does not exist")]
    Funnel(FunnelId),
    /// 400: `columnId` is not a column of the funnel.
    #[error("columnId: is not a column of funnel {0}")]
    Column(FunnelId),
    /// 400: too many conditions.
    #[error("filters: must have at most 50 conditions")]
    TooManyConditions,
    /// 400: a date filter is not a date, or begins after its end (C-8, C-43).
    #[error("{0}: {1}")]
    Date(&'static str, BadDate),
    /// 400: `modifiedSince` is not RFC 3339 (C-99).
    #[error("modifiedSince: must be RFC 3339, such as 2026-11-21T12:00:00Z")]
    ModifiedSince,
}

impl<E: Into<RequestError>> From<E> for OpportunityError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl<E: Into<RequestError>> From<E> for ListError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl IntoResponse for OpportunityError {
    fn into_response(self) -> Response {
        let problem = match self {
            Self::Request(error) => error.into(),
            error => Problem::Invalid(error.to_string()),
        };
        problem.into_response()
    }
}

impl IntoResponse for ListError {
    fn into_response(self) -> Response {
        let problem = match self {
            Self::Request(error) => error.into(),
            Self::Schema(violation) => invalid(&violation),
            error => Problem::Invalid(error.to_string()),
        };
        problem.into_response()
    }
}

fn invalid(violation: &Violation) -> Problem {
    let details = json!({
        "instancePath": violation.instance_path,
        "schemaPath": violation.schema_path,
        "keyword": violation.keyword,
        "params": violation.params,
    });
    let body = json!({ "msg": violation.message, "details": details });
    Problem::Other(StatusCode::BAD_REQUEST, body)
}
