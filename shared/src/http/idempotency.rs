//! The header `Idempotency-Key` (C-10).

use http::HeaderMap;

/// The most characters of a key.
const MOST: usize = 255;

/// A header that can be no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Idempotency-Key: must be 1 to 255 visible ASCII characters, once")]
pub struct BadIdempotencyKey;

/// The key of a request; `None` where it has none.
///
/// # Errors
/// [`BadIdempotencyKey`] where the header can be none.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, BadIdempotencyKey> {
    let mut values = headers.get_all("idempotency-key").iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => {
            let key = key.to_str().map_err(|_| BadIdempotencyKey)?;
            let good = (1..=MOST).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
            good.then_some(Some(key)).ok_or(BadIdempotencyKey)
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
