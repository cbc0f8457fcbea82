//! Endpoint 7: every error is `{ "msg": <text> }` (C-4).

use axum::response::{IntoResponse, Response};
use shared::http::{BadIdempotencyKey, Refusal, Shape};
use shared::scope::AccessError;
use shared::store::StoreError;

use super::{Breach, internal};

/// Why no opportunity is made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the header `Idempotency-Key` cannot be one (C-10).
    #[error(transparent)]
    Key(#[from] BadIdempotencyKey),
    /// 422: the same key came with another body within 24 hours (C-10).
    #[error("the key was used with another body")]
    OtherBody,
    /// 400: an equal request made an opportunity that the key would not read through endpoint 8 any more, or that is not
    /// there.
    #[error("the opportunity of this key is gone")]
    Gone,
    /// 400: the key's group may not edit opportunities (C-82).
    #[error("editOpportunities: the user does not have this permission")]
    Permission,
    /// 400: the body, or the funnel that it is for.
    #[error(transparent)]
    Breach(#[from] Breach),
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for CreateError {
    fn into_response(self) -> Response {
        Shape::Message.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::OtherBody => Refusal::Mismatch,
            Self::Key(_) | Self::Gone | Self::Permission | Self::Breach(_) => {
                Refusal::Invalid(self.to_string())
            }
            Self::Store(cause) => internal(cause, "an opportunity could not be created"),
        })
    }
}
