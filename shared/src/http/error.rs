//! The errors that all endpoints share, and their mapping to a [`Problem`].

use std::borrow::Cow;
use std::fmt;

use axum::response::{IntoResponse, Response};

use super::Problem;
use super::query::selection::SelectionError;
use crate::store::StoreError;
use crate::telemetry::request;

const OVERSIZE: &str = "body: the record, or an item that counts or lists it, would be larger than 400 KB";
const FAR_PAGE: &str = "page: is too far from the start to be read on its own; read the pages in order";

/// The body is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    /// Invalid syntax, several values or more than 127 levels.
    #[error("must be JSON")]
    Syntax,
    /// Another encoding. Contains the position of the first byte at fault, from 1.
    #[error("must be JSON in UTF-8 (byte {0} is not)")]
    Encoding(usize),
    /// Compressed bytes.
    #[error("must be JSON that is not compressed")]
    Compressed,
}

/// A malformed `Idempotency-Key`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Idempotency-Key: must be 1 to 255 visible ASCII characters, once")]
pub struct BadIdempotencyKey;

/// 400: a parameter of the query or a field of the body breaks its rule. The first text names the parameter or field,
/// the second is the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: {1}")]
pub struct InvalidField(pub Cow<'static, str>, pub &'static str);

impl InvalidField {
    /// The rule of every id.
    pub const MUST_BE_ID: &str = "must be a whole number from 1 to 999999999999999";

    /// The field `name` breaks `rule`.
    pub fn new(name: impl Into<Cow<'static, str>>, rule: &'static str) -> Self {
        Self(name.into(), rule)
    }
}

/// The reasons for refusing a request that all endpoints share. The error type of an endpoint adds its own reasons.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// 400: `i` is missing, blank or repeated (C-1).
    #[error("i: must name the instance, once")]
    Instance,
    /// 401: the credentials do not belong to the instance `i`, are not valid, or the instance does not exist.
    #[error("unauthorized")]
    Unauthorized,
    /// 401: a credential is absent, or in another place than the endpoint's. The text names the right place. It depends
    /// on the request alone, so it reveals nothing of instances and keys (C-103).
    #[error("{0}")]
    Misplaced(String),
    /// 429: the credentials are good, but their limit is reached (C-9).
    #[error("too many requests")]
    Limited,
    /// 403, or 400 if spec.md has no 403 for the endpoint: the user's group lacks this permission (C-82).
    #[error("{0}: the user does not have this permission")]
    Permission(&'static str),
    /// 404: the record does not exist, or the user may not see it.
    #[error("not found")]
    NotFound,
    /// 400: an invalid parameter or field.
    #[error(transparent)]
    Field(#[from] InvalidField),
    /// 400: an invalid request. The text names the field at fault.
    #[error("{0}")]
    Invalid(String),
    /// 400: `query` breaks a rule of C-22.
    #[error("query: {0}")]
    Selection(#[from] SelectionError),
    /// 400: malformed `Idempotency-Key` (C-10).
    #[error(transparent)]
    IdempotencyKey(#[from] BadIdempotencyKey),
    /// 422: the `Idempotency-Key` came with another body within 24 hours (C-10).
    #[error("the key was used with another body")]
    IdempotencyMismatch,
    /// 400: the body is not JSON.
    #[error("body: {0}")]
    NotJson(#[from] NotJson),
    /// 500: the table failed. 503: conflicts with concurrent requests exceeded the retries. 400: an item would exceed
    /// 400 KB. Only the log contains the cause.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RequestError {
    /// 400 with the text of a domain rule, which names the field at fault.
    pub fn invalid(details: impl fmt::Display) -> Self {
        Self::Invalid(details.to_string())
    }

    /// Maps a failed read of a page of a list (C-62). A page far from the start may exceed the setting `read_budget`
    /// (C-86).
    #[must_use]
    pub fn of_page(error: StoreError) -> Self {
        Self::over_budget(FAR_PAGE)(error)
    }

    /// Maps a failed read. A read that exceeds the setting `read_budget` is a 400 with `advice` on how to ask for less
    /// (C-86).
    pub fn over_budget(advice: &'static str) -> impl FnOnce(StoreError) -> Self {
        move |error| match error {
            StoreError::OverBudget => Self::Invalid(advice.to_owned()),
            error => Self::Store(error),
        }
    }
}

impl From<RequestError> for Problem {
    fn from(error: RequestError) -> Self {
        match &error {
            RequestError::Instance => request::refuse("i: must name the instance, once"),
            // A borrowed name is a constant of this program, so the log may contain it.
            RequestError::Field(InvalidField(Cow::Borrowed(name), rule)) => {
                request::refuse(format!("{name}: {rule}"));
            }
            _ => {}
        }
        match &error {
            RequestError::Unauthorized => Self::Unauthorized,
            RequestError::Misplaced(_) => Self::Misplaced(error.to_string()),
            RequestError::Limited => Self::TooMany,
            RequestError::Permission(_) => Self::Forbidden(error.to_string()),
            RequestError::NotFound => Self::NotFound,
            RequestError::IdempotencyMismatch => Self::Mismatch,
            // A retry would fail too, so this is an error of the request (C-89).
            RequestError::Store(cause) if cause.is_oversize() => {
                tracing::warn!(%cause, "the request is refused");
                Self::Invalid(OVERSIZE.to_owned())
            }
            RequestError::Store(cause @ (StoreError::Busy(_) | StoreError::Contention(_))) => {
                tracing::error!(%cause, "the request failed");
                Self::Busy
            }
            RequestError::Store(cause) => {
                tracing::error!(%cause, "the request failed");
                Self::Internal
            }
            RequestError::Instance
            | RequestError::Field(_)
            | RequestError::Invalid(_)
            | RequestError::Selection(_)
            | RequestError::IdempotencyKey(_)
            | RequestError::NotJson(_) => Self::Invalid(error.to_string()),
        }
    }
}

impl IntoResponse for RequestError {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}
