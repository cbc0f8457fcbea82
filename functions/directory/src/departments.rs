//! `GET /departament` (C-97).

use axum::response::Response;
use shared::auth::{AnyUser, Authorized, KeyAndToken, Prefetch};
use shared::http::{RawRequest, RequestError, json};
use shared::store::{DepartmentList, Reader, StoreError};

use crate::view::department_views;

/// All departments.
#[derive(Debug)]
pub struct ListDepartments;

impl Prefetch for ListDepartments {
    type Found = DepartmentList;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(_: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.departments().await
    }
}

/// The departments by id, each below its parent, with the ids of their users. One round trip for up to 50 items of
/// members; one more for each MB. An item contains the members of one department within a range of a thousand ids.
pub async fn list(
    request: Authorized<KeyAndToken, AnyUser, ListDepartments>,
) -> Result<Response, RequestError> {
    let (scope, _, list) = request.into_parts();
    let directory = scope.viewer.directory();
    let list = scope.store.reader().complete_departments(directory, list).await?;
    Ok(json(&department_views(directory, &list)))
}
