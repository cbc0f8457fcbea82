//! The header `Idempotency-Key` and responses to repeated requests (C-10).

use axum::response::{IntoResponse, Response};
use http::HeaderMap;

use super::error::{BadIdempotencyKey, RequestError};
use crate::store::Claimed;

/// Maximum characters of a key.
const MAX_CHARACTERS: usize = 255;

/// The response of an endpoint with `Idempotency-Key`.
#[derive(Debug)]
pub enum Idempotent<T> {
    /// This request created the record.
    Made(T),
    /// An equal earlier request created or found the record. The response has the header `idempotent-replayed`.
    Replayed(T),
}

impl<T: IntoResponse> IntoResponse for Idempotent<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Made(answer) => answer.into_response(),
            Self::Replayed(answer) => ([("idempotent-replayed", "true")], answer).into_response(),
        }
    }
}

/// The id of the record that an equal earlier request created or found. `None` for a new request.
///
/// # Errors
/// [`RequestError::IdempotencyMismatch`] if the key was used with another body.
pub fn replayed(claimed: Claimed) -> Result<Option<u64>, RequestError> {
    match claimed {
        Claimed::New => Ok(None),
        Claimed::Replay(id) | Claimed::Found(id) => Ok(Some(id)),
        Claimed::Mismatch => Err(RequestError::IdempotencyMismatch),
    }
}

/// The key of a request, if present.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, BadIdempotencyKey> {
    let mut values = headers.get_all("idempotency-key").iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => {
            let key = key.to_str().map_err(|_| BadIdempotencyKey)?;
            let is_visible = key.bytes().all(|byte| byte.is_ascii_graphic());
            if is_visible && (1..=MAX_CHARACTERS).contains(&key.len()) {
                Ok(Some(key))
            } else {
                Err(BadIdempotencyKey)
            }
        }
        _ => Err(BadIdempotencyKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    #[test]
    fn a_key_is_one_visible_ascii_text() {
        let read = |values: &[&[u8]]| {
            let values = values.iter().map(|value| HeaderValue::from_bytes(value).unwrap());
            let name = HeaderName::from_static("idempotency-key");
            let headers: HeaderMap = values.map(|value| (name.clone(), value)).collect();
            idempotency_key(&headers).map(|key| key.map(str::to_owned)).ok()
        };
        assert_eq!(read(&[]), Some(None));
        assert_eq!(read(&[b"a-1:~!"]), Some(Some("a-1:~!".to_owned())));
        assert_eq!(read(&[&[b'x'; 255]]), Some(Some("x".repeat(255))));
        let bad: [&[&[u8]]; 6] = [
            &[b""],
            &[b"a b"],
            &["ã".as_bytes()],
            &[b"\xFF"],
            &[&[b'x'; 256]],
            &[b"a", b"a"],
        ];
        for values in bad {
            assert_eq!(read(values), None, "{values:?}");
        }
    }
}
