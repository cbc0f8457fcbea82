//! Undeclared responses are detected, so the validation in all other tests is effective.

use http::{HeaderValue, StatusCode};
use serde_json::json;
use tests::openapi::INTERFACE;
use tests::{Answer, World};

/// The error for a changed response to a `GET`.
async fn told(path: &str, change: impl FnOnce(&mut Answer)) -> Result<(), String> {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let mut answer = world.get(path).with(&wallet).send().await;
    change(&mut answer);
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    INTERFACE.judge("GET", path, &answer)
}

fn put(answer: &mut Answer, header: &'static str, value: &'static str) {
    answer.headers.insert(header, HeaderValue::from_static(value));
}

const LEAD: &str = "/leads/1001?i=acme";

#[tokio::test]
async fn valid_responses_have_no_violation() {
    assert_eq!(told(LEAD, |_| {}).await, Ok(()));
    let sound = |answer: &mut Answer| {
        answer
            .headers
            .insert("ratelimit-limit", HeaderValue::from_static("60"));
        answer.headers.insert(
            "content-type",
            HeaderValue::from_static("application/json; charset=utf-8"),
        );
    };
    assert_eq!(told(LEAD, sound).await, Ok(()));
}

#[tokio::test]
async fn undeclared_parts_are_detected() {
    type Change = fn(&mut Answer);
    let cases: [(Change, &str); 9] = [
        (
            |answer| answer.status = StatusCode::ACCEPTED,
            "202 is not declared",
        ),
        (|answer| answer.body["data"]["lead"]["nick"] = json!("Zé"), "nick"),
        (|answer| answer.body["more"] = json!(1), "more"),
        (|answer| answer.body["data"]["lead"]["email"] = json!(5), "anyOf"),
        (
            |answer| drop(answer.headers.remove("x-request-id")),
            "the header x-request-id is absent",
        ),
        (
            |answer| put(answer, "x-request-id", "7"),
            "the header x-request-id: ",
        ),
        (
            |answer| put(answer, "x-new", "7"),
            "the header x-new is not declared",
        ),
        (
            |answer| put(answer, "ratelimit-reset", "soon"),
            "the header ratelimit-reset: ",
        ),
        (
            |answer| put(answer, "content-type", "text/plain"),
            "200 is not text/plain",
        ),
    ];
    for (change, expected) in cases {
        let breach = told(LEAD, change).await.expect_err(expected);
        assert!(breach.contains(expected), "{breach}");
    }
}

#[tokio::test]
async fn responses_without_an_operation_are_validated_too() {
    let world = World::empty().await;
    for (method, path, status) in [
        ("GET", "/nowhere", 404),
        ("PATCH", "/leads/7", 405),
        ("OPTIONS", "/leads", 204),
    ] {
        let mut answer = world.call(method, path).send().await;
        assert_eq!(answer.status, status);
        assert_eq!(INTERFACE.judge(method, path, &answer), Ok(()));
        answer.status = StatusCode::OK;
        assert_eq!(
            INTERFACE.judge(method, path, &answer),
            Err("200 is not declared".to_owned())
        );
    }
    // An existing route must not send the response for unknown paths.
    let missing = world.get("/nowhere").send().await;
    assert!(INTERFACE.judge("GET", "/leads", &missing).is_err());
}

/// An opportunity and its lead are composed of several schemas, but closed.
#[tokio::test]
async fn composed_objects_are_closed() {
    let change = |answer: &mut Answer| answer.body["data"]["lead"]["channelRestrictions"]["sms"] = json!({});
    assert!(told("/leads/1001?i=acme&allFields=1", change).await.is_err());
    for (name, example) in [("Opportunity", "createOpportunity"), ("Meeting", "listMeetings")] {
        let operation = INTERFACE
            .operations()
            .find(|operation| operation.value["operationId"] == example)
            .expect("an operation");
        let mut shown = operation.value["responses"]["200"]["content"]["application/json"]["example"].clone();
        let mut value = match shown.pointer_mut("/data/meetings/0") {
            Some(meeting) => meeting.take(),
            None => shown,
        };
        let validator = INTERFACE.validator(&format!("/components/schemas/{name}"));
        assert!(validator.is_valid(&value), "{name}");
        value["more"] = json!(1);
        assert!(!validator.is_valid(&value), "{name}");
    }
}
