//! Rate-limit headers of a response (C-9).

use axum::response::Response;
use http::{HeaderName, StatusCode, header};

use crate::store::Allowance;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Adds the rate-limit headers to a response, including an error. Adds none if the request had no limit.
pub fn show(allowance: Option<Allowance>, answer: &mut Response) {
    let Some(allowance) = allowance else { return };
    let is_limited = answer.status() == StatusCode::TOO_MANY_REQUESTS;
    let headers = answer.headers_mut();
    headers.insert(LIMIT, allowance.limit.into());
    headers.insert(REMAINING, allowance.remaining.into());
    headers.insert(RESET, allowance.reset.into());
    if is_limited {
        headers.insert(header::RETRY_AFTER, allowance.reset.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    fn shown(status: u16, allowance: Option<Allowance>) -> HeaderMap {
        let mut answer = Response::default();
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        show(allowance, &mut answer);
        answer.headers().clone()
    }

    #[test]
    fn limited_responses_have_ratelimit_headers() {
        let allowance = Allowance {
            limit: 600,
            remaining: 17,
            reset: 42,
        };
        let mut expected: HeaderMap = [(LIMIT, 600), (REMAINING, 17), (RESET, 42)]
            .map(|(name, value): (_, u32)| (name, value.into()))
            .into_iter()
            .collect();
        assert_eq!(shown(200, Some(allowance)), expected);
        assert_eq!(shown(500, Some(allowance)), expected);
        expected.insert(header::RETRY_AFTER, 42_u32.into());
        assert_eq!(shown(429, Some(allowance)), expected);
        assert_eq!(shown(200, None), HeaderMap::new());
    }
}
