//! `GET /me` (C-113).

use axum::response::Response;
use serde_json::json;
use shared::auth::{DirectoryOnly, KeyAndToken, Keyed};
use shared::http::{RequestError, json};

/// The caller's user and permissions, the end of its credentials, and what a client needs to know of the instance. Two
/// round trips, because only the credentials name the user.
pub async fn show(request: Keyed<KeyAndToken, DirectoryOnly>) -> Result<Response, RequestError> {
    let (_, check) = request.without_query().await?;
    let (scope, ()) = check.join(async { Ok(()) }).await?;
    let user = scope.store.reader().user(scope.viewer.user()).await?;
    let settings = &scope.viewer.directory().settings;
    Ok(json(&json!({ "data": {
        "instance": scope.instance(),
        "timezone": settings.timezone().unwrap_or("UTC"),
        "currency": settings.currency(),
        "pageBase": settings.page_base(),
        "expires": { "key": scope.key_expires, "token": scope.token_expires },
        "user": {
            "id": scope.viewer.user(),
            "name": user.as_ref().map(|user| &user.name),
            "lastName": user.as_ref().and_then(|user| user.last_name.as_ref()),
            "admin": scope.viewer.is_admin(),
        },
        "permissions": scope.viewer.permissions(),
    } })))
}
