//! `POST /voip/webhook`: endpoint 19.

use axum::Json;
use axum::body::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use shared::scope::WebhookAccess;
use shared::store::Reader;

use crate::error::CallError;
use crate::history::{self, Seen};
use crate::wire::NewCall;

/// Records a completed call. Two round trips for a known lead: the second writes call, event and lead together.
pub async fn record(access: WebhookAccess, body: Bytes) -> Result<(StatusCode, Json<Value>), CallError> {
    let (scope, call, seen) = access
        .open_for(NewCall::read(&body), async |reader: &Reader, call: &NewCall| {
            Seen::read(reader, call).await
        })
        .await?;
    let user = call
        .user
        .filter(|user| scope.directory.users.contains_key(user))
        .ok_or(CallError::User)?;
    let id = history::write(&scope, &call, user, seen?).await?;
    Ok((StatusCode::CREATED, Json(json!({ "msg": "created", "id": id }))))
}
