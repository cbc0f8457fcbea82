//! CORS headers, on every response (C-5).

use http::{HeaderMap, HeaderValue, header};

/// Allowed origins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Every origin. Credentials are never cookies, so a browser adds none by itself.
    Any,
    /// The listed origins.
    Listed(Vec<String>),
}

const METHODS: &str = "GET, POST, PUT, DELETE";
const REQUEST_HEADERS: &str =
    "content-type, authorization, apitoken, x-voip-signature, idempotency-key, traceparent";
const ANSWER_HEADERS: &str = "x-request-id, x-funil-version, x-error-details, x-filters-ignored, x-total-relation, \
                              x-items-cut, x-items-unreadable, x-fields-ignored, x-files-ignored, \
                              idempotent-replayed, x-lead-existing, retry-after, ratelimit-limit, ratelimit-remaining, \
                              ratelimit-reset";

impl Origins {
    /// Parses `*` or a comma-separated list. An empty text, or a list with `*`, allows every origin.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let listed: Vec<_> = text
            .split(',')
            .map(str::trim)
            .filter(|origin| !origin.is_empty())
            .collect();
        if listed.is_empty() || listed.contains(&"*") {
            return Self::Any;
        }
        Self::Listed(listed.into_iter().map(str::to_owned).collect())
    }

    /// Adds the headers of a response to `origin`.
    pub(super) fn allow(&self, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(ANSWER_HEADERS),
        );
        match self {
            Self::Any => {
                headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            }
            Self::Listed(listed) => {
                headers.insert(header::VARY, HeaderValue::from_static("origin"));
                if let Some(origin) = origin.filter(|origin| listed.iter().any(|listed| listed == *origin)) {
                    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
                }
            }
        }
    }
}

/// Adds the headers of a preflight response.
pub(super) fn preflight(headers: &mut HeaderMap) {
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(METHODS),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(REQUEST_HEADERS),
    );
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_admits_its_members_only() {
        let origins = Origins::parse("https://a.example, https://b.example");
        for (origin, allowed) in [
            ("https://b.example", true),
            ("https://c.example", false),
            ("null", false),
        ] {
            let (mut headers, origin) = (HeaderMap::new(), HeaderValue::from_static(origin));
            origins.allow(Some(&origin), &mut headers);
            assert_eq!(
                headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN),
                allowed.then_some(&origin)
            );
            assert_eq!(headers[header::VARY], "origin");
        }
    }

    #[test]
    fn a_star_or_nothing_admits_all() {
        assert_eq!(Origins::parse("*"), Origins::Any);
        assert_eq!(Origins::parse(""), Origins::Any);
        let mut headers = HeaderMap::new();
        Origins::Any.allow(None, &mut headers);
        assert_eq!(headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    }
}
