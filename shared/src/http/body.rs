//! Bodies that must be JSON.

use serde_json::Value;

/// The body is not JSON: not UTF-8, not one value, nested from 128 levels on, a lone surrogate or a number beyond a
/// double's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body is not JSON")]
pub struct NotJson;

/// Reads a body as one JSON value. Its content type may be anything or absent (C-6).
///
/// # Errors
/// [`NotJson`] for anything else.
pub fn parse_json(body: &[u8]) -> Result<Value, NotJson> {
    serde_json::from_slice(body).map_err(|_| NotJson)
}
