//! The functions: how they are built, what they may use, where their logs go, and what becomes of what they fail at.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use funil::engine::Engine;
use serde_json::{Value, json};
use tests::people::settle;
use tests::raw::RawTable;
use tests::template::{binary, function_names, resources, statements, template};
use tests::{ACME, World};

use super::{default_of, reference};

const FUNCTION: &str = "AWS::Serverless::Function";

fn function(name: &str) -> Value {
    template()["Resources"][name]["Properties"].clone()
}

/// The events of a function of one type.
fn events(function: &Value, kind: &str) -> Vec<Value> {
    let events = function["Events"].as_object().expect("events");
    let events = events.values().filter(|event| event["Type"] == kind);
    events.map(|event| event["Properties"].clone()).collect()
}

/// Whoever changes what every function has reads here what else depends on it.
#[test]
fn what_all_have_in_common() {
    let globals = template()["Globals"]["Function"].clone();
    assert_eq!(
        globals,
        json!({
            "Runtime": "provided.al2023",
            "Handler": "bootstrap",
            "Architectures": [reference("Architecture")],
            "MemorySize": 256,
            "Timeout": 29,
            "LoggingConfig": { "LogFormat": "JSON", "ApplicationLogLevel": "INFO", "SystemLogLevel": "INFO" },
            "Environment": { "Variables": {
                "TABLE_NAME": reference("Table"),
                "ALLOWED_ORIGINS": reference("AllowedOrigins"),
                "AWS_ENDPOINT_URL_DYNAMODB": { "Fn::If": [
                    "HasDynamoDbEndpoint", reference("DynamoDbEndpoint"), reference("AWS::NoValue"),
                ] },
            } },
        })
    );
    let parameters = &template()["Parameters"];
    assert_eq!(
        parameters["Architecture"]["AllowedValues"],
        json!(["arm64", "x86_64"])
    );
    assert_eq!(default_of("Architecture"), "arm64");
}

/// Each is built from a program of the crate it names, and each crate of `functions` is deployed.
#[test]
fn each_crate_is_a_function() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut deployed = BTreeSet::new();
    for (name, properties) in resources(FUNCTION) {
        assert_eq!(
            template()["Resources"][&name]["Metadata"]["BuildMethod"],
            "rust-cargolambda"
        );
        let code = properties["CodeUri"].as_str().expect("a directory");
        let manifest = fs::read_to_string(root.join(code).join("Cargo.toml")).expect(code);
        let line = format!("name = \"{}\"", binary(&name));
        assert!(
            manifest.lines().any(|text| text == line),
            "{code} has no program for {name}"
        );
        assert!(deployed.insert(code.to_owned()), "{code} is deployed twice");
    }
    let crates = fs::read_dir(root.join("functions")).expect("the functions' crates");
    let crates = crates.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    assert_eq!(deployed, crates.map(|name| format!("functions/{name}")).collect());
}

/// An HTTP API gives up after 30 seconds; 128 to 256 MB are enough for all.
#[test]
fn none_is_larger_or_slower_than_it_may_be() {
    let globals = template()["Globals"]["Function"].clone();
    for (name, properties) in resources(FUNCTION) {
        let of = |field: &str| properties.get(field).unwrap_or(&globals[field]).as_u64();
        assert!((Some(128)..=Some(256)).contains(&of("MemorySize")), "{name}");
        let most = if events(&properties, "HttpApi").is_empty() {
            300
        } else {
            29
        };
        assert!((Some(1)..=Some(most)).contains(&of("Timeout")), "{name}");
        // What one reserves all others lack, and a new account has nothing to reserve.
        assert_eq!(properties.get("ReservedConcurrentExecutions"), None, "{name}");
    }
}

/// Every log is deleted some day, and none is shared.
#[test]
fn each_has_a_log_of_its_own() {
    let mut groups = resources("AWS::Logs::LogGroup");
    for (group, properties) in &groups {
        assert_eq!(
            properties["RetentionInDays"],
            reference("LogRetentionDays"),
            "{group}"
        );
    }
    let names: BTreeSet<_> = groups
        .iter()
        .map(|(_, group)| group["LogGroupName"].to_string())
        .collect();
    assert_eq!(names.len(), groups.len());
    for (name, properties) in resources(FUNCTION) {
        let group = properties["LoggingConfig"]["LogGroup"]["Ref"]
            .as_str()
            .expect("a log group");
        let place = groups.iter().position(|(other, _)| other == group);
        groups.remove(place.expect("a log group of its own"));
        assert_eq!(group, name.replace("Function", "LogGroup"));
    }
    let rest: Vec<_> = groups.into_iter().map(|(name, _)| name).collect();
    assert_eq!(rest, ["AccessLogGroup"]);
    assert_eq!(default_of("LogRetentionDays"), 30);
}

