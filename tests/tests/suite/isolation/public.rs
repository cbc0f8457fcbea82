//! Public routes: exactly the intended ones, and independent of credentials.

use serde_json::Value;
use tests::catalogue::public;

use super::world;

/// The response is the same without credentials, with invalid ones, and with those of another instance.
#[tokio::test]
async fn public_routes_do_not_depend_on_credentials() {
    for route in public() {
        let mut answers = Vec::new();
        for case in 0..4 {
            let world = world().await;
            let other = world.wallet_of(super::OTHER, 7).await;
            let (query, key, bearer) = match case {
                0 => (String::new(), "", String::new()),
                1 => (
                    "apitoken=garbage".to_owned(),
                    "garbage",
                    "Bearer garbage".to_owned(),
                ),
                2 => (
                    format!("apitoken={}", other.key),
                    other.key.as_str(),
                    format!("Bearer {}", other.token),
                ),
                _ => ("apitoken=a&apitoken=b".to_owned(), "", "Basic Zm9v".to_owned()),
            };
            let mut call = route.call(&world, &["i=acme", &query]);
            for (name, value) in [("apitoken", key), ("authorization", &bearer)] {
                if !value.is_empty() {
                    call = call.header(name, value);
                }
            }
            let mut answer = call.send().await;
            assert!(answer.status.is_success(), "{route:?} {case}");
            if let Some(data) = answer.body.get_mut("data").and_then(Value::as_object_mut) {
                // Each world has its own secret.
                data.shift_remove("rescheduleKey");
            }
            answers.push((answer.body, answer.cost.calls.len()));
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{route:?}");
    }
}
