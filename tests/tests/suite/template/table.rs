//! The table, and what the operator sets and is told.

use serde_json::{Map, Value, json};
use tests::template::{resources, template};

/// The one thing that cannot be deployed again.
#[test]
fn the_table_outlives_everything() {
    let template = template();
    let table = &template["Resources"]["Table"];
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
        })
    );
}

/// Each parameter has a default, so that `sam deploy` asks for none.
#[test]
fn no_parameter_has_to_be_given() {
    let template = template();
    let parameters = template["Parameters"].as_object().expect("parameters");
    let defaults: Map<_, _> = parameters
        .iter()
        .map(|(name, parameter)| (name.clone(), parameter["Default"].clone()))
        .collect();
    assert_eq!(
        Value::Object(defaults),
        json!({
            "AllowedOrigins": "*", "Architecture": "arm64", "LogRetentionDays": 30,
            "RouteRate": 500, "RouteBurst": 1000, "PublicRate": 100, "PublicBurst": 200,
            "AlarmEmail": "", "DynamoDbEndpoint": "",
        })
    );
    for (name, parameter) in parameters {
        assert!(parameter["Description"].is_string(), "{name} is not described");
        // A limit of 0 refuses everything.
        let limit = name.ends_with("Rate") || name.ends_with("Burst");
        assert_eq!(parameter.get("MinValue"), limit.then_some(&json!(1)), "{name}");
    }
}

#[test]
fn what_the_operator_is_told() {
    let outputs = template()["Outputs"].clone();
    let outputs = outputs.as_object().expect("outputs");
    let values: Map<_, _> = outputs
        .iter()
        .map(|(name, output)| (name.clone(), output["Value"].clone()))
        .collect();
    assert_eq!(
        Value::Object(values),
        json!({
            "BaseUrl": { "Fn::GetAtt": "HttpApi.ApiEndpoint" },
            "WebhookUrl": { "Fn::GetAtt": "HttpApi.ApiEndpoint" },
            "TableName": { "Ref": "Table" },
            "AlarmTopicArn": { "Ref": "AlarmTopic" },
        })
    );
}
