//! Answers of JSON, and the bodies of errors (C-4).

use std::borrow::Cow;

use axum::Json;
use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::text::cut;

/// Where the details of an invalid request stand whose body spec.md fixes.
const DETAILS: HeaderName = HeaderName::from_static("x-error-details");
/// So many characters of the details at most are answered, because a caller's own names may be among them; in a header, where
/// the room is small, no more than these.
const DETAILS_LIMIT: usize = 200;
/// And so many of their end, which says what is wrong.
const REASON_LIMIT: usize = 100;

/// The most bytes an answer may have: a function's platform passes on no more than 6 MB, and answers a bare 500 to more.
pub(super) const ANSWER_LIMIT: u64 = 5 * 1024 * 1024;

/// How the errors of a group of endpoints look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFormat {
    /// `{ "error": <text> }`; where the request is invalid, `details` name the field at fault.
    Error,
    /// `{ "error": <text> }` and nothing more, where spec.md fixes the body; the details are in a header.
    Fixed,
    /// Endpoint 7: `{ "msg": <text> }`; where the request is invalid, the text names the field at fault.
    Message,
    /// Endpoint 19: `{ "msg": <text> }`, and its own 401 and 500.
    CallWebhook,
}

/// Why a request is refused, as far as a caller may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// 400, naming the field at fault.
    Invalid(String),
    /// 401.
    Unauthorized,
    /// 403, or 400 with this text where spec.md has no 403 for the endpoint (C-82).
    Forbidden(String),
    /// 404.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 413.
    TooLarge,
    /// 414.
    UriTooLong,
    /// 422: the `Idempotency-Key` came with another body before (C-10).
    Mismatch,
    /// 429: the limit of this minute's requests is reached (C-9). The edge says when the next one begins.
    TooMany,
    /// 431.
    HeadersTooLarge,
    /// 500. What happened is in the log.
    Internal,
    /// A status with a body of its own.
    Other(StatusCode, Value),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UriTooLong => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Mismatch => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Other(status, _) => *status,
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "Invalid request",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden(_) => "Forbidden",
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::TooLarge => "Payload too large",
            Self::UriTooLong => "URI too long",
            Self::HeadersTooLarge => "Request header fields too large",
            Self::Mismatch => "Idempotency-Key was used with another body",
            Self::TooMany => "Too many requests",
            Self::Internal | Self::Other(..) => "Internal error",
        }
    }
}

/// Leaves the problem with the answer, so that the middleware writes it in the format of the route's group.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut answer = ErrorFormat::Error.answer(&self);
        answer.extensions_mut().insert(self);
        answer
    }
}

impl ErrorFormat {
    /// The answer to a refused request.
    #[must_use]
    pub fn answer(self, refusal: &Problem) -> Response {
        if let (Self::Fixed | Self::Message, Problem::Forbidden(details)) = (self, refusal) {
            return self.answer(&Problem::Invalid(details.clone()));
        }
        let mut answer = (refusal.status(), Json(self.body(refusal))).into_response();
        if let (Self::Fixed, Problem::Invalid(details)) = (self, refusal) {
            answer
                .headers_mut()
                .extend(header(details).map(|text| (DETAILS, text)));
        }
        answer
    }

    /// The same as [`answer`](Self::answer) with its body as it is sent.
    pub(super) fn plain(self, refusal: &Problem) -> http::Response<Bytes> {
        let mut answer = http::Response::new(self.body(refusal).to_string().into());
        *answer.status_mut() = refusal.status();
        answer
    }

    fn body(self, refusal: &Problem) -> Value {
        match (self, refusal) {
            (_, Problem::Other(_, body)) => body.clone(),
            (Self::Error, Problem::Invalid(details)) => {
                json!({ "error": refusal.text(), "details": shorten(details) })
            }
            (Self::Error | Self::Fixed, _) => json!({ "error": refusal.text() }),
            (Self::Message, Problem::Invalid(details)) => json!({ "msg": shorten(details) }),
            // Before a handler has the body only this can be wrong with it: it is not whole.
            (Self::CallWebhook, Problem::Invalid(_)) => {
                json!({ "msg": "invalid_body", "err": { "instancePath": "", "keyword": "parse", "message": "must be JSON" } })
            }
            (Self::CallWebhook, Problem::Unauthorized) => json!({ "msg": "unauthorized" }),
            (Self::CallWebhook, Problem::Internal) => {
                json!({ "msg": "failed_voip_webhook", "err": "storage" })
            }
            (Self::Message | Self::CallWebhook, _) => json!({ "msg": refusal.text() }),
        }
    }
}

/// An answer of JSON. Lists are written in some hundred thousand pieces, for which the buffer of [`Json`] is slow.
pub fn json(shown: &impl Serialize) -> Response {
    match serde_json::to_vec(shown) {
        Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(cause) => {
            tracing::error!(%cause, "the answer could not be written");
            ErrorFormat::Fixed.answer(&Problem::Internal)
        }
    }
}

/// Details with the middle left out where a caller's own name makes them long: the name's beginning and what is wrong with
/// it stay.
fn shorten(details: &str) -> Cow<'_, str> {
    let length = details.chars().count();
    if length <= DETAILS_LIMIT + REASON_LIMIT {
        return Cow::Borrowed(details);
    }
    let reason: String = details.chars().skip(length - REASON_LIMIT).collect();
    Cow::Owned(format!("{}…{reason}", cut(details, DETAILS_LIMIT)))
}

/// How many items an answer that is too large leaves out.
pub const ITEMS_CUT: HeaderName = HeaderName::from_static("x-items-cut");

