//! `GET /crm`: endpoint 9.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use shared::auth::{AnyUser, Authorized, KeyInQuery, Prefetch};
use shared::funnel::Funnel;
use shared::http::{RawRequest, RequestError};
use shared::store::{Reader, StoreError};

use crate::view::FunnelView;

/// All funnels.
#[derive(Debug)]
pub struct ListFunnels;

impl Prefetch for ListFunnels {
    type Found = Vec<Funnel>;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(_: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.funnels().await
    }
}

/// The visible funnels by id, each with its columns in order and its custom fields (C-34). One round trip.
pub async fn list(request: Authorized<KeyInQuery, AnyUser, ListFunnels>) -> Response {
    let (scope, _, mut found) = request.into_parts();
    found.retain(|funnel| scope.viewer.sees_funnel(&funnel.access));
    let shown: Vec<_> = found.iter().map(FunnelView::of).collect();
    Json(shown).into_response()
}
