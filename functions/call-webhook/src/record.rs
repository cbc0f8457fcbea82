//! `POST /voip/webhook`: endpoint 19.

use axum::Json;
use http::StatusCode;
use serde_json::{Value, json};
use shared::auth::Signed;
use shared::http::{Idempotent, RawRequest, replayed};
use shared::store::{RecordedCall, StoreError};

use crate::error::CallError;
use crate::wire;

/// Records a completed call. Two round trips for a known lead; the second writes call, event and lead in one
/// transaction.
pub async fn record(request: Signed) -> Result<Idempotent<(StatusCode, Json<Value>)>, CallError> {
    let call = |request: &RawRequest| wire::read(request.idempotency_key()?, &request.body);
    let (call, reader, check) = request.parse(call).await?;
    let (scope, found) = check.join(reader.begin_call(&call)).await?;
    if let Some(id) = replayed(found.claimed)? {
        return Ok(Idempotent::Replayed(created(id)));
    }
    let user = found.user.ok_or(CallError::User)?;
    match scope.store.record_call(&call, user, found).await? {
        RecordedCall::Made(id) => Ok(Idempotent::Made(created(id.get()))),
        RecordedCall::Claimed(claimed) => {
            let id = replayed(claimed)?.ok_or(StoreError::Contention("claiming a key"))?;
            Ok(Idempotent::Replayed(created(id)))
        }
    }
}

fn created(id: u64) -> (StatusCode, Json<Value>) {
    (StatusCode::CREATED, Json(json!({ "msg": "created", "id": id })))
}
