//! `GET /crm`: endpoint 9.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use shared::auth::{DirectoryOnly, KeyInQuery, Keyed};
use shared::funnel::Funnel;
use shared::http::{RawRequest, RequestError};

use crate::view::FunnelView;

/// The visible funnels by id, all or a page of them, each with its columns in order and its custom fields (C-34). One
/// round trip for the first 50, one more for each MB.
pub async fn list(request: Keyed<KeyInQuery, DirectoryOnly>) -> Result<Response, RequestError> {
    let (page, reader, check) = request.parse(RawRequest::records).await?;
    let (scope, start) = check.join(reader.begin_list::<Funnel>((), &page)).await?;
    let found = scope.store.finish_list(&scope.viewer, start);
    let found = found.await.map_err(RequestError::of_page)?;
    let shown: Vec<_> = found.iter().map(FunnelView::of).collect();
    Ok(Json(shown).into_response())
}
