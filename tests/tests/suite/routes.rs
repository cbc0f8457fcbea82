//! The template is the list of routes: each is implemented, with exactly its methods.

use std::collections::BTreeSet;

use tests::World;
use tests::template::{Route, actions, document_routes, function_names, routes};

#[tokio::test]
async fn routers_and_template_agree() {
    let world = World::empty().await;
    let routes: Vec<_> = routes()
        .into_iter()
        .filter(|route| route.method != "ANY")
        .collect();
    assert!(!routes.is_empty());
    for Route { path, .. } in &routes {
        let concrete = path
            .replace("{id}", "7")
            .replace("{instance}/{keyName}", "acme/demo")
            .replace("{name}", "contact");
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
