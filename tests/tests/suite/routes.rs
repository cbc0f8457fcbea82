//! The template is the list of routes: each is implemented, with exactly its methods.

use std::collections::BTreeSet;

use http::header;
use shared::environment::Environment;
use shared::http::{App, Origins, service};
use tests::World;
use tests::template::{
    Route, actions, all_routes, default_function, document_routes, function_names, routes,
};
use tower::ServiceExt as _;

/// A path of the template with values for its parameters.
fn concrete(path: &str) -> String {
    let path = path.replace("{id}", "7").replace("{name}", "contact");
    path.replace("{instance}/{keyName}", "acme/demo")
}

/// Status, `allow` and body of a response.
async fn told(router: &axum::Router, method: &str, path: &str) -> (u16, String, String) {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.body(axum::body::Body::empty()).expect("a request");
    let answer = router.clone().oneshot(request).await.expect("a response");
    let allow = answer.headers().get(header::ALLOW);
    let allow = allow
        .map_or("", |methods| methods.to_str().expect("text"))
        .to_owned();
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await;
    let mut body = String::from_utf8(body.expect("a body").into()).expect("text");
    if method == "HEAD" {
        // The server sends none.
        body.clear();
    }
    (status, allow, body)
}

/// The function of unmatched requests has only its own handlers, `funil serve` has all. Both respond alike to methods
/// without a route.
#[tokio::test]
async fn other_methods_are_answered_alike_by_the_default_function() {
    assert_eq!(default_function(), "LeadsFunction");
    let world = World::empty().await;
    let app = App::new(world.store.clone(), Environment::system(), Origins::Any);
    let alone = service(&app, [leads::group()]);
    let whole = tests::world::serve(world.store.clone(), &Environment::system()).merge(documents::routes());
    let all = all_routes();
    let paths: BTreeSet<_> = all.iter().map(|route| &route.path).collect();
    for path in paths {
        let (concrete, mut methods) = (concrete(path), BTreeSet::new());
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] {
            if all
                .iter()
                .any(|route| route.path == *path && route.method == method)
            {
                methods.insert(method);
                continue;
            }
            let (status, allow, body) = told(&alone, method, &concrete).await;
            assert_eq!(status, 405, "{method} {path}");
            assert_eq!(
                told(&whole, method, &concrete).await,
                (status, allow, body),
                "{method} {path}"
            );
        }
        let (_, allow, _) = told(&alone, "PATCH", &concrete).await;
        assert_eq!(allow.split(',').collect::<BTreeSet<_>>(), methods, "{path}");
    }
}

/// Each GET has a HEAD, for monitors and checkers of links.
#[test]
fn a_path_with_get_has_head() {
    let of = |method: &str| -> BTreeSet<_> {
        let routes = all_routes().into_iter().filter(|route| route.method == method);
        routes.map(|route| (route.path, route.function)).collect()
    };
    assert_eq!(of("GET"), of("HEAD"));
}

#[tokio::test]
async fn routers_and_template_agree() {
    let world = World::empty().await;
    let routes = routes();
    assert!(!routes.is_empty());
    for Route { path, .. } in &routes {
        let concrete = concrete(path);
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let listed = routes
                .iter()
                .any(|route| route.path == *path && route.method == method);
            let status = world.call(method, &concrete).send().await.status.as_u16();
            assert_ne!(status, 404, "{method} {path} has no router");
            assert_eq!(status != 405, listed, "{method} {path}: {status}");
        }
    }
}

#[test]
fn the_documents_have_their_routes() {
    let listed = document_routes()
        .into_iter()
        .map(|route| (route.method, route.path));
    let served = documents::PATHS.map(|path| ("GET".to_owned(), path.to_owned()));
    assert_eq!(listed.collect::<BTreeSet<_>>(), served.into());
}

/// A function's permissions on the table are exactly those that its code uses.
#[test]
fn functions_have_exactly_the_permissions_they_use() {
    let (reads, writes) = (["BatchGetItem", "GetItem"], ["PutItem", "Query", "UpdateItem"]);
    let checks = ["BatchGetItem", "ConditionCheckItem", "DeleteItem", "GetItem"];
    let stream = ["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"];
    let rights = [
        // A lead is written on condition of its company.
        ("LeadsFunction", [&checks[..], &writes[..]].concat()),
        // The lead of a form's opportunity is only checked.
        ("CallWebhookFunction", [&checks[..], &writes[..]].concat()),
        ("OpportunitiesFunction", [&checks[..], &writes[..]].concat()),
        ("CalendarsFunction", [&checks[..], &writes[..]].concat()),
        ("TicketsFunction", [&checks[..], &writes[..]].concat()),
        // A page of users has a cursor.
        ("DirectoryFunction", [&reads[..], &writes[..]].concat()),
        ("ReportsFunction", [&reads[..], &writes[1..]].concat()),
        (
            "AutomationsFunction",
            [&checks[..], &writes[..], &stream[..]].concat(),
        ),
        ("DocumentsFunction", Vec::new()),
        // A copy is written on condition of its lead.
        ("MaintenanceFunction", [&checks[..], &writes[..]].concat()),
    ];
    let named: BTreeSet<_> = rights
        .iter()
        .map(|(function, _)| (*function).to_owned())
        .collect();
    assert_eq!(named, function_names().into_iter().collect());
    for (function, expected) in rights {
        let expected: BTreeSet<_> = expected
            .into_iter()
            .map(|action| format!("dynamodb:{action}"))
            .collect();
        let mut allowed: BTreeSet<_> = actions(function).into_iter().collect();
        // Its queue of failures, its log and its traces.
        allowed.retain(|action| action.starts_with("dynamodb:"));
        assert_eq!(allowed, expected, "{function}");
    }
}
