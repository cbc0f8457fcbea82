//! Errors of endpoint 19 (spec.md, Errors; C-1, C-70). Each 400 has the form of an AJV error.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::http::query::json_schema::Violation;
use shared::http::{Problem, RequestError};

/// Error of an unrecorded call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Errors common to all endpoints. After a 500 the call may or may not be stored.
    #[error(transparent)]
    Request(RequestError),
    /// 400: the body violates the schema.
    #[error("{} {}", .0.instance_path, .0.message)]
    Schema(Box<Violation>),
    /// 400: `data.user` is not the id of a user.
    #[error("no such user")]
    User,
}

impl<E: Into<RequestError>> From<E> for CallError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl IntoResponse for CallError {
    fn into_response(self) -> Response {
        let problem = match self {
            Self::Request(RequestError::Instance) => {
                invalid("", "required", "must have required property 'i'")
            }
            Self::Request(RequestError::IdempotencyKey(error)) => invalid("", "header", &error.to_string()),
            Self::Request(RequestError::NotJson(error)) => invalid("", "parse", &error.to_string()),
            Self::Request(error) => match Problem::from(error) {
                // An item would be larger than DynamoDB's limit (C-89).
                Problem::Invalid(details) => invalid("", "size", details.trim_start_matches("body: ")),
                problem => problem,
            },
            Self::Schema(violation) => {
                invalid(&violation.instance_path, violation.keyword, &violation.message)
            }
            Self::User => invalid("/data/user", "exists", "must be the id of an existing user"),
        };
        problem.into_response()
    }
}

fn invalid(instance_path: &str, keyword: &str, message: &str) -> Problem {
    let err = json!({ "instancePath": instance_path, "keyword": keyword, "message": message });
    Problem::Other(
        StatusCode::BAD_REQUEST,
        json!({ "msg": "invalid_body", "err": err }),
    )
}
