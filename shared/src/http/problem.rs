//! Errors of requests, and their bodies (C-4).

use std::borrow::Cow;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::telemetry::request;
use crate::text::cut;

/// Header with the details of an invalid request whose body spec.md fixes.
const DETAILS: HeaderName = HeaderName::from_static("x-error-details");
/// Characters kept at the start of long details, which may contain names chosen by callers. A header contains only
/// these.
const DETAILS_LIMIT: usize = 200;
/// Characters kept at the end of long details, which states the rule.
const REASON_LIMIT: usize = 100;

/// Error format of a group of endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFormat {
    /// `{ "error": <text> }`, with `details` naming the field at fault in an invalid request.
    Error,
    /// `{ "error": <text> }` alone, for endpoints with a body fixed by spec.md. The details are in a header. A 401 may
    /// have `details`.
    Fixed,
    /// Endpoint 10: as `Fixed`, but its 401 has the details in a header too.
    OpportunityList,
    /// Endpoint 7: `{ "msg": <text> }`. The text of an invalid request names the field at fault. A 401 may have
    /// `details`.
    Message,
    /// Endpoint 19: `{ "msg": <text> }`, with other bodies for 400, 401, 500 and 503.
    CallWebhook,
}

/// The error of a request, as shown to the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// 400, naming the field at fault.
    Invalid(String),
    /// 401.
    Unauthorized,
    /// 401, naming the right place of an absent or misplaced credential (C-103).
    Misplaced(String),
    /// 403, or 400 with this text if spec.md has no 403 for the endpoint (C-82).
    Forbidden(String),
    /// 404.
    NotFound,
    /// 404: no route has this path. Callers must not mistake it for a missing record (C-103).
    NoRoute,
    /// 405.
    MethodNotAllowed,
    /// 413.
    TooLarge,
    /// 415, naming the header at fault.
    Unsupported(&'static str),
    /// 422: the `Idempotency-Key` was used with another body (C-10).
    Mismatch,
    /// 429: this minute's limit is reached (C-9). The middleware adds the seconds until the next minute.
    TooMany,
    /// 500. Only the log contains the cause.
    Internal,
    /// 503: too many conflicts with concurrent requests. The caller can repeat the request.
    Busy,
    /// A status with its own body.
    Other(StatusCode, Value),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized | Self::Misplaced(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound | Self::NoRoute => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Mismatch => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Other(status, _) => *status,
        }
    }

    /// The reason for the log: the rule of a 400 or a 403, the code or the rule of an error with its own body, or the text
    /// of a 413 or 422.
    fn reason(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Invalid(details) | Self::Forbidden(details) => Some(loggable_rule(details).into()),
            Self::Other(status, body) if status.is_client_error() => {
                let code = body["error"].as_str().map(str::to_owned);
                code.or_else(|| violated_rule(body)).map(Cow::from)
            }
            Self::Unsupported(details) => Some((*details).into()),
            Self::TooLarge | Self::Mismatch => Some(self.text().into()),
            _ => None,
        }
    }

    /// The text of `error` or `msg`.
    fn text(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "Invalid request",
            Self::Unauthorized | Self::Misplaced(_) => "Unauthorized",
            Self::Forbidden(_) => "Forbidden",
            Self::NotFound | Self::NoRoute => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::TooLarge => "Payload too large",
            Self::Unsupported(_) => "Unsupported media type",
            Self::Mismatch => "Idempotency-Key was used with another body",
            Self::TooMany => "Too many requests",
            Self::Busy => "Service unavailable",
            Self::Internal | Self::Other(..) => "Internal error",
        }
    }
}

/// The violated rule in an AJV error, as 10 and 19 answer it. It contains no value of the request.
fn violated_rule(body: &Value) -> Option<String> {
    let (place, rule) = match body.get("err") {
        Some(error) => (&error["instancePath"], &error["message"]),
        None => (&body["details"]["instancePath"], &body["msg"]),
    };
    let rule = format!("{} {}", place.as_str()?, rule.as_str()?);
    Some(rule.trim_start().to_owned())
}

