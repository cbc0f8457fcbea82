//! `GET /tags` (C-98).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError, json};
use shared::labels::Tag;
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

/// All tags, or a page of them (C-62).
#[derive(Debug)]
pub struct ListTags(ListRequest);

impl Prefetch for ListTags {
    type Found = PrefetchedList;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self(request.params.records()?))
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_tags(&self.0).await
    }
}

/// The tags by id, all or a page of them. One round trip for the first 50, one more for each MB.
pub async fn list(request: Authorized<KeyAndToken, AnyUser, ListTags>) -> Result<Response, RequestError> {
    let (scope, ListTags(page), start) = request.into_parts();
    let found = scope.store.finish_labels(&scope.viewer, &page, start);
    let found: Vec<Tag> = found.await.map_err(RequestError::of_page)?;
    Ok(json(&found))
}
