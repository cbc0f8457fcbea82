//! The parts of a request that a query is parsed from.

use axum::body::Bytes;
use axum::extract::{FromRequest as _, FromRequestParts as _, Path, Request};
use http::HeaderMap;

use super::multipart::FilesIgnored;
use super::source::source_address;
use super::{App, BadIdempotencyKey, InvalidField, Params, RequestError, idempotency_key};
use crate::store::ListRequest;
use crate::time::Timestamp;

/// An unparsed request.
pub struct RawRequest {
    /// The query string.
    pub params: Params,
    /// The headers.
    pub headers: HeaderMap,
    /// The parameter in the path. `None` if the route has none or the parameter is not UTF-8.
    pub path: Option<String>,
    /// The body.
    pub body: Bytes,
    /// The number of files of the body that were dropped.
    pub files_ignored: FilesIgnored,
    /// Time of receipt.
    pub now: Timestamp,
    /// Source address, if known.
    pub(crate) source: Option<String>,
}

impl RawRequest {
    /// A request with only a query string.
    #[must_use]
    pub fn new(query: &str, now: Timestamp) -> Self {
        Self {
            params: Params::parse(query),
            headers: HeaderMap::new(),
            path: None,
            body: Bytes::new(),
            files_ignored: FilesIgnored::default(),
            now,
            source: None,
        }
    }

    pub(crate) async fn of(request: Request, app: &App) -> Self {
        let (mut parts, body) = request.into_parts();
        let path = Path::<String>::from_request_parts(&mut parts, app).await;
        let source = source_address(&parts.extensions);
        let files_ignored = parts.extensions.get().copied().unwrap_or_default();
        // Cannot fail, because the middleware has read the complete body.
        let body = Bytes::from_request(Request::new(body), app).await;
        Self {
            params: Params::parse(parts.uri.query().unwrap_or_default()),
            headers: parts.headers,
            path: path.ok().map(|Path(text)| text),
            body: body.unwrap_or_default(),
            files_ignored,
            now: app.environment().now(),
            source,
        }
    }

    /// The id in the path.
    ///
    /// # Errors
    /// [`InvalidField`] with `name` if the path has no parameter or `parse` rejects it.
    pub fn id<I>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<I>,
    ) -> Result<I, InvalidField> {
        let id = self.path.as_deref().and_then(parse);
        id.ok_or(InvalidField::new(name, InvalidField::MUST_BE_ID))
    }

    /// All records of a list, or a page of them (C-62, C-95).
    ///
    /// # Errors
    /// [`RequestError::Field`] if `page` or `limit` is invalid or repeated.
    pub fn records(&self) -> Result<ListRequest, RequestError> {
        Ok(self.params.records()?)
    }

    /// The header `Idempotency-Key`, if present.
    ///
    /// # Errors
    /// [`BadIdempotencyKey`] if the header is malformed or repeated.
    pub fn idempotency_key(&self) -> Result<Option<&str>, BadIdempotencyKey> {
        idempotency_key(&self.headers)
    }
}
