//! `GET /crmlossreason` (C-96).

use axum::response::Response;
use shared::auth::{DirectoryOnly, KeyAndToken, Keyed};
use shared::http::{RawRequest, RequestError, json};
use shared::labels::LossReason;

/// The loss reasons by id, all or a page of them. One round trip for the first 50, one more for each MB.
pub async fn list(request: Keyed<KeyAndToken, DirectoryOnly>) -> Result<Response, RequestError> {
    let (page, reader, check) = request.parse(RawRequest::records).await?;
    let (scope, start) = check.join(reader.begin_list::<LossReason>((), &page)).await?;
    let found = scope.store.finish_list(&scope.viewer, start);
    let found = found.await.map_err(RequestError::of_page)?;
    Ok(json(&found))
}
