//! The recorded events are complete and match their README.md and env.json.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tests::runtime::{Recorded, directory, packed};
use tests::template::{default_function, routes, table_functions, variables};

/// Each route of the template, including `$default`, has a recorded request for its function.
#[test]
fn every_route_has_a_request() {
    let requests: BTreeSet<_> = Recorded::all()
        .into_iter()
        .filter_map(|recorded| {
            let key = recorded.raw()["routeKey"].as_str()?.to_owned();
            Some((key, recorded.function))
        })
        .collect();
    let default = [("$default".to_owned(), default_function())];
    let routes = routes()
        .into_iter()
        .map(|route| (format!("{} {}", route.method, route.path), route.function));
    assert_eq!(requests, routes.chain(default).collect());
}

#[test]
fn every_function_has_an_event() {
    let functions: BTreeSet<_> = Recorded::all()
        .into_iter()
        .map(|recorded| recorded.function)
        .collect();
    assert_eq!(functions, table_functions().into_iter().collect());
}

#[test]
fn every_event_is_listed_once_in_the_readme() {
    let files = fs::read_dir(directory()).expect("the events");
    let files = files.filter_map(|file| {
        let name = file.expect("a file").file_name().into_string().expect("UTF-8");
        name.strip_suffix(".json").map(str::to_owned)
    });
    let functions = files.filter(|name| name != "env");
    let files: BTreeSet<_> = functions
        .flat_map(|function| packed(&function).into_iter().map(|(name, _)| name))
        .collect();
    let listed: Vec<_> = Recorded::all()
        .into_iter()
        .map(|recorded| recorded.name)
        .collect();
    assert_eq!(listed.iter().collect::<BTreeSet<_>>(), files.iter().collect());
    assert_eq!(listed.len(), files.len());
}

/// Redundant parts of an event match: route key, method and path; path parameters; and the query, which API
/// Gateway gives raw and decoded, with repeated values joined.
#[test]
fn events_are_consistent_like_api_gateways() {
    for recorded in Recorded::all() {
        let (name, event) = (&recorded.name, recorded.raw());
        if event.get("version") != Some(&Value::from("2.0")) {
            continue;
        }
        let context = &event["requestContext"];
        assert_eq!(event["routeKey"], context["routeKey"], "{name}");
        assert_eq!(event["rawPath"], context["http"]["path"], "{name}");
        let key = event["routeKey"].as_str().expect("a route key");
        if let Some((method, path)) = key.split_once(' ') {
            assert_eq!(context["http"]["method"], method, "{name}");
            let prefix = match context["stage"].as_str().expect("a stage") {
                "$default" => String::new(),
                stage => format!("/{stage}"),
            };
            let parameters = event["pathParameters"].as_object().into_iter().flatten();
            let path = parameters.fold(path.to_owned(), |path, (name, value)| {
                path.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default())
            });
            assert_eq!(event["rawPath"], format!("{prefix}{path}"), "{name}");
        }
        let query = event["rawQueryString"].as_str().expect("a query");
        let names: BTreeSet<_> = query
            .split('&')
            .filter_map(|pair| pair.split_once('=').map(|(name, _)| name))
            .collect();
        let decoded = event["queryStringParameters"].as_object().into_iter().flatten();
        assert_eq!(names, decoded.map(|(name, _)| name.as_str()).collect(), "{name}");
        for (header, _) in event["headers"].as_object().expect("headers") {
            assert_eq!(*header, header.to_lowercase(), "{name}");
        }
    }
}

/// `sam local invoke` passes only variables that the template declares.
#[test]
fn env_json_names_the_templates_variables() {
    let text = fs::read_to_string(directory().join("env.json")).expect("env.json");
    let environment: Value = serde_json::from_str(&text).expect("JSON");
    let named = environment["Parameters"].as_object().expect("for all functions");
    let declared = variables();
    for name in named.keys() {
        assert!(declared.contains(name), "the template declares no {name}");
    }
    assert_eq!(named["TABLE_NAME"], "funil");
    assert_eq!(
        named["AWS_ENDPOINT_URL_DYNAMODB"],
        "http://host.docker.internal:4566"
    );
}
