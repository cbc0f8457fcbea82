//! What endpoint 13 and the free times refuse (spec.md, Errors; C-1, C-53 to C-55). No answer reveals which instances,
//! leads or meetings exist, beyond CL006 and CL008.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::calendar::Unavailable;
use shared::http::{Problem, RequestError};

/// Why nothing is booked, or no free times are shown.
#[derive(Debug, thiserror::Error)]
pub enum BookingError {
    /// What every endpoint may answer; CL006 for an instance that does not exist.
    #[error(transparent)]
    Request(RequestError),
    /// CL006: no active calendar of the instance has this link.
    #[error("the calendar does not belong to the instance or is not active")]
    NoCalendar,
    /// CL008: the lead does not exist.
    #[error("the lead does not exist or does not belong to the instance")]
    NoLead,
    /// 400: the id or the key is not that of a meeting on this calendar. The answer does not say which (C-55).
    #[error("rescheduleKey")]
    RescheduleKey,
    /// 409: there can be no meeting then.
    #[error("{0}")]
    Slot(Unavailable),
}

impl<E: Into<RequestError>> From<E> for BookingError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl IntoResponse for BookingError {
    fn into_response(self) -> Response {
        let (status, code) = match self {
            Self::Request(RequestError::Unauthorized) => return Self::NoCalendar.into_response(),
            Self::Request(error) => return error.into_response(),
            Self::RescheduleKey => return Problem::Invalid(self.to_string()).into_response(),
            Self::NoCalendar => (StatusCode::BAD_REQUEST, "CL006"),
            Self::NoLead => (StatusCode::BAD_REQUEST, "CL008"),
            Self::Slot(_) => (StatusCode::CONFLICT, "slot_unavailable"),
        };
        Problem::Other(status, json!({ "error": code, "msg": self.to_string() })).into_response()
    }
}