/// Attaches the problem to the response. The middleware writes the body in the format of the route's group.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut answer = ErrorFormat::Error.answer(&self);
        answer.extensions_mut().insert(self);
        answer
    }
}

impl ErrorFormat {
    /// The response that reports a problem. Also records the reason for the log. Groups without a 403 respond with a
    /// 400.
    #[must_use]
    pub fn answer(self, problem: &Problem) -> Response {
        if let (Self::Fixed | Self::OpportunityList | Self::Message, Problem::Forbidden(details)) =
            (self, problem)
        {
            return self.answer(&Problem::Invalid(details.clone()));
        }
        if let Some(reason) = problem.reason() {
            request::refuse(reason);
        }
        let mut answer = (problem.status(), Json(self.body(problem))).into_response();
        let details = self.details_in_header(problem).and_then(header);
        let headers = answer.headers_mut();
        headers.extend(details.map(|text| (DETAILS, text)));
        if *problem == Problem::Busy {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }

    /// The details of a problem whose body spec.md fixes.
    fn details_in_header(self, problem: &Problem) -> Option<&str> {
        match (self, problem) {
            (Self::Fixed | Self::OpportunityList, Problem::Invalid(details))
            | (Self::OpportunityList | Self::CallWebhook, Problem::Misplaced(details)) => Some(details),
            (Self::Error, _) => None,
            (_, Problem::Unsupported(details)) => Some(details),
            _ => None,
        }
    }

    /// The body of the response in this format.
    fn body(self, problem: &Problem) -> Value {
        match (self, problem) {
            (_, Problem::Other(_, body)) => body.clone(),
            (Self::Error, Problem::Invalid(details)) => {
                json!({ "error": problem.text(), "details": shorten(details) })
            }
            (Self::Error | Self::Fixed, Problem::Misplaced(details)) => {
                json!({ "error": problem.text(), "details": details })
            }
            (Self::Error, Problem::Unsupported(details)) => {
                json!({ "error": problem.text(), "details": details })
            }
            (Self::Error, Problem::NoRoute) => json!({ "error": problem.text(), "details": "no such route" }),
            (Self::Error | Self::Fixed | Self::OpportunityList, _) => json!({ "error": problem.text() }),
            (Self::Message, Problem::Invalid(details)) => json!({ "msg": shorten(details) }),
            // The handler writes its own 400s. The only other one is an incomplete body.
            (Self::CallWebhook, Problem::Invalid(_)) => {
                json!({ "msg": "invalid_body", "err": { "instancePath": "", "keyword": "parse", "message": "must be JSON" } })
            }
            (Self::Message, Problem::Misplaced(details)) => {
                json!({ "msg": problem.text(), "details": details })
            }
            (Self::CallWebhook, Problem::Unauthorized | Problem::Misplaced(_)) => {
                json!({ "msg": "unauthorized" })
            }
            (Self::CallWebhook, Problem::Internal | Problem::Busy) => {
                json!({ "msg": "failed_voip_webhook", "err": "storage" })
            }
            (Self::Message | Self::CallWebhook, _) => json!({ "msg": problem.text() }),
        }
    }
}

/// The rule in the details of a problem, for the log. Omits the field's name, and replaces quoted text and numbers by
/// `…`, because all of them may come from the caller. A rule that begins with `must` contains only its own numbers, so
/// they remain.
fn loggable_rule(details: &str) -> String {
    let rule: Cow<'_, str> = match (details.find('"'), details.rfind('"')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}…{}", &details[..first], &details[last + 1..]).into()
        }
        _ => details.rsplit_once(": ").map_or(details, |(_, rule)| rule).into(),
    };
    if rule.starts_with("must ") {
        return rule.into_owned();
    }
    let mut masked = String::with_capacity(rule.len());
    for character in rule.chars() {
        match character {
            // One `…` for all digits of a number.
            '0'..='9' if masked.ends_with('…') => {}
            '0'..='9' => masked.push('…'),
            other => masked.push(other),
        }
    }
    masked
}

