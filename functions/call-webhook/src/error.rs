//! What can be wrong with a call's record, and the answer to each (spec.md, Errors; C-1, C-70).

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::http::{BadIdempotencyKey, NotJson, Refusal, Shape};
use shared::schema::Violation;
use shared::scope::AccessError;
use shared::store::StoreError;

/// Why a call is not recorded.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Not let in: 400 for `i`, 401 for the secret.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the header `Idempotency-Key` cannot be one (C-10).
    #[error(transparent)]
    Key(#[from] BadIdempotencyKey),
    /// 422: the same key came with another body within 24 hours (C-10).
    #[error("the key was used with another body")]
    OtherBody,
    /// 400: the body is not JSON.
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// 400: the body breaks the schema.
    #[error("{} {}", .0.instance_path, .0.message)]
    Body(Box<Violation>),
    /// 400: no user of the instance has the id `data.user`.
    #[error("no such user")]
    User,
    /// 500: the call may or may not have been stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for CallError {
    fn into_response(self) -> Response {
        match &self {
            Self::Access(AccessError::Instance) => invalid("", "required", "must have required property 'i'"),
            Self::Access(error) => Shape::CallWebhook.answer(&Refusal::from(error)),
            Self::Key(error) => invalid("", "header", &error.to_string()),
            Self::OtherBody => Shape::CallWebhook.answer(&Refusal::Mismatch),
            Self::NotJson(_) => invalid("", "parse", "must be JSON"),
            Self::Body(violation) => invalid(&violation.instance_path, violation.keyword, &violation.message),
            Self::User => invalid("/data/user", "exists", "must be the id of an existing user"),
            Self::Store(cause) => {
                tracing::error!(%cause, "a call could not be recorded");
                Shape::CallWebhook.answer(&Refusal::Internal)
            }
        }
    }
}

fn invalid(instance_path: &str, keyword: &str, message: &str) -> Response {
    let err = json!({ "instancePath": instance_path, "keyword": keyword, "message": message });
    (
        StatusCode::BAD_REQUEST,
        Json(json!({ "msg": "invalid_body", "err": err })),
    )
        .into_response()
}
