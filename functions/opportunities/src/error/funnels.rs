//! Endpoint 9.

use axum::response::{IntoResponse, Response};
use shared::http::{Refusal, Shape};
use shared::scope::AccessError;
use shared::store::StoreError;

use super::internal;

/// Why the funnels are not listed.
#[derive(Debug, thiserror::Error)]
pub enum FunnelsError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for FunnelsError {
    fn into_response(self) -> Response {
        Shape::Error.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Store(cause) => internal(cause, "the funnels could not be read"),
        })
    }
}
