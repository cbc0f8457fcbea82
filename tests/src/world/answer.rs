//! What the service answered.

use axum::body::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use shared::store::Cost;

/// An answer that was not looked into.
#[derive(Debug)]
pub struct Raw {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub text: Bytes,
    /// What the request cost.
    pub cost: Cost,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body: JSON, null where there is none, or the text of a page.
    pub body: Value,
    /// What the request cost.
    pub cost: Cost,
}

impl Answer {
    /// Requires a status and a body.
    #[track_caller]
    pub fn is(&self, status: u16, body: &Value) {
        assert_eq!((self.status.as_u16(), &self.body), (status, body));
    }
}
