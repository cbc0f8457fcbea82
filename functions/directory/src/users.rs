//! `GET /user` (C-97).

use axum::response::Response;
use shared::auth::{DirectoryOnly, KeyAndToken, Keyed};
use shared::http::{RawRequest, RequestError, json};
use shared::people::User;
use shared::store::ListRequest;

use crate::view::UserView;

/// All users, or a page of them.
#[derive(Debug)]
pub struct ListUsers {
    page: ListRequest,
    active: bool,
}

impl ListUsers {
    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self {
            page: request.params.records()?,
            active: request.params.flag("noblock")?,
        })
    }
}

/// The users by id, all or a page of them. `noblock=1` selects the active ones. One round trip for up to 50 users; one
/// more for each MB, which contains about 3,000 users.
pub async fn list(request: Keyed<KeyAndToken, DirectoryOnly>) -> Result<Response, RequestError> {
    let (query, reader, check) = request.parse(ListUsers::parse).await?;
    let (scope, start) = check
        .join(reader.begin_list::<User>(query.active, &query.page))
        .await?;
    let users = scope.store.finish_list(&scope.viewer, start);
    let users = users.await.map_err(RequestError::of_page)?;
    let views: Vec<_> = users.iter().map(UserView::of).collect();
    Ok(json(&views))
}
