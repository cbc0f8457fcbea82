//! Errors of endpoint 13 and of the free times (spec.md, Errors; C-1, C-53 to C-55). Apart from CL006 and CL008 no
//! response reveals which instances, leads or meetings exist.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::calendar::Unavailable;
use shared::http::{Problem, RequestError};
use shared::meeting::Closed;

/// Error of a booking or of a list of free times.
#[derive(Debug, thiserror::Error)]
pub enum BookingError {
    /// Errors common to all endpoints.
    #[error(transparent)]
    Request(RequestError),
    /// CL006: no active calendar of the instance has this link.
    #[error("the calendar does not belong to the instance or is not active")]
    NoCalendar,
    /// CL008: the lead does not exist.
    #[error("the lead does not exist or does not belong to the instance")]
    NoLead,
    /// 400: id or key do not match a meeting of this calendar. The response does not state which one (C-55).
    #[error("rescheduleKey")]
    RescheduleKey,
    /// 400: the meeting was cancelled or has begun (C-55).
    #[error("{0}")]
    Closed(Closed),
    /// 409: the time is not available.
    #[error("{0}")]
    Slot(Unavailable),
}

impl BookingError {
    /// The error of a request to an unknown instance or link: 400 `rescheduleKey` if it changes a meeting, else CL006.
    pub fn unknown(is_change: bool) -> Self {
        if is_change {
            Self::RescheduleKey
        } else {
            Self::NoCalendar
        }
    }

    /// The error of a refused request. An unknown instance is one without the link (C-1).
    pub fn refused(error: RequestError, is_change: bool) -> Self {
        match error {
            RequestError::Unauthorized => Self::unknown(is_change),
            error => Self::Request(error),
        }
    }
}

impl<E: Into<RequestError>> From<E> for BookingError {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

impl IntoResponse for BookingError {
    fn into_response(self) -> Response {
        let (status, code) = match self {
            Self::Request(error) => return error.into_response(),
            Self::RescheduleKey | Self::Closed(_) => {
                return Problem::Invalid(self.to_string()).into_response();
            }
            Self::NoCalendar => (StatusCode::BAD_REQUEST, "CL006"),
            Self::NoLead => (StatusCode::BAD_REQUEST, "CL008"),
            Self::Slot(_) => (StatusCode::CONFLICT, "slot_unavailable"),
        };
        Problem::Other(status, json!({ "error": code, "msg": self.to_string() })).into_response()
    }
}
