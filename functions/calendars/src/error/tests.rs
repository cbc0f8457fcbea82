//! Every error, whole: status and body.

use axum::response::IntoResponse;
use serde_json::{Value, json};
use shared::calendar::Unavailable;
use shared::http::{BadIdempotencyKey, Params, parse_json};
use shared::scope::AccessError;
use shared::selection::Selection;

use super::*;

async fn answer<E: IntoResponse>(error: E) -> (u16, Value) {
    let answer = error.into_response();
    assert_eq!(answer.headers().get("x-error-details"), None);
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

/// What must reach no caller.
fn store() -> StoreError {
    StoreError::Contention("a secret cause")
}

fn invalid(details: &str) -> Value {
    json!({ "error": "Invalid request", "details": details })
}

fn says(error: &str) -> Value {
    json!({ "error": error })
}

fn coded(code: &str, msg: &str) -> Value {
    json!({ "error": code, "msg": msg })
}

/// Endpoints 11 and 12: C-4, C-82.
#[tokio::test]
async fn reading() {
    let repeated = Params::parse("page=1&page=2").one("page").unwrap_err();
    let unknown = Selection::parse("{leads{id}}", &[]).unwrap_err();
    for (error, status, body) in [
        (
            AccessError::Instance.into(),
            400,
            invalid("i: must name the instance, once"),
        ),
        (AccessError::Unauthorized.into(), 401, says("Unauthorized")),
        (AccessError::Store(store()).into(), 500, says("Internal error")),
        (
            CalendarError::Id,
            400,
            invalid("calendar_id: must be an id or a publicId: 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
        ),
        (repeated.into(), 400, invalid("page: must not be repeated")),
        (unknown.into(), 400, invalid(r#"query: unknown root "leads""#)),
        (CalendarError::Permission, 403, says("Forbidden")),
        (CalendarError::NotFound, 404, says("Not found")),
        (store().into(), 500, says("Internal error")),
    ] {
        assert_eq!(answer::<CalendarError>(error).await, (status, body));
    }
}

/// Endpoint 13 and the free times, where the request is malformed: C-4, C-10, C-54.
#[tokio::test]
async fn malformed_bookings() {
    let repeated = Params::parse("to=1&to=2").one("to").unwrap_err();
    for (error, status, body) in [
        (
            AccessError::Instance.into(),
            400,
            invalid("i: must name the instance, once"),
        ),
        (
            BadIdempotencyKey.into(),
            400,
            invalid("Idempotency-Key: must be 1 to 255 visible ASCII characters, once"),
        ),
        (
            BookingError::OtherBody,
            422,
            says("Idempotency-Key was used with another body"),
        ),
        (
            parse_json(b"{").unwrap_err().into(),
            400,
            invalid("body: must be JSON"),
        ),
        (
            BookingError::NotObject,
            400,
            invalid("body: must be a JSON object"),
        ),
        (repeated.into(), 400, invalid("to: must not be repeated")),
        (
            BookingError::field("date", "must be good"),
            400,
            invalid("date: must be good"),
        ),
    ] {
        assert_eq!(answer::<BookingError>(error).await, (status, body));
    }
}

/// Endpoint 13 and the free times, where it names what is not there: spec.md, Errors; C-1, C-53, C-55.
#[tokio::test]
async fn bookings_of_nothing() {
    let no_calendar = coded(
        "CL006",
        "the calendar does not belong to the instance or is not active",
    );
    for (error, status, body) in [
        (AccessError::Unauthorized.into(), 400, no_calendar.clone()),
        (AccessError::Store(store()).into(), 500, says("Internal error")),
        (BookingError::NoCalendar, 400, no_calendar),
        (
            BookingError::NoLead,
            400,
            coded(
                "CL008",
                "the lead does not exist or does not belong to the instance",
            ),
        ),
        (
            BookingError::Opportunity,
            400,
            invalid("opportunityId: must be an opportunity of the lead, and null for a new one"),
        ),
        (BookingError::RescheduleKey, 400, invalid("rescheduleKey")),
        (
            BookingError::MovedOut,
            400,
            invalid("rescheduleMeetingId: a meeting can be moved 20 times"),
        ),
        (store().into(), 500, says("Internal error")),
    ] {
        assert_eq!(answer::<BookingError>(error).await, (status, body));
    }
}

/// C-53: one code, and why.
#[tokio::test]
async fn times_without_a_meeting() {
    for (reason, msg) in [
        (Unavailable::TooSoon, "the start is past or too soon"),
        (Unavailable::OffGrid, "the start is not one of the calendar's"),
        (
            Unavailable::OutsideHorizon,
            "the start is outside the days that can be booked",
        ),
        (Unavailable::Taken, "the start is taken"),
    ] {
        let error = BookingError::from(reason);
        assert_eq!(answer(error).await, (409, coded("slot_unavailable", msg)));
    }
}
