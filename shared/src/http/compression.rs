//! gzip of large responses (C-103).

use std::io::{Read as _, Write as _};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt as _;

/// Maximum bytes of a body that is sent uncompressed.
const MAX_PLAIN: u64 = 4 * 1024;
/// The fastest level, because a function has a fraction of a processor. JSON shrinks to a sixth with it.
const LEVEL: u32 = 1;

/// Whether a request accepts gzip. Names match without regard to case. The weight 0 refuses a coding, and an explicit
/// name takes precedence over `*`.
#[must_use]
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    // Whether gzip by name, and every coding by `*`, are accepted; `None` if the request does not list them.
    let (mut named, mut any) = (None, None);
    for coding in values.flat_map(|value| value.split(',')) {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let accepted = parts.all(|parameter| !is_zero_weight(parameter));
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            named = Some(accepted);
        } else if name == "*" {
            any = Some(accepted);
        }
    }
    named.or(any).unwrap_or(false)
}

/// Whether a parameter is a weight, `q=`, that is not a positive number.
fn is_zero_weight(parameter: &str) -> bool {
    match parameter.split_once('=') {
        Some((name, weight)) if name.trim().eq_ignore_ascii_case("q") => {
            !weight.trim().parse().is_ok_and(|weight: f32| weight > 0.0)
        }
        _ => false,
    }
}

/// [`compress`] as a middleware, for services without the middleware of [`service`](super::service).
pub async fn gzipped(request: Request, next: Next) -> Response {
    let accepted = accepts_gzip(request.headers());
    compress(next.run(request).await, accepted).await
}

/// Compresses a body over 4 KB if the request accepts gzip. Adds `accept-encoding` to `vary` for every body of this
/// size, compressed or not.
pub async fn compress(mut answer: Response, accepted: bool) -> Response {
    let length = http_body::Body::size_hint(answer.body()).lower();
    if length <= MAX_PLAIN || answer.headers().contains_key(header::CONTENT_ENCODING) {
        return answer;
    }
    vary(answer.headers_mut());
    if !accepted {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let Ok(plain) = body.collect().await else {
        return Response::from_parts(parts, Body::empty());
    };
    let plain = plain.to_bytes();
    let Some(packed) = gzip(&plain) else {
        return Response::from_parts(parts, Body::from(plain));
    };
    let gzip = HeaderValue::from_static("gzip");
    parts.headers.insert(header::CONTENT_ENCODING, gzip);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(packed))
}

/// Sets `vary`, and keeps the `origin` that CORS may have set. Both are one value, because a Lambda response has one
/// value for each header.
fn vary(headers: &mut HeaderMap) {
    let both = HeaderValue::from_static("origin, accept-encoding");
    let alone = HeaderValue::from_static("accept-encoding");
    let value = if headers.contains_key(header::VARY) {
        both
    } else {
        alone
    };
    headers.insert(header::VARY, value);
}

/// The bytes of a gzip file that this build contains; empty for any other.
#[must_use]
pub fn gunzip(compressed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut plain).ok();
    plain
}

/// Compresses a body. Returns `None` if this saves less than a quarter: Lambda encodes compressed bytes as base64,
/// which makes them a third longer, and limits the encoded response.
fn gzip(plain: &Bytes) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::new(LEVEL));
    encoder.write_all(plain).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() <= plain.len() / 4 * 3).then_some(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_encoding_is_read_with_weights() {
        let accepts = |values: &[&'static str]| {
            let values = values.iter().map(|value| HeaderValue::from_static(value));
            accepts_gzip(&values.map(|value| (header::ACCEPT_ENCODING, value)).collect())
        };
        for accepted in [
            &["gzip"][..],
            &["gzip, deflate, br"],
            &["br;q=1.0, GZIP ; Q=0.001"],
            &["deflate", "x-gzip"],
            &["*"],
            &["identity;q=0, *;q=0.5"],
            &["*;q=0, gzip;q=0.1"],
        ] {
            assert!(accepts(accepted), "{accepted:?}");
        }
        for refused in [
            &[][..],
            &[""],
            &["identity"],
            &["br, deflate"],
            &["gzip;q=0"],
            &["gzip; q=0.000, *"],
            &["*;q=0"],
            &["gzip;q=x"],
            &["gzip;q=-1"],
            &["gzip;q=NaN"],
            &["gzipped"],
        ] {
            assert!(!accepts(refused), "{refused:?}");
        }
    }

    #[test]
    fn bytes_that_do_not_shrink_stay_plain() {
        let repeated = Bytes::from(vec![b'x'; 10_000]);
        assert!(gzip(&repeated).is_some_and(|packed| packed.len() < 200));
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        let random: Bytes = (0..10_000).map(|_| noise()).collect();
        assert_eq!(gzip(&random), None);
    }
}
