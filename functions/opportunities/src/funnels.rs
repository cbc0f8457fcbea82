//! `GET /crm`: endpoint 9.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use shared::auth::{AnyUser, Authorized, KeyInQuery, Prefetch};
use shared::http::{RawRequest, RequestError};
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

use crate::view::FunnelView;

/// All funnels, or a page of them (C-62).
#[derive(Debug)]
pub struct ListFunnels(ListRequest);

impl Prefetch for ListFunnels {
    type Found = PrefetchedList;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self(request.params.records()?))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_funnels(&self.0).await
    }
}

/// The visible funnels by id, all or a page of them, each with its columns in order and its custom fields (C-34). One
/// round trip for the first 50, one more for each MB.
pub async fn list(request: Authorized<KeyInQuery, AnyUser, ListFunnels>) -> Result<Response, RequestError> {
    let (scope, ListFunnels(page), start) = request.into_parts();
    let found = scope.store.finish_funnels(&scope.viewer, &page, start);
    let found = found.await.map_err(RequestError::of_page)?;
    let shown: Vec<_> = found.iter().map(FunnelView::of).collect();
    Ok(Json(shown).into_response())
}
