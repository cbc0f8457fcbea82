//! Rules for every request: C-4 to C-6.

use axum::Router;
use axum::routing::get;
use http::header;
use serde_json::json;
use shared::http::{ErrorFormat, RouteGroup};
use tests::World;

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

/// C-4: an incomplete body is rejected in the endpoint's format; where the body is fixed (8, 10), only a
/// header names the error.
#[tokio::test]
async fn incomplete_bodies_are_rejected() {
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

/// C-4, C-6: bodies that are no JSON, no object or too large, on every route that reads one. The error has the
/// route's shape, and nothing is written.
#[tokio::test]
async fn invalid_bodies_are_rejected_on_every_route() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let before = world.raw().items().len();
    for (method, uri, shape) in [
        ("POST", "/crmopportunity?id=3", "msg"),
        ("PUT", "/crmopportunity/1?id=3", "header"),
        ("POST", "/crm/opportunities/3?", "header"),
        ("POST", "/calendarmeeting?", "details"),
        ("POST", "/lead/archive?", "details"),
        ("DELETE", "/leads?", "details"),
        ("POST", "/voip/webhook?", "schema"),
    ] {
        let uri = format!("{uri}&i=acme&apitoken={}", admin.key);
        let send = |body: Vec<u8>| world.call(method, &uri).with(&admin).bytes(body).send();
        let mut bodies: Vec<_> = not_json().into_iter().map(|body| (body, "")).collect();
        // Schemas say themselves what is no object (C-41, C-70).
        if shape != "schema" && !uri.starts_with("/crm/") {
            let other = ["null", "true", "0", "\"{}\"", "[]", "[{}]"];
            bodies.extend(other.map(|text| (text.into(), "body: must be a JSON object")));
        }
        for (body, details) in bodies {
            let start = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            // What is no UTF-8 is refused by its first byte at fault, from 1.
            let byte = std::str::from_utf8(&body).err().map(|error| error.valid_up_to());
            let byte = body
                .iter()
                .position(|byte| *byte == 0)
                .into_iter()
                .chain(byte)
                .min();
            let must = byte.map_or("must be JSON".to_owned(), |byte| {
                format!("must be JSON in UTF-8 (byte {} is not)", byte + 1)
            });
            let of_body = format!("body: {must}");
            let details = if details.is_empty() { &of_body } else { details };
            let parse = json!({ "instancePath": "", "keyword": "parse", "message": must });
            let refused = |details: &str| match shape {
                "msg" => json!({ "msg": details }),
                "details" => json!({ "error": "Invalid request", "details": details }),
                "header" => json!({ "error": "Invalid request" }),
                _ => json!({ "msg": "invalid_body", "err": parse }),
            };
            let answer = send(body).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body),
                (400, &refused(details)),
                "{uri} {start}"
            );
            let named = answer
                .headers
                .get("x-error-details")
                .map(http::HeaderValue::as_bytes);
            assert_eq!(
                named,
                (shape == "header").then_some(details.as_bytes()),
                "{uri} {start}"
            );
        }
        let answer = send(vec![b' '; 256 * 1024 + 1]).await;
        let text = if ["msg", "schema"].contains(&shape) {
            "msg"
        } else {
            "error"
        };
        answer.is(413, &json!({ text: "Payload too large" }));
        assert!(answer.cost.calls.is_empty());
    }
    assert_eq!(world.raw().items().len(), before);
}
