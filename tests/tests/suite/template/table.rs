//! The table, parameters and outputs.

use serde_json::{Map, Value, json};
use tests::template::{resources, template};

use super::reference;

/// It is the only resource that cannot be deployed again.
#[test]
fn the_table_is_retained() {
    let template = template();
    let table = &template["Resources"]["Table"];
    // Another one takes its place by a parameter; then this one leaves the stack and is retained.
    assert_eq!(table["Condition"], "OwnTable");
    assert_eq!(resources("AWS::DynamoDB::Table").len(), 1);
    assert_eq!(
        (&table["DeletionPolicy"], &table["UpdateReplacePolicy"]),
        (&json!("Retain"), &json!("Retain"))
    );
    assert_eq!(
        table["Properties"],
        json!({
            "AttributeDefinitions": [
                { "AttributeName": "pk", "AttributeType": "S" }, { "AttributeName": "sk", "AttributeType": "S" },
            ],
            "KeySchema": [
                { "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" },
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "DeletionProtectionEnabled": true,
            "PointInTimeRecoverySpecification": { "PointInTimeRecoveryEnabled": true },
            "SSESpecification": { "SSEEnabled": true },
            "TimeToLiveSpecification": { "AttributeName": "ttl", "Enabled": true },
            "StreamSpecification": { "StreamViewType": "NEW_AND_OLD_IMAGES" },
            "OnDemandThroughput": { "Fn::If": ["HasMaximum", {
                "MaxReadRequestUnits": maximum("HasMaxReads", "MaxReadRequestUnits"),
                "MaxWriteRequestUnits": maximum("HasMaxWrites", "MaxWriteRequestUnits"),
            }, reference("AWS::NoValue")] },
        })
    );
}

/// An optional maximum set by the operator.
fn maximum(condition: &str, parameter: &str) -> Value {
    json!({ "Fn::If": [condition, reference(parameter), reference("AWS::NoValue")] })
}

#[test]
fn a_maximum_of_zero_is_none() {
    let conditions = template()["Conditions"].clone();
    for (condition, parameter) in [
        ("HasMaxReads", "MaxReadRequestUnits"),
        ("HasMaxWrites", "MaxWriteRequestUnits"),
    ] {
        let is_set = json!({ "Fn::Not": [{ "Fn::Equals": [reference(parameter), 0] }] });
        assert_eq!(conditions[condition], is_set, "{condition}");
    }
    let either = ["HasMaxReads", "HasMaxWrites"].map(|name| json!({ "Condition": name }));
    assert_eq!(conditions["HasMaximum"], json!({ "Fn::Or": either }));
}

/// Parameters that need each other are refused before anything changes: a condition of one decides for both.
#[test]
fn parameters_that_belong_together_are_required_together() {
    let template = template();
    let is_set = |parameter: &str| json!({ "Fn::Not": [{ "Fn::Equals": [reference(parameter), ""] }] });
    for (rule, one, other) in [
        ("ExistingTableHasAStream", "ExistingTable", "ExistingTableStream"),
        (
            "ExistingTableStreamHasATable",
            "ExistingTableStream",
            "ExistingTable",
        ),
        ("DomainNameHasACertificate", "DomainName", "CertificateArn"),
        ("CertificateHasADomainName", "CertificateArn", "DomainName"),
    ] {
        let rule = &template["Rules"][rule];
        assert_eq!(rule["RuleCondition"], is_set(one));
        assert_eq!(rule["Assertions"][0]["Assert"], is_set(other));
    }
    let conditions = &template["Conditions"];
    for (condition, parameter) in [
        ("OwnTable", "ExistingTable"),
        ("OwnStream", "ExistingTableStream"),
    ] {
        assert_eq!(
            conditions[condition],
            json!({ "Fn::Equals": [reference(parameter), ""] })
        );
    }
    assert_eq!(conditions["HasDomain"], is_set("CertificateArn"));
}

/// Each parameter has a default, so `sam deploy` asks for none.
#[test]
fn no_parameter_is_required() {
    let template = template();
    let parameters = template["Parameters"].as_object().expect("parameters");
    let defaults: Map<_, _> = parameters
        .iter()
        .map(|(name, parameter)| (name.clone(), parameter["Default"].clone()))
        .collect();
    assert_eq!(
        Value::Object(defaults),
        json!({
            "AllowedOrigins": "*", "Architecture": "arm64", "Release": "", "Canary": "off",
            "ExistingTable": "", "ExistingTableStream": "", "DomainName": "", "CertificateArn": "", "HostedZoneId": "",
            "DefaultEndpoint": "enabled", "Metrics": "lean", "Tracing": "PassThrough", "Alarms": "on", "MonthlyBudget": 0,
            "LogRetentionDays": 30, "RouteRate": 200, "RouteBurst": 400,
            "MaxReadRequestUnits": 0, "MaxWriteRequestUnits": 0,
            "AlarmReadUnits": 1_000_000, "AlarmWriteUnits": 300_000, "AlarmRequests": 50_000,
            "AlarmEmail": "", "PermissionsBoundary": "", "DynamoDbEndpoint": "",
        })
    );
    for (name, parameter) in parameters {
        assert!(parameter["Description"].is_string(), "{name} is not described");
        // A limit of 0 rejects everything, a threshold of 0 always alarms; a maximum or budget of 0 is none.
        let least = parameter["Type"] == "Number" && parameter.get("AllowedValues").is_none();
        let least = least.then(|| json!(i32::from(!name.starts_with("Max") && name != "MonthlyBudget")));
        assert_eq!(parameter.get("MinValue"), least.as_ref(), "{name}");
    }
}

#[test]
fn outputs_describe_the_deployment() {
    let outputs = template()["Outputs"].clone();
    let outputs = outputs.as_object().expect("outputs");
    let values: Map<_, _> = outputs
        .iter()
        .map(|(name, output)| (name.clone(), output["Value"].clone()))
        .collect();
    let own = json!({ "Fn::GetAtt": "HttpApi.ApiEndpoint" });
    let address = json!({ "Fn::If": ["HasDomain", { "Fn::Sub": "https://${DomainName}" }, own] });
    assert_eq!(
        Value::Object(values),
        json!({
            "BaseUrl": address,
            "WebhookUrl": address,
            "DomainTarget": { "Fn::GetAtt": "Domain.RegionalDomainName" },
            "TableName": super::table_name(),
            "AlarmTopicArn": { "Ref": "AlarmTopic" },
            "ReleaseLabel": { "Ref": "Release" },
        })
    );
}