/// A role each, for the one table and nothing else, and no credential of it is written.
#[test]
fn each_reaches_the_table_alone() {
    let table = json!({ "Fn::GetAtt": "Table.Arn" });
    for (name, properties) in resources(FUNCTION) {
        let unseen = name == "AutomationsFunction";
        assert_eq!(properties.get("Role").is_some(), unseen, "{name} shares a role");
        let (denied, allowed): (Vec<_>, Vec<_>) = statements(&name)
            .into_iter()
            .partition(|statement| statement["Effect"] == "Deny");
        assert_eq!(
            denied,
            [json!({
                "Sid": "KeepCredentials", "Effect": "Deny", "Resource": table,
                "Action": ["dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
                "Condition": { "ForAnyValue:StringLike": {
                    "dynamodb:LeadingKeys": ["#credential#*", "*#credential"],
                } },
            })],
            "{name}"
        );
        for statement in allowed {
            let elsewhere = match statement["Sid"].as_str() {
                Some("ReadStream") => json!({ "Fn::GetAtt": "Table.StreamArn" }),
                Some("FindStream") => json!({ "Fn::Sub": "${Table.Arn}/stream/*" }),
                Some("SetAside") => json!({ "Fn::GetAtt": "AutomationsFailures.Arn" }),
                _ => Value::Null,
            };
            let expected = if unseen && !elsewhere.is_null() {
                &elsewhere
            } else {
                &table
            };
            assert_eq!(statement["Resource"], *expected, "{name} {}", statement["Sid"]);
        }
    }
}

/// The patterns above are those of the keys under which credentials are stored.
#[tokio::test]
async fn credentials_have_the_keys_that_nobody_writes() {
    let engine = Engine::in_memory().expect("an engine starts");
    let endpoint = engine.endpoint();
    let world = World::on(engine).await;
    let table = RawTable::at(&endpoint);
    settle(&world.operator(ACME)).await;
    let before = table.items();
    world.wallet(7).await;
    let mut made = table.items();
    // Issuing a credential moves the directory's version on.
    made.retain(|item| !before.contains(item) && item["pk"]["S"] != "acme#directory");
    assert_eq!(made.len(), 4, "{made:?}");
    for item in made {
        let key = item["pk"]["S"].as_str().expect("a key");
        assert!(
            key.starts_with("#credential#") || key.ends_with("#credential"),
            "{key}"
        );
    }
}

/// One bad record neither stops those behind it nor is lost.
#[test]
fn the_stream_sets_bad_records_aside() {
    let [stream] =
        <[_; 1]>::try_from(events(&function("AutomationsFunction"), "DynamoDB")).expect("one stream");
    let pattern = stream["FilterCriteria"]["Filters"][0]["Pattern"]
        .as_str()
        .expect("a pattern");
    let pattern: Value = serde_json::from_str(pattern).expect("JSON");
    assert_eq!(
        pattern,
        json!({ "eventName": ["INSERT"], "dynamodb": { "Keys": {
            "pk": { "S": [{ "suffix": "#trigger" }] }, "sk": { "S": [{ "prefix": "call#" }] },
        } } })
    );
    for (field, value) in [
        ("Stream", json!({ "Fn::GetAtt": "Table.StreamArn" })),
        ("StartingPosition", json!("TRIM_HORIZON")),
        ("FunctionResponseTypes", json!(["ReportBatchItemFailures"])),
        ("BisectBatchOnFunctionError", json!(true)),
        ("MaximumRetryAttempts", json!(3)),
        ("DestinationConfig", to_queue("AutomationsFailures")),
    ] {
        assert_eq!(stream[field], value, "{field}");
    }
}

/// A run that fails is not run again, because the next minute's does its work; but it is kept. And the schedule's name is
/// not taken by the first stack of a region.
#[test]
fn maintenance_runs_every_minute() {
    let maintenance = function("MaintenanceFunction");
    assert_eq!(
        events(&maintenance, "ScheduleV2"),
        [json!({
            "ScheduleExpression": "rate(1 minute)", "OmitName": true, "RetryPolicy": { "MaximumRetryAttempts": 0 },
        })]
    );
    assert_eq!(
        maintenance["EventInvokeConfig"],
        json!({
            "MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0,
            "DestinationConfig": to_queue("MaintenanceFailures"),
        })
    );
}

/// What no client waits for has a queue for what it failed at, and there is no other queue.
#[test]
fn what_fails_unseen_is_kept() {
    let unseen = function_names()
        .into_iter()
        .filter(|name| events(&function(name), "HttpApi").is_empty());
    let expected: BTreeSet<_> = unseen.map(|name| name.replace("Function", "Failures")).collect();
    let queues = resources("AWS::SQS::Queue");
    for (name, queue) in &queues {
        assert_eq!(queue["SqsManagedSseEnabled"], true, "{name}");
    }
    assert_eq!(
        queues.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>(),
        expected
    );
}

fn to_queue(queue: &str) -> Value {
    json!({ "OnFailure": { "Type": "SQS", "Destination": { "Fn::GetAtt": format!("{queue}.Arn") } } })
}
