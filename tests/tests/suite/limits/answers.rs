//! Headers and errors of rate limits, in every route's format.

use dynamodb::faults::Fault;
use serde_json::{Value, json};
use tests::World;
use tests::bookings::open_calendars;
use tests::catalogue::catalogue;
use tests::forms::add_form;
use tests::template::{actions, routes};
use tests::world::over_sdk;

use super::{beyond, keyed, public, said, set, within};
use crate::faults::always;

/// C-4, C-9: the complete response on every route of the template.
#[tokio::test]
async fn beyond_the_limit_on_every_route() {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    add_form(&world.operator("acme"), &Value::Null).await;
    let wallet = world.wallet(7).await;
    for setting in ["requests_per_minute", "public_requests_per_minute"] {
        set(&world, setting, &json!(1)).await;
    }
    assert_eq!(said(&keyed(&world, &wallet).send().await), within(200, 1, 0, 60));
    assert_eq!(said(&public(&world).send().await), within(400, 1, 0, 60));
    for route in catalogue()
        .iter()
        .filter(|route| !route.path.starts_with("/book"))
    {
        let key = format!("apitoken={}", wallet.key);
        let request = || route.call(&world, &["i=acme", &key]).with(&wallet);
        // Each public route has its own limit.
        request().send().await;
        let answer = request().send().await;
        let text = route.text;
        assert_eq!(
            (said(&answer), &answer.body),
            (beyond(1, 60), &json!({ text: "Too many requests" })),
            "{route:?}"
        );
        let mut names: Vec<_> = answer.headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "access-control-allow-origin",
                "access-control-expose-headers",
                "cache-control",
                "content-length",
                "content-type",
                "ratelimit-limit",
                "ratelimit-remaining",
                "ratelimit-reset",
                "retry-after",
                "x-content-type-options",
                "x-funil-version",
                "x-request-id",
            ],
            "{route:?}"
        );
        assert!(answer.cost.write_units() <= 0.0, "{route:?}: {:?}", answer.cost);
    }
    assert_eq!(world.calls().await.len(), 0);
}

#[tokio::test]
async fn errors_contain_the_remaining_requests() {
    let _sdk = over_sdk();
    let world = World::new().await;
    let (wallet, nobody) = (world.wallet(7).await, world.wallet(13).await);
    for setting in ["requests_per_minute", "public_requests_per_minute"] {
        set(&world, setting, &json!(10)).await;
    }
    let not_found = json!({ "error": "Not found" });
    for (request, body, expected) in [
        (
            world.get("/leads/4711?i=acme").with(&wallet),
            not_found.clone(),
            within(404, 10, 9, 60),
        ),
        (
            world.get("/leads/1001?i=acme").with(&nobody),
            not_found,
            within(404, 10, 8, 60),
        ),
    ] {
        let answer = request.send().await;
        assert_eq!((said(&answer), answer.body), (expected, body));
    }
    let call = world.call("POST", "/crmopportunity?i=acme&id=3").with(&wallet);
    assert_eq!(said(&call.bytes("{").send().await), within(400, 10, 7, 60));
    let world = world.with_faults(always("Query", Fault::FailedBefore));
    let failed = world.get("/leads?i=acme").with(&wallet).send().await;
    assert_eq!(
        (said(&failed), failed.body),
        (within(500, 10, 6, 60), json!({ "error": "Internal error" }))
    );
}

/// The response reveals neither errors of the request nor its target.
#[tokio::test]
async fn the_limit_is_checked_before_the_request() {
    let world = super::world("requests_per_minute", 1).await;
    let wallet = world.wallet(7).await;
    keyed(&world, &wallet).send().await;
    for uri in [
        "/leads/x?i=acme",
        "/leads/4711?i=acme",
        "/leads?i=acme&limit=0",
        "/leads?i=acme",
    ] {
        let answer = world.get(uri).with(&wallet).send().await;
        let expected: (_, Value) = (beyond(1, 60), json!({ "error": "Too many requests" }));
        assert_eq!((said(&answer), answer.body), expected, "{uri}");
    }
    let stranger = world.get("/leads/1001?i=acme").send().await;
    assert_eq!((said(&stranger).1, stranger.status.as_u16()), ([None; 4], 401));
}

/// Every function with client routes may write counters.
#[test]
fn functions_may_write_counters() {
    // The page is the only route without a limit.
    let limited = routes()
        .into_iter()
        .filter(|route| !route.path.starts_with("/book"));
    for route in limited {
        let actions = actions(&route.function);
        assert!(actions.contains(&"dynamodb:UpdateItem".to_owned()), "{route:?}");
    }
}
