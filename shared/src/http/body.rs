//! Bodies that must be JSON.

use serde_json::Value;

use crate::json;

/// The body is not JSON: not UTF-8, not one value, nested from 128 levels on, or with a lone surrogate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body is not JSON")]
pub struct NotJson;

/// Reads a body as one JSON value. Its content type may be anything or absent (C-6), and it may begin with a byte order mark.
/// A number that cannot be kept as it is is none that any field takes ([`json::inexact`]).
///
/// # Errors
/// [`NotJson`] for anything else.
pub fn parse_json(body: &[u8]) -> Result<Value, NotJson> {
    json::parse(body).map_err(|_| NotJson)
}

/// The same for a body that a schema judges, whose numbers are JavaScript's (C-41, C-70).
///
/// # Errors
/// [`NotJson`] for anything else.
pub fn parse_json_doubles(body: &[u8]) -> Result<Value, NotJson> {
    json::parse_doubles(body).map_err(|_| NotJson)
}
