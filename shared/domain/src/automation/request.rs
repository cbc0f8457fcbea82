//! The request of a notification: method and headers (C-102).

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use super::{SecretText, template};

/// Maximum headers of a notification.
const MAX_HEADERS: usize = 20;
/// Maximum characters of a header's value.
const MAX_VALUE: usize = 1000;
/// Headers that the connection, or the service itself, sets.
const RESERVED: [&str; 14] = [
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// Prefix of the headers that identify and sign a notification.
const OWN_PREFIX: &str = "x-funil-";

/// Methods of notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `POST`.
    #[default]
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `GET`, without a body.
    Get,
}

impl Method {
    /// Whether it is the default, which is not exported.
    #[must_use]
    pub fn is_post(&self) -> bool {
        *self == Self::Post
    }
}

impl From<Method> for http::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Patch => Self::PATCH,
            Method::Get => Self::GET,
        }
    }
}

/// Fixed headers by name. A value may be a credential of the receiver, so it is a secret.
pub type Headers = BTreeMap<String, SecretText>;

/// Checks the headers of a notification. An error never quotes a value.
///
/// # Errors
/// The reason, which begins with `headers` and the name of the invalid header.
pub fn validate_headers(headers: &Headers) -> Result<(), String> {
    if headers.len() > MAX_HEADERS {
        return Err(format!("headers: must have at most {MAX_HEADERS} elements"));
    }
    let mut seen = Vec::new();
    for (name, value) in headers {
        let invalid = |rule: &str| Err(format!("headers.{name}: {rule}"));
        let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
            return invalid("is no header name");
        };
        if RESERVED.contains(&header.as_str()) || header.as_str().starts_with(OWN_PREFIX) {
            return invalid("is set by the service");
        }
        let value = value.reveal();
        if value.trim() != value || !(1..=MAX_VALUE).contains(&value.len()) {
            return invalid("must have 1 to 1000 characters, and no space at either end");
        }
        // Names of fields in placeholders may have any characters.
        let example = template::with_example_values(value);
        if !example.is_ascii() || HeaderValue::from_str(&example).is_err() {
            return invalid("must have ASCII characters only, and no control characters");
        }
        // Names that differ only in case are equal as `HeaderName`.
        if seen.contains(&header) {
            return invalid("is given twice");
        }
        seen.push(header);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn validated(headers: Value) -> Result<(), String> {
        validate_headers(&serde_json::from_value(headers).unwrap())
    }

    #[test]
    fn headers_of_the_connection_and_the_signature_are_refused() {
        let good = json!({ "Authorization": "Bearer a b", "content-type": "application/vnd.api+json",
            "x-status": "{contactfield=Situação}" });
        assert_eq!(validated(good), Ok(()));
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Connection",
            "X-Funil-Signature",
            "x-funil-a",
        ] {
            let reason = format!("headers.{name}: is set by the service");
            assert_eq!(validated(json!({ name: "a" })), Err(reason));
        }
    }

    #[test]
    fn wrong_names_and_values_are_refused_without_the_value() {
        let (length, ascii) = (
            "must have 1 to 1000 characters, and no space at either end",
            "must have ASCII characters only, and no control characters",
        );
        for (name, value, rule) in [
            ("a b", "x", "is no header name"),
            ("", "x", "is no header name"),
            ("a\r\nb", "x", "is no header name"),
            ("x-a", "", length),
            ("x-a", " s3gr3do", length),
            ("x-a", "s3gr3do\r\nx-b: c", ascii),
            ("x-a", "s3gr3do\u{7f}", ascii),
            ("x-a", "não", ascii),
        ] {
            let reason = validated(json!({ name: value })).unwrap_err();
            assert_eq!(reason, format!("headers.{name}: {rule}"));
        }
        assert_eq!(validated(json!({ "x-a": "a".repeat(1000) })), Ok(()));
        assert!(validated(json!({ "x-a": "a".repeat(1001) })).is_err());
        assert_eq!(
            validated(json!({ "X-A": "1", "x-a": "1" })),
            Err("headers.x-a: is given twice".to_owned())
        );
        let many: Headers = (0..21)
            .map(|at| (format!("x-{at}"), serde_json::from_value(json!("1")).unwrap()))
            .collect();
        assert_eq!(
            validate_headers(&many),
            Err("headers: must have at most 20 elements".to_owned())
        );
    }
}
