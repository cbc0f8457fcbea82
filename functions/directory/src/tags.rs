//! `GET /tags` (C-98).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError, json};
use shared::labels::Tag;
use shared::store::{Reader, StoreError};

/// All tags.
#[derive(Debug)]
pub struct ListTags;

impl Prefetch for ListTags {
    type Found = Vec<Tag>;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(_: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.tags().await
    }
}

/// The tags by id. One round trip for the first 50, one more for each MB.
pub async fn list(request: Authorized<KeyAndToken, AnyUser, ListTags>) -> Response {
    let (_, _, tags) = request.into_parts();
    json(&tags)
}