/// An answer of JSON that has lists of items, the first of each as many as fit. Where all are more than an answer may have, each
/// list is cut at the same length, and the header [`ITEMS_CUT`] counts the items that are left out.
///
/// `sizes` are the bytes of each item of each list, asked only where something must be cut; `shown` makes the answer of at
/// most so many items of each list.
pub fn json_that_fits<T: Serialize>(
    shown: impl Fn(usize) -> T,
    sizes: impl FnOnce() -> Vec<Vec<usize>>,
) -> Response {
    let whole = json(&shown(usize::MAX));
    let bytes = http_body::Body::size_hint(whole.body()).lower();
    let Some(over) = bytes.checked_sub(ANSWER_LIMIT + 1) else {
        return whole;
    };
    let sizes = sizes();
    let (mut left_out, mut cut, mut length) = (0, 0, sizes.iter().map(Vec::len).max().unwrap_or_default());
    while length > 0 && left_out <= over {
        length -= 1;
        for item in sizes.iter().filter_map(|list| list.get(length)) {
            left_out += *item as u64;
            cut += 1;
        }
    }
    let mut answer = json(&shown(length));
    answer.headers_mut().insert(ITEMS_CUT, HeaderValue::from(cut));
    answer
}

/// How many bytes a value has as JSON.
pub fn bytes_of(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// Text as a header may hold it: what is not ASCII or cannot be seen is percent-encoded.
fn header(text: &str) -> Option<HeaderValue> {
    let encode = |byte| match byte {
        b' '..=b'~' if byte != b'%' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let text: String = cut(text, DETAILS_LIMIT).bytes().map(encode).collect();
    HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists are cut at one length, and what is shown is as much as fits.
    #[test]
    fn long_details_are_cut() {
        let lists = [
            vec!["x".repeat(600_000); 9],
            vec!["y".to_owned(); 3],
            vec!["z".repeat(1000); 20],
        ];
        let shown = |most: usize| {
            lists
                .iter()
                .map(|list| &list[..list.len().min(most)])
                .collect::<Vec<_>>()
        };
        let sizes = || {
            lists
                .iter()
                .map(|list| list.iter().map(bytes_of).collect())
                .collect()
        };
        let answer = json_that_fits(shown, sizes);
        assert_eq!(answer.headers()[ITEMS_CUT], "13");
        let bytes = http_body::Body::size_hint(answer.body()).lower();
        assert!(
            (ANSWER_LIMIT - 600_000..=ANSWER_LIMIT).contains(&bytes),
            "{bytes}"
        );
        let small = json_that_fits(|_| json!([1]), || unreachable!());
        assert_eq!(small.headers().get(ITEMS_CUT), None);
    }

    /// Endpoint 19, whose body broke off before the handler had it.
    #[test]
    fn endpoint_19_reports_incomplete_bodies_as_invalid_json() {
        let answered = ErrorFormat::CallWebhook.body(&Problem::Invalid("body: broke off".to_owned()));
        let err = json!({ "instancePath": "", "keyword": "parse", "message": "must be JSON" });
        assert_eq!(answered, json!({ "msg": "invalid_body", "err": err }));
    }

    #[test]
    fn fixed_bodies_have_details_in_a_header() {
        let invalid = |details: &str| ErrorFormat::Fixed.answer(&Problem::Invalid(details.to_owned()));
        let refusal = Problem::Invalid("title: must have 1 to 255 characters".to_owned());
        assert_eq!(
            ErrorFormat::Fixed.body(&refusal),
            json!({ "error": "Invalid request" })
        );
        for (details, header) in [
            (
                "title: must have 1 to 255 characters",
                "title: must have 1 to 255 characters",
            ),
            ("fields.Número\r\n100%: x", "fields.N%C3%BAmero%0D%0A100%25: x"),
            (&"ã".repeat(5000), &"%C3%A3".repeat(200)),
        ] {
            assert_eq!(invalid(details).headers()[DETAILS], header);
        }
        let unauthorized = ErrorFormat::Fixed.answer(&Problem::Unauthorized);
        assert_eq!(unauthorized.headers().get(DETAILS), None);
    }

    #[test]
    fn long_names_are_cut() {
        let name = "ã".repeat(200_000);
        let refusal = Problem::Invalid(format!("fields.{name}: is not a field of funnel 3"));
        let reason = ": is not a field of funnel 3";
        let told = format!(
            "fields.{}…{}{reason}",
            "ã".repeat(193),
            "ã".repeat(100 - reason.len())
        );
        assert_eq!(ErrorFormat::Message.body(&refusal), json!({ "msg": told }));
        assert_eq!(ErrorFormat::Error.body(&refusal)["details"], told);
        let whole = "x".repeat(300);
        assert_eq!(
            ErrorFormat::Message.body(&Problem::Invalid(whole.clone())),
            json!({ "msg": whole })
        );
    }

    #[test]
    fn endpoint_7_reports_errors_in_msg() {
        let title = "title: must have 1 to 255 characters";
        for (refusal, status, msg) in [
            (Problem::Invalid(title.to_owned()), 400, title),
            (Problem::Unauthorized, 401, "Unauthorized"),
            (Problem::MethodNotAllowed, 405, "Method not allowed"),
            (Problem::TooLarge, 413, "Payload too large"),
            (
                Problem::Mismatch,
                422,
                "Idempotency-Key was used with another body",
            ),
            (Problem::TooMany, 429, "Too many requests"),
            (Problem::Internal, 500, "Internal error"),
        ] {
            assert_eq!(ErrorFormat::Message.body(&refusal), json!({ "msg": msg }));
            assert_eq!(ErrorFormat::Message.answer(&refusal).status().as_u16(), status);
        }
    }
}
