//! Rules for every request: C-4 to C-6.

use axum::Router;
use axum::routing::get;
use http::header;
use serde_json::{Value, json};
use shared::http::{ErrorFormat, RouteGroup};
use tests::catalogue::{Entry, catalogue};
use tests::{Answer, World};

use crate::isolation;

/// C-5: including errors: JSON with a request id and CORS headers.
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
        assert_eq!(
            answer.headers[header::CONTENT_TYPE],
            "application/json; charset=utf-8"
        );
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        let id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
        assert_eq!(id.len(), 32);
        assert!(!ids.contains(&id));
        ids.push(id);
    }
}

/// C-5: a response marked as a page keeps its type; all others are JSON. Both have the common headers.
#[tokio::test]
async fn pages_keep_their_content_type() {
    for (said, answered, body) in [
        ("text/html; charset=utf-8", "text/html; charset=utf-8", json!("7")),
        ("text/html", "text/html", json!("7")),
        ("text/htmlx", "application/json; charset=utf-8", json!(7)),
        (
            "text/plain; charset=utf-8",
            "application/json; charset=utf-8",
            json!(7),
        ),
        ("image/svg+xml", "application/json; charset=utf-8", json!(7)),
    ] {
        let answer = async move || ([(header::CONTENT_TYPE, said)], "7");
        let routes = Router::new().route("/page", get(answer));
        let shape = ErrorFormat::Error;
        let world = World::empty().await.with_group(RouteGroup { routes, shape });
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
        let headers = "content-type, authorization, apitoken, x-voip-signature, idempotency-key, traceparent";
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_HEADERS], headers);
        assert!(answer.cost.calls.is_empty());
    }
}

/// C-4: 404 and 405 in the endpoint's format.
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
        "/book/acme//",
        "/book//demo/",
        "/book/acme/demo//",
        "/book/acme/demo/more/",
    ] {
        world
            .get(path)
            .send()
            .await
            .is(404, &json!({ "error": "Not found", "details": "no such route" }));
    }
    for (method, path, allowed) in [
        ("POST", "/crm", "GET,HEAD"),
        ("PUT", "/advancedreports", "GET,HEAD"),
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

/// The link of a booking page works with a slash at its end; other routes have one path only.
#[tokio::test]
async fn a_booking_link_with_a_slash() {
    let world = World::empty().await;
    for (path, link) in [
        ("/book/acme/demo/", "/book/acme/demo"),
        ("/book/acme/a%20b/?utm_source=x", "/book/acme/a%20b?utm_source=x"),
        ("/book/evil.example/%2F/", "/book/evil.example/%2F"),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = world.call(method, path).send().await;
            assert_eq!(answer.status, 308, "{path}");
            assert_eq!(answer.headers[header::LOCATION], link);
            assert!(answer.cost.calls.is_empty());
        }
        let answer = world.call("POST", path).send().await;
        answer.is(404, &json!({ "error": "Not found", "details": "no such route" }));
    }
}

/// C-6: 256 KiB are accepted, one byte more is not, and has no effect.
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
    let answer = post(spaces(12 * 1024 * 1024)).await;
    answer.is(413, &json!({ "msg": "Payload too large" }));
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

