//! A table that does not answer: initialization reports the error and exits; a running function returns 500
//! and continues.

use futures_util::future::join_all;
use serde_json::json;
use tests::runtime::{Function, Outcome, Recorded, Stage, unreachable};
use tests::template::table_functions;

#[tokio::test]
async fn initialization_errors_are_reported() {
    let functions = table_functions();
    assert!(!functions.is_empty());
    join_all(functions.iter().map(async |function| {
        let mut process = Function::start(function, &unreachable()).await;
        let told = process.unstarted().await;
        assert_eq!(told["errorType"], "Runtime.InitError", "{function}");
        let message = told["errorMessage"].as_str().unwrap_or_default().to_owned();
        assert!(
            message.starts_with("the table cannot be read: GetItem failed: not reached: "),
            "{function}: {message}"
        );
        let (status, log) = process.end().await;
        assert_eq!(status.code(), Some(1), "{function}");
        assert!(log.contains(&format!("Error: {message}")), "{function}: {log}");
        assert!(!log.contains("panicked"), "{function}: {log}");
    }))
    .await;
}

/// C-88.
#[tokio::test]
async fn a_table_of_another_format_is_rejected_with_the_supported_formats() {
    let stage = Stage::new("LeadsFunction").await;
    stage
        .raw()
        .put("#format", "format", &json!({ "format": { "N": "99" } }));
    for function in table_functions() {
        let mut process = Function::start(&function, &stage.table()).await;
        let told = process.unstarted().await;
        let message = told["errorMessage"].as_str().unwrap_or_default();
        assert!(
            message.starts_with(
                "the table cannot be read: the table has format 99, and this build reads format"
            ),
            "{function}: {message}"
        );
    }
}

/// C-4: the body is the service's, not API Gateway's.
#[tokio::test]
async fn requests_without_a_table_return_internal_errors() {
    for (function, name, body) in [
        ("LeadsFunction", "lead", json!({ "error": "Internal error" })),
        (
            "CallWebhookFunction",
            "call-record",
            json!({ "msg": "failed_voip_webhook", "err": "storage" }),
        ),
    ] {
        let stage = Stage::new(function).await;
        let mut process = Function::start(function, &stage.table()).await;
        let (recorded, other) = (Recorded::named(name), Recorded::named("unmatched-path"));
        let (event, other) = (stage.event(&recorded), stage.event(&other));
        // Initialization has finished, with a connection.
        assert!(
            matches!(process.invoke(&other).await, Outcome::Answered(answer) if answer["statusCode"] == 404)
        );
        drop(stage);
        let Outcome::Answered(answer) = process.invoke(&event).await else {
            panic!("{function} does not answer:\n{}", process.log());
        };
        assert_eq!(
            (&answer["statusCode"], &answer["body"]),
            (&json!(500), &json!(body.to_string()))
        );
        assert_eq!(answer["headers"]["x-request-id"].as_str().map(str::len), Some(32));
        assert!(
            matches!(process.invoke(&other).await, Outcome::Answered(answer) if answer["statusCode"] == 404)
        );
    }
}
