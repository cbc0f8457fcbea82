//! Endpoints 11 and 12 (C-4, C-50, C-51, C-82).

use axum::response::{IntoResponse, Response};
use shared::http::{BadParameter, Refusal, Shape};
use shared::scope::AccessError;
use shared::selection::SelectionError;
use shared::store::StoreError;

use super::internal;

/// Why calendars or meetings are not shown.
#[derive(Debug, thiserror::Error)]
pub enum CalendarError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the path names neither an id nor a `publicId`.
    #[error("calendar_id: must be an id or a publicId: 1 to 64 characters of A-Z, a-z, 0-9, _ and -")]
    Id,
    /// 400: a parameter has a value it does not take.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// 400: `query` selects what cannot be selected.
    #[error("query: {0}")]
    Selection(#[from] SelectionError),
    /// 403: the key's group does not see calendars.
    #[error("calendars: the user does not have this permission")]
    Permission,
    /// 404: there is no such calendar.
    #[error("no such calendar")]
    NotFound,
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for CalendarError {
    fn into_response(self) -> Response {
        Shape::Error.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Id | Self::Parameter(_) | Self::Selection(_) => Refusal::Invalid(self.to_string()),
            Self::Permission => Refusal::Forbidden,
            Self::NotFound => Refusal::NotFound,
            Self::Store(cause) => internal(cause, "calendars could not be read"),
        })
    }
}
