//! `GET /departament` (C-97).

use axum::response::Response;
use shared::auth::{DirectoryOnly, KeyAndToken, Keyed};
use shared::http::{RequestError, json};

use crate::view::department_views;

/// The departments by id, each below its parent, with the ids of their users. One round trip for up to 50 items of
/// members; one more for each MB. An item contains the members of one department within a range of a thousand ids.
pub async fn list(request: Keyed<KeyAndToken, DirectoryOnly>) -> Result<Response, RequestError> {
    let (reader, check) = request.without_query().await?;
    let (scope, list) = check.join(reader.departments()).await?;
    let directory = scope.viewer.directory();
    let list = scope.store.reader().complete_departments(directory, list).await?;
    Ok(json(&department_views(directory, &list)))
}
