//! `GET /user` (C-97).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{InvalidField, Params, RawRequest, RequestError, json};
use shared::store::{ListRequest, PrefetchedList, Reader, StoreError};

use crate::view::UserView;

/// A page asked for by itself that reads too much (C-86).
const OVER_BUDGET: &str = "page: is too far from the start to be read on its own; read the pages in order";

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
            page: page(&request.params)?,
            active: request.params.flag("noblock")?,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_users(&self.page, self.active).await
    }
}

fn page(params: &Params) -> Result<ListRequest, InvalidField> {
    let limit = params.limit(1000, "must be a whole number from 1 to 1000")?;
    let page = params.whole("page")?;
    Ok(ListRequest { page, limit })
}

/// The users by id, with `noblock=1` the active ones, all or a page of them. One round trip for up to 50 users, one more for
/// each MB, which has about 3,000.
pub async fn list(request: Authorized<KeyAndToken, AnyUser, ListUsers>) -> Result<Response, RequestError> {
    let (scope, query, start) = request.into_parts();
    let users = scope.store.finish_users(&scope.viewer, &query.page, start);
    let users = users.await.map_err(RequestError::over_budget(OVER_BUDGET))?;
    let views: Vec<_> = users.iter().map(UserView::of).collect();
    Ok(json(&views))
}
