//! Endpoint 13 and the free times (spec.md, Errors; C-1, C-53 to C-55). What is answered tells nobody which instances,
//! leads or meetings there are, beyond what CL006 and CL008 do.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::calendar::Unavailable;
use shared::http::{BadIdempotencyKey, BadParameter, NotJson, Refusal, Shape};
use shared::scope::AccessError;
use shared::store::StoreError;

use super::internal;

/// Why nothing is booked, or no free times are told.
#[derive(Debug, thiserror::Error)]
pub enum BookingError {
    /// 400 for `i`; CL006 for an instance that does not exist.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the header `Idempotency-Key` cannot be one (C-10).
    #[error(transparent)]
    Key(#[from] BadIdempotencyKey),
    /// 422: the same key came with another body within 24 hours (C-10).
    #[error("the key was used with another body")]
    OtherBody,
    /// 400: the body is not JSON.
    #[error("body: must be JSON")]
    NotJson,
    /// 400: the body is JSON, but no object.
    #[error("body: must be a JSON object")]
    NotObject,
    /// 400: a parameter has a value it does not take.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// 400: a field is absent, or does not hold what it must.
    #[error("{0}: {1}")]
    Field(String, &'static str),
    /// CL006: no active calendar of the instance has this link.
    #[error("the calendar does not belong to the instance or is not active")]
    NoCalendar,
    /// CL008: there is no such lead.
    #[error("the lead does not exist or does not belong to the instance")]
    NoLead,
    /// 400: the opportunity is not one of the lead's.
    #[error("opportunityId: must be an opportunity of the lead, and null for a new one")]
    Opportunity,
    /// 400: the id or the key is not that of a meeting on this calendar. Which of them is wrong is not told (C-55).
    #[error("rescheduleKey")]
    RescheduleKey,
    /// 400: the meeting was moved as often as one can be (C-54).
    #[error("rescheduleMeetingId: a meeting can be moved 20 times")]
    MovedOut,
    /// 409: there can be no meeting then.
    #[error(transparent)]
    Slot(#[from] Unavailable),
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BookingError {
    /// What is wrong with a field.
    pub fn field(name: impl Into<String>, must: &'static str) -> Self {
        Self::Field(name.into(), must)
    }
}

impl From<NotJson> for BookingError {
    fn from(_: NotJson) -> Self {
        Self::NotJson
    }
}

impl IntoResponse for BookingError {
    fn into_response(self) -> Response {
        let refusal = match &self {
            Self::Access(AccessError::Unauthorized) => return Self::NoCalendar.into_response(),
            Self::NoCalendar => return coded(StatusCode::BAD_REQUEST, "CL006", &self),
            Self::NoLead => return coded(StatusCode::BAD_REQUEST, "CL008", &self),
            Self::Slot(_) => return coded(StatusCode::CONFLICT, "slot_unavailable", &self),
            Self::Access(error) => Refusal::from(error),
            Self::OtherBody => Refusal::Mismatch,
            Self::Key(_)
            | Self::NotJson
            | Self::NotObject
            | Self::Parameter(_)
            | Self::Field(..)
            | Self::Opportunity
            | Self::RescheduleKey
            | Self::MovedOut => Refusal::Invalid(self.to_string()),
            Self::Store(cause) => internal(cause, "a meeting could not be booked"),
        };
        Shape::Error.answer(&refusal)
    }
}

/// An answer with a code of its own.
fn coded(status: StatusCode, code: &str, error: &BookingError) -> Response {
    let body = json!({ "error": code, "msg": error.to_string() });
    (status, Json(body)).into_response()
}
