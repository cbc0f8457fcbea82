//! Every recorded request has the same response from binary and router, as listed in README.md.

use serde_json::Value;
use shared::environment::Environment;
use tests::runtime::{BUILD, Function, Outcome, Recorded, Stage, settled, unreachable};
use tests::template::DOCUMENTS;

/// Sends all recorded requests of a function, in order, to its binary and its router.
async fn are_answered(function: &str) {
    let began = Environment::system().now();
    let (stage, twin) = Stage::twins(function).await;
    let mut process = Function::start(function, &stage.table()).await;
    let mut answered = 0;
    for recorded in Recorded::of(function) {
        let name = &recorded.name;
        let outcome = process.invoke(&stage.event(&recorded)).await;
        let Outcome::Answered(answer) = outcome else {
            panic!("{name}: {outcome:?}\n{}", process.log());
        };
        let answer = settled(answer, began);
        answered += 1;
        let routed = settled(twin.answer(&twin.event(&recorded)).await, began);
        assert_eq!(answer, routed, "{name}; {BUILD}");
        let body = answer["body"].as_str().unwrap_or_default();
        let told = format!("{} {body}", answer["statusCode"]);
        assert!(recorded.answer.is(told.trim_end()), "{name}: {told}");
    }
    let log = process.stop().await;
    stage.keeps_secret(&log);
    tells_of_each(&log, answered);
}

/// Requires that the output is JSON, with one line with metrics for each request.
fn tells_of_each(log: &str, answered: usize) {
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|cause| panic!("{cause}: {line}")))
        .collect();
    let requests = lines.iter().filter(|line| line.get("_aws").is_some());
    assert_eq!(requests.count(), answered, "{log}");
}

#[tokio::test]
async fn leads_requests_match() {
    are_answered("LeadsFunction").await;
}

#[tokio::test]
async fn opportunities_requests_match() {
    are_answered("OpportunitiesFunction").await;
}

#[tokio::test]
async fn calendars_requests_match() {
    are_answered("CalendarsFunction").await;
}

#[tokio::test]
async fn call_webhook_requests_match() {
    are_answered("CallWebhookFunction").await;
}

#[tokio::test]
async fn tickets_requests_match() {
    are_answered("TicketsFunction").await;
}

#[tokio::test]
async fn directory_requests_match() {
    are_answered("DirectoryFunction").await;
}

#[tokio::test]
async fn reports_requests_match() {
    are_answered("ReportsFunction").await;
}

/// The program answers what the router answers, and needs no table.
#[tokio::test]
async fn documents_are_served_without_a_table() {
    let stage = Stage::new("LeadsFunction").await;
    let recorded = stage.event(&Recorded::named("leads-list"));
    let mut process = Function::start(DOCUMENTS, &unreachable()).await;
    for path in documents::PATHS {
        let mut event = recorded.clone();
        event["rawPath"] = path.into();
        event["rawQueryString"] = "".into();
        event["headers"]["accept-encoding"] = "gzip".into();
        event["routeKey"] = format!("GET {path}").into();
        event["requestContext"]["http"]["path"] = path.into();
        event["requestContext"]["routeKey"] = event["routeKey"].clone();
        let Outcome::Answered(answer) = process.invoke(&event).await else {
            panic!("{path}: no response\n{}", process.log());
        };
        assert_eq!(answer["statusCode"], 200, "{path}");
        let is_packed = answer["headers"]["content-encoding"] == "gzip";
        assert_eq!(answer["isBase64Encoded"], is_packed, "{path}");
        assert!(is_packed || path != "/openapi.yaml", "{path}");
        let body = answer["body"].as_str().expect("a body");
        // Lambda's limit is 6 MB.
        assert!(
            !body.is_empty() && body.len() < 1_000_000,
            "{path}: {}",
            body.len()
        );
    }
    assert_eq!(process.stop().await, "");
}