/// Shortens long details in the middle. The start of a name chosen by the caller and the rule remain.
fn shorten(details: &str) -> Cow<'_, str> {
    let length = details.chars().count();
    if length <= DETAILS_LIMIT + REASON_LIMIT {
        return Cow::Borrowed(details);
    }
    let reason: String = details.chars().skip(length - REASON_LIMIT).collect();
    Cow::Owned(format!("{}…{reason}", cut(details, DETAILS_LIMIT)))
}

/// Text for a header, cut to [`DETAILS_LIMIT`] characters. `%`, non-ASCII and control characters are percent-encoded.
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

    #[test]
    fn endpoint_19_reports_incomplete_bodies_as_invalid_json() {
        let answered = ErrorFormat::CallWebhook.body(&Problem::Invalid("body: broke off".to_owned()));
        let err = json!({ "instancePath": "", "keyword": "parse", "message": "must be JSON" });
        assert_eq!(answered, json!({ "msg": "invalid_body", "err": err }));
    }

    /// C-106: the log has the broken rule, whatever the form of the body.
    #[test]
    fn the_rule_of_an_own_body_is_the_reason() {
        for (body, reason) in [
            (json!({ "error": "CL006", "msg": "x" }), "CL006"),
            (
                json!({ "msg": "must be integer", "details": { "instancePath": "/page" } }),
                "/page must be integer",
            ),
            (
                json!({ "msg": "invalid_body", "err": { "instancePath": "", "message": "must be object" } }),
                "must be object",
            ),
        ] {
            let problem = Problem::Other(StatusCode::BAD_REQUEST, body);
            assert_eq!(problem.reason().as_deref(), Some(reason));
        }
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

    /// C-103: the body contains the details, unless spec.md fixes the body of the 401.
    #[test]
    fn places_of_credentials_are_details() {
        let misplaced = Problem::Misplaced("apitoken: there".to_owned());
        let detailed = |text: &str| json!({ text: "Unauthorized", "details": "apitoken: there" });
        for (format, body, header) in [
            (ErrorFormat::Error, detailed("error"), None),
            (ErrorFormat::Fixed, detailed("error"), None),
            (ErrorFormat::Message, detailed("msg"), None),
            (
                ErrorFormat::OpportunityList,
                json!({ "error": "Unauthorized" }),
                Some("apitoken: there"),
            ),
            (
                ErrorFormat::CallWebhook,
                json!({ "msg": "unauthorized" }),
                Some("apitoken: there"),
            ),
        ] {
            assert_eq!(format.body(&misplaced), body);
            let answer = format.answer(&misplaced);
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
            let told = answer.headers().get(DETAILS).map(|told| told.to_str().unwrap());
            assert_eq!(told, header);
        }
    }

    /// C-106: the log contains no value of the request.
    #[test]
    fn the_logged_rule_has_nothing_of_the_caller() {
        for (details, logged) in [
            (
                "title: must have 1 to 255 characters",
                "must have 1 to 255 characters",
            ),
            (
                "fields.CPF: 1: is not a field of funnel 31",
                "is not a field of funnel …",
            ),
            ("lead_id: lead 404 does not exist", "lead … does not exist"),
            (
                r#"query: unknown field "a: "b" in "lead""#,
                "query: unknown field …",
            ),
            ("rescheduleKey", "rescheduleKey"),
            (
                "deleteLeads: the user does not have this permission",
                "the user does not have this permission",
            ),
        ] {
            let reasons = [
                Problem::Invalid(details.to_owned()),
                Problem::Forbidden(details.to_owned()),
            ];
            assert!(
                reasons
                    .iter()
                    .all(|problem| problem.reason().as_deref() == Some(logged)),
                "{details}"
            );
        }
        let own = Problem::Other(StatusCode::BAD_REQUEST, json!({ "error": "CL006", "msg": "x" }));
        assert_eq!(own.reason().as_deref(), Some("CL006"));
        assert_eq!(Problem::NotFound.reason(), None);
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
            (Problem::Busy, 503, "Service unavailable"),
        ] {
            assert_eq!(ErrorFormat::Message.body(&refusal), json!({ "msg": msg }));
            assert_eq!(ErrorFormat::Message.answer(&refusal).status().as_u16(), status);
        }
    }
}
