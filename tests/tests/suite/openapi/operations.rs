//! Operations equal routes, and are complete.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tests::openapi::{INTERFACE, members};
use tests::template::routes;

/// C-4 and the endpoints' clauses: the statuses of each operation.
const ANSWERS: [(&str, &str); 36] = [
    ("archiveLeads", "200 400 401 403 404 413 415 429 500 503"),
    ("bookMeeting", "200 400 409 413 415 422 429 500 503"),
    ("createLead", "200 400 401 403 404 409 413 415 422 429 500 503"),
    ("createOpportunity", "200 400 401 413 415 422 429 500 503"),
    ("deleteLead", "200 400 401 403 404 413 415 429 500 503"),
    ("deleteLeads", "200 400 401 403 413 415 429 500 503"),
    ("getBookingPage", "200 413 415 500"),
    ("getLead", "200 400 401 404 413 415 429 500 503"),
    ("getOpportunity", "200 400 401 404 413 415 429 500 503"),
    ("getReport", "200 400 401 403 404 413 415 429 500 503"),
    ("listCalendars", "200 400 401 403 413 415 429 500 503"),
    ("listDepartments", "200 400 401 413 415 429 500 503"),
    ("listFreeSlots", "200 400 413 415 429 500 503"),
    ("listFunnels", "200 400 401 413 415 429 500 503"),
    ("listLeadEvents", "200 400 401 404 413 415 429 500 503"),
    ("listLeadMeetings", "200 400 401 403 404 413 415 429 500 503"),
    ("listLeadFiles", "200 400 401 413 415 429 500 503"),
    ("listLeadOpportunities", "200 400 401 404 413 415 429 500 503"),
    ("listLeadTickets", "200 400 401 413 415 429 500 503"),
    ("listLeads", "200 400 401 413 415 429 500 503"),
    ("listLeadsAdvanced", "200 400 401 413 415 429 500 503"),
    ("listLossReasons", "200 400 401 413 415 429 500 503"),
    ("listMeetings", "200 400 401 403 404 413 415 429 500 503"),
    ("listOpportunities", "200 400 401 413 415 429 500 503"),
    ("listReports", "200 400 401 403 413 415 429 500 503"),
    ("listTags", "200 400 401 413 415 429 500 503"),
    ("listTicketFiles", "200 400 401 413 415 429 500 503"),
    ("listTotals", "200 400 401 413 415 429 500 503"),
    ("listUsers", "200 400 401 413 415 429 500 503"),
    ("reassignTicket", "200 400 401 413 415 429 500 503"),
    ("recordCall", "201 400 401 413 415 422 429 500 503"),
    ("showCaller", "200 400 401 413 415 429 500 503"),
    ("updateLead", "200 400 401 403 404 413 415 429 500 503"),
    ("updateLeadInBody", "200 400 401 403 404 413 415 429 500 503"),
    ("submitForm", "200 400 404 413 415 422 429 500 503"),
    ("updateOpportunity", "200 400 401 413 415 429 500 503"),
];

#[test]
fn the_operations_are_the_routes() {
    let operations: BTreeSet<_> = INTERFACE
        .operations()
        .map(|operation| (operation.path.to_owned(), operation.method.to_owned()))
        .collect();
    let routes: BTreeSet<_> = routes()
        .into_iter()
        .map(|route| (route.path, route.method))
        .collect();
    assert_eq!(operations, routes);
}

#[test]
fn every_operation_declares_its_statuses() {
    let answers: BTreeMap<_, _> = INTERFACE
        .operations()
        .map(|operation| {
            let statuses = members(&operation.value["responses"]).map(|(status, _)| status);
            let id = operation.value["operationId"].as_str().expect("an operationId");
            (id, statuses.collect::<Vec<_>>().join(" "))
        })
        .collect();
    let expected: BTreeMap<_, _> = ANSWERS
        .into_iter()
        .map(|(id, statuses)| (id, statuses.to_owned()))
        .collect();
    assert_eq!(answers, expected);
}

/// The `operationId` becomes a method name in generated clients.
#[test]
fn every_operation_has_id_summary_and_tag() {
    let tags: Vec<_> = INTERFACE.document()["tags"]
        .as_array()
        .expect("tags")
        .iter()
        .map(|tag| &tag["name"])
        .collect();
    let mut names = BTreeSet::new();
    for operation in INTERFACE.operations() {
        let (value, path) = (operation.value, operation.path);
        let name = value["operationId"].as_str().expect("an operationId");
        let plain = name.bytes().all(|byte| byte.is_ascii_alphabetic());
        assert!(
            plain && name.starts_with(|first: char| first.is_ascii_lowercase()),
            "{name}"
        );
        assert!(names.insert(name), "{name} is not the only one");
        let summary = value["summary"].as_str().unwrap_or_default();
        assert!(
            !summary.is_empty() && !summary.ends_with('.'),
            "{name}: {summary}"
        );
        let tag = value["tags"].as_array().map(Vec::as_slice);
        assert!(
            matches!(tag, Some([tag]) if tags.contains(&tag)),
            "{name}: {tag:?}"
        );
        assert!(value["security"].is_array(), "{name} says nothing of credentials");
        let other = &INTERFACE.document()["paths"][path]["x-other-methods"];
        assert!(INTERFACE.resolve(other)["headers"]["allow"].is_object(), "{path}");
    }
}

#[test]
fn parameters_of_a_path_are_those_in_its_braces() {
    for operation in INTERFACE.operations() {
        let parameters = INTERFACE.parameters(operation);
        let declared: Vec<_> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| {
                assert_eq!(parameter["required"], true, "{parameter}");
                parameter["name"].as_str().expect("a name")
            })
            .collect();
        let written: Vec<_> = operation
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        assert_eq!(declared, written, "{}", operation.path);
    }
}

/// C-1: every request names its instance; in 11 and 12 the credential's own is the default.
#[test]
fn every_operation_declares_the_instance() {
    for operation in INTERFACE.operations() {
        let parameters = INTERFACE.parameters(operation);
        let instance = parameters
            .iter()
            .find(|parameter| (&parameter["in"], &parameter["name"]) == (&json!("query"), &json!("i")));
        let required = instance.map(|instance| instance["required"] == true);
        let expected = match operation.value["operationId"].as_str() {
            Some("getBookingPage") => None,
            Some("listCalendars" | "listMeetings") => Some(false),
            _ => Some(true),
        };
        assert_eq!(required, expected, "{}", operation.path);
    }
}

/// C-10, C-92, C-101: endpoints 7, 13 and 19, `POST /leads` and forms.
#[test]
fn five_operations_declare_idempotency_keys() {
    for operation in INTERFACE.operations() {
        let name = operation.value["operationId"].as_str();
        let expected = matches!(
            name,
            Some("createLead" | "createOpportunity" | "bookMeeting" | "recordCall" | "submitForm")
        );
        let parameters = INTERFACE.parameters(operation);
        let taken = parameters
            .iter()
            .any(|parameter| parameter["name"] == "Idempotency-Key");
        let success = members(&operation.value["responses"]).next();
        let (_, success) = success.expect("an answer");
        let replayed = success["headers"]["idempotent-replayed"].is_object();
        let mismatch = operation.value["responses"]
            .get("422")
            .is_some_and(Value::is_object);
        assert_eq!(
            (taken, replayed, mismatch),
            (expected, expected, expected),
            "{name:?}"
        );
    }
}
