//! A request to the service of a world.

use axum::body::{Body, Bytes};
use http::HeaderValue;
use http_body_util::BodyExt as _;
use serde_json::Value;
use shared::http::SourceAddress;
use tower::ServiceExt as _;

use super::{Answer, Raw, Wallet, World, unpacked};
use crate::openapi::INTERFACE;
use crate::watch;

/// A request under construction.
pub struct Request<'w> {
    pub(super) world: &'w World,
    pub(super) head: http::request::Builder,
    pub(super) body: Bytes,
    pub(super) breaks_off: bool,
}

impl Request<'_> {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head = self.head.header(name, value);
        self
    }

    /// Adds key and token in their headers.
    #[must_use]
    pub fn with(self, wallet: &Wallet) -> Self {
        self.header("apitoken", &wallet.key)
            .header("authorization", &format!("Bearer {}", wallet.token))
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .bytes(body.to_string())
    }

    /// Sets the sender's address.
    #[must_use]
    pub fn from(mut self, address: [u8; 4]) -> Self {
        self.head = self.head.extension(SourceAddress(address.into()));
        self
    }

    /// Aborts the body in the middle.
    #[must_use]
    pub fn broken_off(mut self) -> Self {
        self.breaks_off = true;
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn bytes(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the request and reads the response, which must be declared in openapi.yaml.
    pub async fn send(self) -> Answer {
        let has_more = self.world.has_more;
        let head = (self.head.method_ref().cloned(), self.head.uri_ref().cloned());
        let raw = self.send_raw().await;
        let (method, path) = (
            head.0.expect("a method"),
            head.1.expect("an address").path().to_owned(),
        );
        let body = match raw.headers.get("content-type").map(HeaderValue::as_bytes) {
            _ if raw.text.is_empty() => Value::Null,
            Some(b"application/json; charset=utf-8") => {
                serde_json::from_slice(&raw.text).expect("the answer is JSON")
            }
            _ => String::from_utf8_lossy(&raw.text).into(),
        };
        let answer = Answer {
            status: raw.status,
            headers: raw.headers,
            body,
            cost: raw.cost,
        };
        // axum answers HEAD like GET without a body.
        if !has_more && method != http::Method::HEAD {
            let judged = INTERFACE.judge(method.as_str(), &path, &answer);
            assert_eq!(judged, Ok(()), "{method} {path}: {answer:?}");
        }
        answer
    }

    /// Sends the request without validating the response by openapi.yaml, for very many requests.
    pub async fn send_raw(self) -> Raw {
        let asked = format!(
            "{} {}",
            self.head.method_ref().expect("a method"),
            self.head.uri_ref().expect("an address").path()
        );
        let raw = self.send_unwatched().await;
        watch::answer(&asked, &raw.headers, &raw.text);
        raw
    }

    /// The same without any check of the response, to measure time.
    pub async fn send_unwatched(self) -> Raw {
        let body = if self.breaks_off {
            let broken = Err(std::io::Error::other("the connection is gone"));
            Body::from_stream(futures_util::stream::iter([Ok(self.body), broken]))
        } else {
            Body::from(self.body)
        };
        let request = self.head.body(body).expect("a request");
        let answer = self.world.service.clone().oneshot(request).await;
        let (mut parts, body) = answer.expect("the service answers everything").into_parts();
        let mut text = body.collect().await.expect("the answer is whole").to_bytes();
        if parts.headers.contains_key(http::header::CONTENT_ENCODING) && !text.is_empty() {
            text = unpacked(&text).into();
        }
        Raw {
            status: parts.status,
            headers: parts.headers,
            text,
            cost: parts.extensions.remove().expect("every answer knows its cost"),
        }
    }
}
