//! `GET /crmlossreason` (C-96).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError, json};
use shared::labels::LossReason;
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

/// All loss reasons, or a page of them (C-62).
#[derive(Debug)]
pub struct ListLossReasons(ListRequest);

impl Prefetch for ListLossReasons {
    type Found = PrefetchedList;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self(request.params.records()?))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_loss_reasons(&self.0).await
    }
}

/// The loss reasons by id, all or a page of them. One round trip for the first 50, one more for each MB.
pub async fn list(
    request: Authorized<KeyAndToken, AnyUser, ListLossReasons>,
) -> Result<Response, RequestError> {
    let (scope, ListLossReasons(page), start) = request.into_parts();
    let found = scope.store.finish_labels(&scope.viewer, &page, start);
    let found: Vec<LossReason> = found.await.map_err(RequestError::of_page)?;
    Ok(json(&found))
}
