//! Errors of `POST /voip/webhook`.

use serde_json::{Value, json};
use tests::{Answer, World};

use super::body;

fn invalid(instance_path: &str, keyword: &str, message: &str) -> Value {
    let err = json!({ "instancePath": instance_path, "keyword": keyword, "message": message });
    json!({ "msg": "invalid_body", "err": err })
}

/// C-70: AJV's error, field for field, without the omitted ones. The vectors also run in `shared`; here over
/// HTTP.
#[tokio::test]
async fn every_schema_vector_returns_its_error() {
    let world = World::new().await;
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("../../../../shared/vectors/ajv-call-webhook.json"))
            .expect("vectors");
    assert!(vectors.len() > 100);
    for vector in vectors.iter().filter(|vector| vector["valid"] == false) {
        let error = &vector["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let expected = invalid(&text("instancePath"), &text("keyword"), &text("message"));
        world.webhook(&vector["body"]).send().await.is(400, &expected);
    }
    assert!(world.calls().await.is_empty());
}

/// C-70: the user must exist, and may be inactive.
#[tokio::test]
async fn unknown_users_are_rejected() {
    let world = World::new().await;
    let unknown = invalid("/data/user", "exists", "must be the id of an existing user");
    for user in [
        json!(99),
        json!(0),
        json!(-8),
        json!(1e300),
        json!(9_007_199_254_740_993_u64),
    ] {
        world
            .webhook(&body(&json!({ "user": user })))
            .send()
            .await
            .is(400, &unknown);
    }
    for user in [json!(12), json!(8.0), json!(0.8e1)] {
        assert_eq!(
            world.webhook(&body(&json!({ "user": user }))).send().await.status,
            201
        );
    }
    assert!(
        world
            .calls()
            .await
            .iter()
            .all(|call| [8, 12].contains(&call.user.get()))
    );
}

/// C-6, C-70: numbers beyond a double, and a byte order mark.
#[tokio::test]
async fn numbers_beyond_a_double_are_rejected() {
    let world = World::new().await;
    // A number beyond a double is none, and a byte order mark is no part of the body.
    let event = invalid("", "required", "must have required property 'event'");
    let huge = body(&json!({ "duration": 60 }))
        .to_string()
        .replace("60", "1e400");
    let duration = invalid("/data/duration", "type", "must be integer");
    for (text, answer) in [("\u{feff}{}", event), (&huge, duration)] {
        let call = world.call("POST", "/voip/webhook?i=acme");
        call.bytes(text.as_bytes().to_vec()).send().await.is(400, &answer);
    }
}

async fn call(world: &World, rest: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut call = world.call("POST", &format!("/voip/webhook?{rest}")).json(body);
    for (name, value) in headers {
        call = call.header(name, value);
    }
    call.send().await
}

/// spec.md, Authentication; C-75: the secret is in header or query, checked before the body.
#[tokio::test]
async fn the_secret_is_checked_before_the_body() {
    let world = World::new().await;
    tests::people::set(
        &world.operator("acme"),
        "voip_webhook_secret",
        &json!("s3cret+/="),
    )
    .await;
    let (good, bad) = (body(&json!({})), json!({ "event": "other" }));
    let unauthorized = json!({ "msg": "unauthorized" });
    for (rest, headers, admitted) in [
        ("i=acme", &[][..], false),
        ("i=acme", &[("x-voip-signature", "s3cret+/=")], true),
        ("i=acme&secret=s3cret%2B/%3D", &[], true),
        ("i=acme&secret=wrong", &[], false),
        ("i=acme&secret=", &[], false),
        ("i=acme&secret=s3cret%2B/%3D&secret=s3cret%2B/%3D", &[], false),
        ("i=acme&secret=wrong", &[("x-voip-signature", "s3cret+/=")], true),
        (
            "i=acme&secret=s3cret%2B/%3D",
            &[("x-voip-signature", "wrong")],
            false,
        ),
        ("i=acme", &[("x-voip-signature", "S3CRET+/=")], false),
        (
            "i=acme",
            &[("authorization", "s3cret+/="), ("apitoken", "s3cret+/=")],
            false,
        ),
    ] {
        let answer = call(&world, rest, headers, &good).await;
        assert_eq!(
            answer.status,
            if admitted { 201 } else { 401 },
            "{rest} {headers:?}"
        );
        let answer = call(&world, rest, headers, &bad).await;
        if admitted {
            answer.is(
                400,
                &invalid("", "required", "must have required property 'data'"),
            );
        } else {
            answer.is(401, &unauthorized);
        }
    }
    tests::people::set(&world.operator("acme"), "voip_webhook_secret", &Value::Null).await;
    assert_eq!(
        call(&world, "i=acme", &[], &good).await.status,
        201,
        "a setting holds from the next request"
    );
}

/// C-1: `i` is checked first; an unknown instance responds like a wrong secret.
#[tokio::test]
async fn the_instance_is_checked_first() {
    let world = World::new().await;
    let missing = invalid("", "required", "must have required property 'i'");
    for rest in ["", "i=", "i=%20", "i=acme&i=acme", "instance=acme"] {
        call(&world, rest, &[], &json!({})).await.is(400, &missing);
    }
    for rest in ["i=nobody", "i=ACME", "i=acme%23call", "i=%FF", "i=acme%00"] {
        call(&world, rest, &[], &json!({}))
            .await
            .is(401, &json!({ "msg": "unauthorized" }));
    }
}
