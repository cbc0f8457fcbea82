//! `POST /voip/webhook`: endpoint 19.

use axum::Json;
use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};
use serde_json::json;
use shared::scope::WebhookAccess;
use shared::store::{Claimed, Reader, StoreError};

use crate::error::CallError;
use crate::history::{self, Seen, Written};
use crate::wire::NewCall;

/// Records a completed call. Two round trips for a known lead: the second writes call, event and lead together.
pub async fn record(access: WebhookAccess, headers: HeaderMap, body: Bytes) -> Result<Response, CallError> {
    let wanted = NewCall::read(&headers, &body);
    let (scope, call, seen) = access
        .open_for(wanted, async |reader: &Reader, call: &NewCall| {
            Seen::read(reader, call).await
        })
        .await?;
    let seen = seen?;
    if let Some(answer) = answered(seen.claimed)? {
        return Ok(answer);
    }
    let user = call
        .user
        .filter(|user| seen.users.contains(user))
        .ok_or(CallError::User)?;
    match history::write(&scope, &call, user, seen).await? {
        Written::Done(id) => Ok(created(id.get())),
        Written::Claimed(claimed) => {
            let answer = answered(claimed)?;
            answer.ok_or(StoreError::Contention("claiming a key").into())
        }
    }
}

/// The answer to a request that came before: all that it says is the call's id (C-10); `None` for a new one.
fn answered(claimed: Claimed) -> Result<Option<Response>, CallError> {
    match claimed {
        Claimed::Free => Ok(None),
        Claimed::Other => Err(CallError::OtherBody),
        Claimed::Done(id) => {
            let replayed = [("idempotent-replayed", "true")];
            Ok(Some((replayed, created(id)).into_response()))
        }
    }
}

fn created(id: u64) -> Response {
    let body = json!({ "msg": "created", "id": id });
    (StatusCode::CREATED, Json(body)).into_response()
}
