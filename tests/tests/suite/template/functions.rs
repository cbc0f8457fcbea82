//! Functions: build, permissions, logs, and failures.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::template::{DOCUMENTS, binary, function_names, resources, statements, template};

use super::{default_of, reference, table_name};

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

/// Common properties, on which other settings depend.
#[test]
fn functions_have_common_properties() {
    let mut globals = template()["Globals"]["Function"].clone();
    let globals = globals.as_object_mut().expect("properties");
    // `releases` compares these.
    globals.retain(|name, _| name != "AutoPublishAlias" && name != "DeploymentPreference");
    assert_eq!(
        Value::Object(globals.clone()),
        json!({
            "Runtime": "provided.al2023",
            "Handler": "bootstrap",
            "Architectures": [reference("Architecture")],
            "MemorySize": 256,
            "Timeout": 29,
            "LoggingConfig": { "LogFormat": "JSON", "ApplicationLogLevel": "INFO", "SystemLogLevel": "WARN" },
            "Tracing": reference("Tracing"),
            "Environment": { "Variables": {
                "TABLE_NAME": table_name(),
                "ALLOWED_ORIGINS": reference("AllowedOrigins"),
                "RELEASE": reference("Release"),
                "METRICS": reference("Metrics"),
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

/// Each is built from the binary of its crate, and each crate of `functions` is deployed.
#[test]
fn every_crate_is_a_deployed_function() {
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
    let crates = crates.map(|entry| entry.expect("an entry").path());
    let crates = crates.filter(|path| path.join("Cargo.toml").is_file());
    let names = crates.map(|path| path.file_name().expect("a name").display().to_string());
    assert_eq!(deployed, names.map(|name| format!("functions/{name}")).collect());
}

/// The lines of one table of a TOML file.
fn table(file: &str, name: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = fs::read_to_string(path).expect(file);
    let header = format!("[{name}]");
    let lines = text.lines().skip_while(|line| *line != header).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.map(str::to_owned).collect()
}

/// `sam build` starts Cargo in a function's folder, where functions/.cargo/config.toml applies. cargo-lambda adds each of four keys
/// that the manifest's `[profile.release]` lacks, with precedence over that file and `panic = "abort"`.
#[test]
fn the_build_is_for_size_and_unwinds() {
    let manifest = table("Cargo.toml", "profile.release");
    for key in ["strip", "lto", "codegen-units", "panic"] {
        let start = format!("{key} = ");
        assert!(manifest.iter().any(|line| line.starts_with(&start)), "{key}");
    }
    assert!(manifest.contains("strip = true") && manifest.contains("panic = \"unwind\""));
    let config = table("functions/.cargo/config.toml", "profile.release");
    for line in ["opt-level = \"s\"", "lto = \"fat\"", "codegen-units = 1"] {
        assert!(config.contains(line), "{line}");
    }
    let replaced = table("functions/.cargo/config.toml", "profile.release.package");
    let levels = table("Cargo.toml", "profile.release.package");
    for line in levels.iter().filter(|line| line.contains(".opt-level = ")) {
        let (key, _) = line.split_once(" = ").expect("<key> = <value>");
        let is_replaced = replaced.iter().any(|line| line.starts_with(&format!("{key} = ")));
        assert!(is_replaced, "{key} is for `funil` alone");
    }
}

/// An HTTP API times out after 30 seconds; 128 to 256 MB suffice.
#[test]
fn timeouts_and_memory_are_limited() {
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
        // Reserved concurrency is taken from the account's pool, and a new account has none to reserve.
        assert_eq!(properties.get("ReservedConcurrentExecutions"), None, "{name}");
    }
}

/// Every log has a retention period, and none is shared.
#[test]
fn each_function_has_its_own_log() {
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

/// The ARN of a part of the table.
fn arn_of_table(name: &str, part: &str) -> String {
    format!("arn:${{AWS::Partition}}:dynamodb:${{AWS::Region}}:${{AWS::AccountId}}:table/${{{name}}}{part}")
}

/// Each role permits only the one table and its own log, and no writes of the operator's items.
#[test]
fn each_role_permits_only_the_table() {
    let table = json!({ "Fn::If": [
        "OwnTable", { "Fn::GetAtt": "Table.Arn" }, { "Fn::Sub": arn_of_table("ExistingTable", "") },
    ] });
    for (name, properties) in resources(FUNCTION) {
        let role = name.replace("Function", "Role");
        assert_eq!(
            properties["Role"],
            json!({ "Fn::GetAtt": format!("{role}.Arn") }),
            "{name}"
        );
        assert_eq!(properties.get("Policies"), None, "{name}");
        let (denied, allowed): (Vec<_>, Vec<_>) = statements(&name)
            .into_iter()
            .partition(|statement| statement["Effect"] == "Deny");
        let deny = json!({
            "Sid": "KeepOperatorItems", "Effect": "Deny", "Resource": table,
            "Action": ["dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
        });
        let mut denied = denied;
        for statement in &mut denied {
            // `keys` compares the patterns.
            let condition = statement
                .as_object_mut()
                .and_then(|statement| statement.remove("Condition"));
            assert!(condition.is_some(), "{name}");
        }
        // This one may not use the table at all.
        let expected = if name == DOCUMENTS { vec![] } else { vec![deny] };
        assert_eq!(denied, expected, "{name}");
        for statement in allowed {
            let own = |part: &str| name.replace("Function", part);
            let expected = match statement["Sid"].as_str() {
                Some("ReadStream") => json!({ "Fn::If": [
                    "OwnStream", { "Fn::GetAtt": "Table.StreamArn" }, reference("ExistingTableStream"),
                ] }),
                Some("FindStream") => {
                    json!({ "Fn::Sub": [arn_of_table("Name", "/stream/*"), { "Name": table_name() }] })
                }
                Some("SetAside") => json!({ "Fn::GetAtt": own("Failures.Arn") }),
                Some("WriteLog") => json!({ "Fn::GetAtt": own("LogGroup.Arn") }),
                // X-Ray has no resources.
                Some("WriteTraces") => json!("*"),
                _ => table.clone(),
            };
            assert_eq!(statement["Resource"], expected, "{name} {}", statement["Sid"]);
        }
    }
}

/// A deployer can then give no role more than docs/iam/boundary.json.
#[test]
fn every_role_has_the_boundary() {
    let boundary =
        json!({ "Fn::If": ["HasBoundary", reference("PermissionsBoundary"), reference("AWS::NoValue")] });
    // SAM makes the role of the schedule.
    let [schedule] =
        <[_; 1]>::try_from(events(&function("MaintenanceFunction"), "ScheduleV2")).expect("one schedule");
    let roles = resources("AWS::IAM::Role").into_iter();
    for (name, role) in roles.chain([("EveryMinute".to_owned(), schedule)]) {
        assert_eq!(role["PermissionsBoundary"], boundary, "{name}");
    }
    let condition = &template()["Conditions"]["HasBoundary"];
    assert_eq!(
        *condition,
        json!({ "Fn::Not": [{ "Fn::Equals": [reference("PermissionsBoundary"), ""] }] })
    );
}

/// One bad record neither stops later ones nor is lost.
#[test]
fn the_stream_isolates_bad_records() {
    let [stream] =
        <[_; 1]>::try_from(events(&function("AutomationsFunction"), "DynamoDB")).expect("one stream");
    let pattern = stream["FilterCriteria"]["Filters"][0]["Pattern"]
        .as_str()
        .expect("a pattern");
    let pattern: Value = serde_json::from_str(pattern).expect("JSON");
    assert_eq!(
        pattern,
        json!({ "eventName": ["INSERT"], "dynamodb": { "Keys": {
            "pk": { "S": [{ "suffix": "#trigger" }] }, "sk": { "S": [{ "prefix": "call#" }, { "prefix": "fact#" }] },
        } } })
    );
    for (field, value) in [
        (
            "Stream",
            json!({ "Fn::If": ["OwnStream", { "Fn::GetAtt": "Table.StreamArn" }, reference("ExistingTableStream")] }),
        ),
        ("StartingPosition", json!("TRIM_HORIZON")),
        ("FunctionResponseTypes", json!(["ReportBatchItemFailures"])),
        ("BisectBatchOnFunctionError", json!(true)),
        ("MaximumRetryAttempts", json!(3)),
        ("DestinationConfig", to_queue("AutomationsFailures")),
    ] {
        assert_eq!(stream[field], value, "{field}");
    }
}

/// A failed run is not retried, because the next one does its work, but recorded. The schedule's name does
/// not prevent a second stack in a region.
#[test]
fn maintenance_runs_every_minute() {
    let maintenance = function("MaintenanceFunction");
    assert_eq!(
        events(&maintenance, "ScheduleV2"),
        [json!({
            "ScheduleExpression": "rate(1 minute)", "OmitName": true, "RetryPolicy": { "MaximumRetryAttempts": 0 },
            "PermissionsBoundary": { "Fn::If": ["HasBoundary", reference("PermissionsBoundary"), reference("AWS::NoValue")] },
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

/// Functions without client routes have a queue for failures, and there is no other queue.
#[test]
fn asynchronous_failures_are_queued() {
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
