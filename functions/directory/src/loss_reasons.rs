//! `GET /crmlossreason` (C-96).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError, json};
use shared::labels::LossReason;
use shared::store::{Reader, StoreError};

/// All loss reasons.
#[derive(Debug)]
pub struct ListLossReasons;

impl Prefetch for ListLossReasons {
    type Found = Vec<LossReason>;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(_: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.loss_reasons().await
    }
}

/// The loss reasons by id. One round trip for the first 50, one more for each MB.
pub async fn list(request: Authorized<KeyAndToken, AnyUser, ListLossReasons>) -> Response {
    let (_, _, reasons) = request.into_parts();
    json(&reasons)
}
