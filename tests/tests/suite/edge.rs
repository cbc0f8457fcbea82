//! What every request passes: C-4 to C-6.

use axum::Router;
use axum::routing::get;
use http::header;
use serde_json::json;
use shared::http::{Group, Shape};
use tests::World;

/// C-5: every answer, also an error, is JSON with a request id and CORS headers.
#[tokio::test]
async fn every_answer_has_its_headers() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let mut ids = Vec::new();
    for call in [
        world.get("/leads?i=acme").with(&wallet),
        world.get("/leads?i=acme"),
        world.get("/leads"),
        world.get("/nowhere"),
        world.call("PATCH", "/leads"),
        world.webhook(&json!({})),
        world.call("OPTIONS", "/leads"),
        world
            .call("POST", "/voip/webhook?i=acme")
            .bytes(vec![b' '; 300_000]),
    ] {
        let answer = call.header("origin", "https://shop.example").send().await;
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json");
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        let id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
        assert_eq!(id.len(), 32);
        assert!(!ids.contains(&id));
        ids.push(id);
    }
}

/// C-5: an answer that says it is a page keeps its type; whatever else one says it is, it is JSON. Both have the headers of
/// every answer.
#[tokio::test]
async fn a_page_stays_one() {
    for (said, answered, body) in [
        ("text/html; charset=utf-8", "text/html; charset=utf-8", json!("7")),
        ("text/html", "text/html", json!("7")),
        ("text/htmlx", "application/json", json!(7)),
        ("text/plain; charset=utf-8", "application/json", json!(7)),
        ("image/svg+xml", "application/json", json!(7)),
    ] {
        let answer = async move || ([(header::CONTENT_TYPE, said)], "7");
        let routes = Router::new().route("/page", get(answer));
        let shape = Shape::Error;
        let world = World::empty().await.with_group(Group { routes, shape });
        let answer = world.get("/page").send().await;
        answer.is(200, &body);
        assert_eq!(answer.headers[header::CONTENT_TYPE], answered);
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        assert_eq!(answer.headers["x-request-id"].len(), 32);
    }
}

/// C-5: preflight, on every path.
#[tokio::test]
async fn preflight() {
    let world = World::empty().await;
    for path in ["/leads", "/leads/7", "/voip/webhook", "/nowhere"] {
        let call = world
            .call("OPTIONS", path)
            .header("origin", "https://shop.example");
        let answer = call.header("access-control-request-method", "POST").send().await;
        assert_eq!(answer.status, 204);
        assert_eq!(
            answer.headers[header::ACCESS_CONTROL_ALLOW_METHODS],
            "GET, POST, PUT, DELETE"
        );
        let headers = "content-type, authorization, apitoken, x-voip-signature, idempotency-key";
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_HEADERS], headers);
        assert!(answer.cost.calls.is_empty());
    }
}

/// C-4: 404 and 405, each in its endpoint's shape.
#[tokio::test]
async fn unknown_paths_and_methods() {
    let world = World::empty().await;
    for path in [
        "/",
        "/lead",
        "/leads/",
        "/leads/7/notes",
        "/voip",
        "/voip/webhook/",
    ] {
        world
            .get(path)
            .send()
            .await
            .is(404, &json!({ "error": "Not found" }));
    }
    for (method, path, allowed) in [
        ("POST", "/leads", "GET,HEAD,DELETE"),
        ("PUT", "/leads/7", "GET,HEAD,DELETE"),
        ("DELETE", "/lead/archive", "POST"),
    ] {
        let answer = world.call(method, path).send().await;
        answer.is(405, &json!({ "error": "Method not allowed" }));
        assert_eq!(answer.headers[header::ALLOW], allowed);
    }
    for path in ["/voip/webhook", "/crmopportunity"] {
        let answer = world.get(path).send().await;
        answer.is(405, &json!({ "msg": "Method not allowed" }));
        assert_eq!(answer.headers[header::ALLOW], "POST");
    }
}

/// C-6: 256 KiB are read, one byte more is not, and nothing is done for it.
#[tokio::test]
async fn the_limit_of_a_body() {
    let world = World::new().await;
    let spaces = |length: usize| {
        let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "type": "INCOMING",
            "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
        let mut bytes = call.to_string().into_bytes();
        bytes.resize(length, b' ');
        bytes
    };
    let post = |bytes: Vec<u8>| world.call("POST", "/voip/webhook?i=acme").bytes(bytes).send();
    assert_eq!(post(spaces(256 * 1024)).await.status, 201);
    for length in [256 * 1024 + 1, 2 * 1024 * 1024, 12 * 1024 * 1024] {
        let answer = post(spaces(length)).await;
        answer.is(413, &json!({ "msg": "Payload too large" }));
        assert!(answer.cost.calls.is_empty());
    }
    let wallet = world.wallet(7).await;
    let answer = world
        .get("/leads?i=acme")
        .with(&wallet)
        .bytes(vec![b'x'; 300_000])
        .send()
        .await;
    answer.is(413, &json!({ "error": "Payload too large" }));
    assert_eq!(world.calls().await.len(), 1);
}

/// C-4: a body that breaks off is refused in the endpoint's shape; where that is fixed (8, 10), nothing but a header names it.
#[tokio::test]
async fn a_body_that_breaks_off() {
    let world = World::new().await;
    let fixed = json!({ "error": "Invalid request" });
    let detailed = json!({ "error": "Invalid request", "details": "body: broke off" });
    let parse = json!({ "instancePath": "", "keyword": "parse", "message": "must be JSON" });
    for (method, uri, body, header) in [
        ("PUT", "/crmopportunity/1?id=3", &fixed, true),
        ("POST", "/crm/opportunities/3", &fixed, true),
        (
            "POST",
            "/crmopportunity?id=3",
            &json!({ "msg": "body: broke off" }),
            false,
        ),
        (
            "POST",
            "/voip/webhook?i=acme",
            &json!({ "msg": "invalid_body", "err": parse }),
            false,
        ),
        ("POST", "/lead/archive?i=acme", &detailed, false),
        ("POST", "/calendarmeeting?i=acme", &detailed, false),
    ] {
        let answer = world.call(method, uri).bytes("{").broken_off().send().await;
        answer.is(400, body);
        let named = answer
            .headers
            .get("x-error-details")
            .map(http::HeaderValue::as_bytes);
        assert_eq!(named, header.then_some(&b"body: broke off"[..]), "{uri}");
        assert!(answer.cost.calls.is_empty());
    }
}

/// C-4: a panic is an answer, in its group's shape, with its headers; the process goes on.
#[tokio::test]
async fn a_panic_is_an_internal_error() {
    for (shape, body) in [
        (Shape::Error, json!({ "error": "Internal error" })),
        (
            Shape::CallWebhook,
            json!({ "msg": "failed_voip_webhook", "err": "storage" }),
        ),
    ] {
        let routes = Router::new().route("/boom", get(boom));
        let world = World::new().await.with_group(Group { routes, shape });
        let answer = world.get("/boom").send().await;
        answer.is(500, &body);
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        let wallet = world.wallet(7).await;
        assert_eq!(world.get("/leads?i=acme").with(&wallet).send().await.status, 200);
    }
}

#[expect(clippy::panic, reason = "it is what is tested")]
async fn boom() -> &'static str {
    panic!("a secret cause")
}
