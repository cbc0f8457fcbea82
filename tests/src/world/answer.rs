//! Responses of the service.

use std::io::Read as _;

use axum::body::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use shared::store::Cost;

/// A response that was not parsed.
#[derive(Debug)]
pub struct Raw {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub text: Bytes,
    /// Cost of the request.
    pub cost: Cost,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body: JSON, null if empty, or the text of a page.
    pub body: Value,
    /// Cost of the request.
    pub cost: Cost,
}

impl Answer {
    /// Requires a status and a body.
    #[track_caller]
    pub fn is(&self, status: u16, body: &Value) {
        assert_eq!((self.status.as_u16(), &self.body), (status, body));
    }
}

/// The text of a body in gzip (C-103).
///
/// # Panics
/// If it is anything else.
pub fn unpacked(body: &[u8]) -> String {
    let mut text = String::new();
    let read = GzDecoder::new(body).read_to_string(&mut text);
    read.expect("gzip of UTF-8");
    text
}
