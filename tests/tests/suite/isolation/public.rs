//! Public routes: exactly the intended ones, and independent of credentials.

use serde_json::{Value, json};
use tests::bookings::{FREE, booking};
use tests::forms::address;
use tests::template::routes;

use super::guarded::{PUBLIC, guarded};
use super::world;

/// No public route is missing from the template.
#[test]
fn every_route_is_public_or_protected() {
    let routes: Vec<_> = routes()
        .into_iter()
        .filter(|route| route.method != "ANY")
        .collect();
    for (method, path) in PUBLIC {
        let known = routes
            .iter()
            .any(|route| (route.method.as_str(), route.path.as_str()) == (method, path));
        assert!(known, "{method} {path} is no route");
    }
    assert_eq!(guarded().len() + PUBLIC.len(), routes.len());
}

/// A valid request to a public route, and the status of its response.
pub fn good(method: &str, path: &str) -> (String, Value, u16) {
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "551130001000", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    match (method, path) {
        ("GET", "/book/{instance}/{keyName}") => ("/book/acme/demo?".to_owned(), Value::Null, 200),
        ("GET", "/calendarmeeting/slots") => (
            "/calendarmeeting/slots?i=acme&keyName=demo".to_owned(),
            Value::Null,
            200,
        ),
        ("POST", "/voip/webhook") => ("/voip/webhook?i=acme".to_owned(), call, 201),
        ("POST", "/api/hook/{name}") => (address(""), json!({ "nome": "Bia" }), 200),
        _ => (
            "/calendarmeeting?i=acme".to_owned(),
            booking(FREE[0], &json!({})),
            200,
        ),
    }
}

/// The response is the same without credentials, with invalid ones, and with those of another instance.
#[tokio::test]
async fn public_routes_do_not_depend_on_credentials() {
    for (method, path) in PUBLIC {
        let (uri, body, status) = good(method, path);
        let mut answers = Vec::new();
        for case in 0..4 {
            let world = world().await;
            let other = world.wallet_of(super::OTHER, 7).await;
            let (query, key, bearer) = match case {
                0 => (String::new(), "", String::new()),
                1 => (
                    "&apitoken=garbage".to_owned(),
                    "garbage",
                    "Bearer garbage".to_owned(),
                ),
                2 => (
                    format!("&apitoken={}", other.key),
                    other.key.as_str(),
                    format!("Bearer {}", other.token),
                ),
                _ => ("&apitoken=a&apitoken=b".to_owned(), "", "Basic Zm9v".to_owned()),
            };
            let mut call = world.call(method, &format!("{uri}{query}"));
            if !body.is_null() {
                call = call.json(&body);
            }
            for (name, value) in [("apitoken", key), ("authorization", &bearer)] {
                if !value.is_empty() {
                    call = call.header(name, value);
                }
            }
            let mut answer = call.send().await;
            assert_eq!(answer.status, status, "{method} {path} {case}");
            if let Some(data) = answer.body.get_mut("data").and_then(Value::as_object_mut) {
                // Each world has its own secret.
                data.shift_remove("rescheduleKey");
            }
            answers.push((answer.body, answer.cost.calls.len()));
        }
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{method} {path}"
        );
    }
}