/// C-4: in its group's format, with the common headers; the process continues.
#[tokio::test]
async fn a_panic_is_an_internal_error() {
    for (shape, body) in [
        (ErrorFormat::Error, json!({ "error": "Internal error" })),
        (
            ErrorFormat::CallWebhook,
            json!({ "msg": "failed_voip_webhook", "err": "storage" }),
        ),
    ] {
        let routes = Router::new().route("/boom", get(boom));
        let world = World::new().await.with_group(RouteGroup { routes, shape });
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

/// Bodies other than one JSON value in UTF-8.
fn not_json() -> Vec<Vec<u8>> {
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let mut all: Vec<Vec<u8>> = vec![
        format!("{{\"title\":{nested}}}").into(),
        "[".repeat(200_000).into(),
        "{\"title\":".repeat(20_000).into(),
    ];
    let short: [&[u8]; 18] = [
        b"",
        b" ",
        b"{",
        b"title=Reforma&crm_column=31",
        b"null x",
        b"\xFF\xFE",
        b"{}{}",
        b"{}}",
        b"{}\0",
        b"{'title':1}",
        b"{\"title\":1,}",
        b"{\"title\":031}",
        b"{\"title\":NaN}",
        b"{\"title\":\"cham\xE9e\"}",
        b"{\"title\":\"\xC3\x28\"}",
        b"{\"title\":\"\xED\xA0\x80\"}",
        b"{\"title\":\"\xC0\xAF\"}",
        b"{\"title\":\"a\x00b\"}",
    ];
    all.extend(short.map(<[u8]>::to_vec));
    all
}

/// The routes that read JSON.
fn reading() -> Vec<Entry> {
    let mut routes = catalogue();
    routes.retain(|route| !route.body.is_null() && route.route != "/api/hook/{name}");
    routes
}

/// Requires the 400 of a route for its body, in the route's format, before any call (C-4).
#[track_caller]
fn is_refused(route: &Entry, answer: &Answer, must: &str) {
    let details = format!("body: {must}");
    let parse = json!({ "instancePath": "", "keyword": "parse", "message": must });
    let body = match route.text {
        _ if route.route == "/voip/webhook" => json!({ "msg": "invalid_body", "err": parse }),
        _ if route.fixed => json!({ "error": "Invalid request" }),
        "msg" => json!({ "msg": details }),
        _ => json!({ "error": "Invalid request", "details": details }),
    };
    assert_eq!(
        (answer.status.as_u16(), &answer.body),
        (400, &body),
        "{}: {must}",
        route.name()
    );
    // Where spec.md fixes the body, the reason is in a header.
    let named = answer
        .headers
        .get("x-error-details")
        .map(http::HeaderValue::as_bytes);
    assert_eq!(
        named,
        route.fixed.then_some(details.as_bytes()),
        "{}",
        route.name()
    );
}

/// C-4, C-6: bodies that are broken off, no JSON, no object or too large. Nothing is written.
#[tokio::test]
async fn invalid_bodies_are_rejected_on_every_route() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let before = world.raw().items().len();
    for route in reading() {
        let call = || route.with(&world, "i=acme", &wallet.key, &wallet.token);
        for bytes in not_json() {
            // Its body may be absent.
            if route.route == "/leadsadvanced" && bytes.trim_ascii().is_empty() {
                continue;
            }
            // What is no UTF-8 is refused by its first byte at fault, from 1.
            let byte = std::str::from_utf8(&bytes).err().map(|error| error.valid_up_to());
            let zero = bytes.iter().position(|byte| *byte == 0);
            let must = zero
                .into_iter()
                .chain(byte)
                .min()
                .map_or("must be JSON".to_owned(), |byte| {
                    format!("must be JSON in UTF-8 (byte {} is not)", byte + 1)
                });
            is_refused(&route, &call().bytes(bytes).send().await, &must);
        }
        // Schemas say themselves what is no object (C-41, C-70).
        if !["/voip/webhook", "/crm/opportunities/{id}"].contains(&&*route.route) {
            for text in ["null", "true", "0", "\"{}\"", "[]", "[{}]"] {
                is_refused(&route, &call().bytes(text).send().await, "must be a JSON object");
            }
        }
        let answer = call().bytes("{").broken_off().send().await;
        let must = if route.route == "/voip/webhook" {
            "must be JSON"
        } else {
            "broke off"
        };
        is_refused(&route, &answer, must);
        assert!(answer.cost.calls.is_empty());
        let answer = call().bytes(vec![b' '; 256 * 1024 + 1]).send().await;
        answer.is(413, &route.says("Payload too large"));
        assert!(answer.cost.calls.is_empty());
    }
    assert_eq!(world.raw().items().len(), before);
}

/// C-4, C-6: a byte order mark, another content type or none, and unknown parameters and headers.
#[tokio::test]
async fn content_types_and_unknown_parameters_are_ignored() {
    let mut expected = Vec::new();
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "text/plain",
        "",
        "none",
    ] {
        let world = isolation::world().await;
        let wallet = world.wallet(7).await;
        let mut answers = Vec::new();
        for route in reading() {
            let (params, text) = (
                format!("x=1&{}&x=2", route.params),
                format!("\u{feff}{}", route.body),
            );
            let bare = Entry {
                body: Value::Null,
                params,
                ..route
            };
            let call = bare
                .with(&world, "i=acme", &wallet.key, &wallet.token)
                .header("x-unknown", "1")
                .bytes(text);
            let call = if kind == "none" {
                call
            } else {
                call.header("content-type", kind)
            };
            let mut answer = call.send().await;
            assert!(
                answer.status.is_success(),
                "{}: {kind}: {}",
                bare.name(),
                answer.body
            );
            if let Some(data) = answer.body.get_mut("data").and_then(Value::as_object_mut) {
                // Each world has its own secret.
                data.shift_remove("rescheduleKey");
            }
            answers.push(answer.body);
        }
        if expected.is_empty() {
            expected = answers;
        } else {
            assert_eq!(answers, expected, "{kind}");
        }
    }
}
