//! The HTTP API: throttling of routes, and the access log.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::template::{DOCUMENTS, all_routes, resources};

use super::{default_of, reference};
use tests::catalogue::public;

fn api() -> Value {
    let [(_, api)] = <[_; 1]>::try_from(resources("AWS::Serverless::HttpApi")).expect("one API");
    api
}

fn limits(rate: &str, burst: &str) -> Value {
    json!({ "ThrottlingRateLimit": reference(rate), "ThrottlingBurstLimit": reference(burst) })
}

/// Every route is throttled, and public ones more. Protected routes have no settings, so that one deployment suffices;
/// nor has `$default`, which neither reads nor writes.
#[test]
fn public_routes_have_lower_throttling() {
    let api = api();
    assert_eq!(api["DefaultRouteSettings"], limits("RouteRate", "RouteBurst"));

    let paths: BTreeSet<_> = public().into_iter().map(|route| route.route).collect();
    let public: BTreeSet<_> = all_routes()
        .into_iter()
        .filter(|route| paths.contains(&route.path) || route.function == DOCUMENTS)
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let settings = api["RouteSettings"].as_object().expect("settings of routes");
    let with_settings: BTreeSet<_> = settings.keys().cloned().collect();
    assert_eq!(with_settings, public);
    for (route, setting) in settings {
        let is_document = documents::PATHS
            .iter()
            .any(|path| route.ends_with(&format!(" {path}")));
        let (rate, burst) = if is_document { (2, 20) } else { (100, 200) };
        // Numbers, because the settings are untyped: a parameter's value would be text.
        let public = json!({ "ThrottlingRateLimit": rate, "ThrottlingBurstLimit": burst });
        assert_eq!(*setting, public, "{route}");
    }
    assert_eq!(
        (default_of("RouteRate"), default_of("RouteBurst")),
        (json!(200), json!(400))
    );
}

/// Functions answer preflight and set the CORS headers (C-5); API Gateway would replace them.
#[test]
fn cors_is_left_to_the_functions() {
    assert_eq!(api().get("CorsConfiguration"), None);
}

/// Paths may contain ids, queries a key, and addresses are personal data.
#[test]
fn the_access_log_contains_no_personal_data() {
    let log = &api()["AccessLogSettings"];
    let format = log["Format"].as_str().expect("a format");
    let line: serde_json::Map<String, Value> = serde_json::from_str(format).expect("one JSON object");
    let told: BTreeSet<_> = line.values().filter_map(Value::as_str).collect();
    let expected = [
        "$context.error.responseType",
        "$context.integration.latency",
        "$context.integration.requestId",
        "$context.integration.status",
        "$context.requestId",
        "$context.requestTime",
        "$context.responseLatency",
        "$context.responseLength",
        "$context.routeKey",
        "$context.status",
    ];
    assert_eq!(told, expected.into());
    assert_eq!(
        log["DestinationArn"],
        json!({ "Fn::GetAtt": "AccessLogGroup.Arn" })
    );
}
