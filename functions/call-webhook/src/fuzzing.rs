//! Parsing of a call's body without a table, for fuzzing.

use http::HeaderMap;
use shared::call::Call;
use shared::form::{Form, Submitted};
use shared::http::RawRequest;
use shared::ids::{CallId, UserId};
use shared::time::Timestamp;

use crate::submission::Submission;
use crate::wire;

/// The record of a body. The values that need a table (id, lead, time) are constants.
///
/// # Errors
/// The text of the error, as it is logged.
pub fn read(headers: &HeaderMap, body: &[u8]) -> Result<Call, String> {
    let first = CallId::new(1).zip(UserId::new(1));
    let ((id, user), now) = first.zip(Timestamp::from_unix_millis(0)).ok_or("1 is an id")?;
    let mut request = RawRequest::new("", now);
    request.headers = headers.clone();
    let key = request.idempotency_key().map_err(|error| error.to_string())?;
    let call = wire::read(key, body).map_err(|error| error.to_string())?;
    Ok(call.record(id, call.user.unwrap_or(user), None, now))
}

/// The values of a submission that would reach the lead.
///
/// # Errors
/// The text of the error, as it is logged.
pub fn submitted(query: &str, body: &[u8], form: &Form) -> Result<Submitted, String> {
    let now = Timestamp::from_unix_millis(0).ok_or("0 is a time")?;
    let mut request = RawRequest::new(query, now);
    request.body = body.to_vec().into();
    let submission = Submission::read(&request).map_err(|error| error.to_string())?;
    submission.accepted(form).map_err(|error| error.to_string())
}
