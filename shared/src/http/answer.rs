//! The bodies of errors (C-4).

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde_json::{Value, json};

/// How the errors of a group of endpoints look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `{ "error": <text> }`.
    Error,
    /// Endpoint 19: `{ "msg": <text> }`, and its own 401 and 500.
    CallWebhook,
}

/// Why a request is refused, as far as a caller may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// 400, naming the field at fault.
    Invalid(String),
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 413.
    TooLarge,
    /// 500. What happened is in the log.
    Internal,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "Invalid request",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::TooLarge => "Payload too large",
            Self::Internal => "Internal error",
        }
    }
}

impl Shape {
    /// The answer to a refused request.
    #[must_use]
    pub fn answer(self, refusal: &Refusal) -> Response {
        (refusal.status(), Json(self.body(refusal))).into_response()
    }

    fn body(self, refusal: &Refusal) -> Value {
        match (self, refusal) {
            (Self::Error, Refusal::Invalid(details)) => {
                json!({ "error": refusal.text(), "details": details })
            }
            (Self::Error, _) => json!({ "error": refusal.text() }),
            (Self::CallWebhook, Refusal::Unauthorized) => json!({ "msg": "unauthorized" }),
            (Self::CallWebhook, Refusal::Internal) => {
                json!({ "msg": "failed_voip_webhook", "err": "storage" })
            }
            (Self::CallWebhook, _) => json!({ "msg": refusal.text() }),
        }
    }
}
