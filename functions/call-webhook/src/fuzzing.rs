//! A call's body, read without a table.

use http::HeaderMap;
use shared::call::Call;
use shared::http::RawRequest;
use shared::ids::{CallId, UserId};
use shared::time::Timestamp;

use crate::wire;

/// The record that a body would become. The values that need a table (id, lead, time) are constants.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read(headers: &HeaderMap, body: &[u8]) -> Result<Call, String> {
    let first = CallId::new(1).zip(UserId::new(1));
    let ((id, user), now) = first.zip(Timestamp::from_unix_millis(0)).ok_or("1 is an id")?;
    let mut request = RawRequest::new("", now);
    request.headers = headers.clone();
    let key = request.idempotency_key().map_err(|error| error.to_string())?;
    let call = wire::read(key, body).map_err(|error| error.to_string())?;
    Ok(call.record(id, call.user.unwrap_or(user), None, now))
}
