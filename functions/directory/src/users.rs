//! `GET /user` (C-97).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError, json};
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

use crate::view::UserView;

/// All users, or a page of them.
#[derive(Debug)]
pub struct ListUsers {
    page: ListRequest,
    active: bool,
}

impl Prefetch for ListUsers {
    type Found = PrefetchedList;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self {
            page: request.params.records()?,
            active: request.params.flag("noblock")?,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_users(&self.page, self.active).await
    }
}

/// The users by id, all or a page of them. `noblock=1` selects the active ones. One round trip for up to 50 users; one
/// more for each MB, which contains about 3,000 users.
pub async fn list(request: Authorized<KeyAndToken, AnyUser, ListUsers>) -> Result<Response, RequestError> {
    let (scope, query, start) = request.into_parts();
    let users = scope.store.finish_users(&scope.viewer, &query.page, start);
    let users = users.await.map_err(RequestError::of_page)?;
    let views: Vec<_> = users.iter().map(UserView::of).collect();
    Ok(json(&views))
}
