//! Alarms: metrics, conditions and notifications.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tests::template::{resources, template};

use super::releases::by_routes;
use super::{default_of, reference};

/// The alarm of gradual releases.
pub const CANARY: &str = "ReleaseFaultsAlarm";

pub fn alarms() -> BTreeMap<String, Value> {
    resources("AWS::CloudWatch::Alarm").into_iter().collect()
}

/// The individual metrics of an alarm.
pub fn metrics(alarm: &Value) -> Vec<Value> {
    match alarm.get("Metrics") {
        None => vec![alarm.clone()],
        Some(metrics) => {
            let metrics = metrics.as_array().expect("metrics");
            let metrics = metrics
                .iter()
                .filter_map(|metric| metric["MetricStat"].get("Metric"));
            metrics.cloned().collect()
        }
    }
}

/// Metric and comparison of an alarm: `AWS/Lambda IteratorAge > 60000`.
fn condition(alarm: &Value) -> String {
    let operators = [
        ("GreaterThanThreshold", ">"),
        ("GreaterThanOrEqualToThreshold", ">="),
        ("LessThanThreshold", "<"),
    ];
    let (_, compared) = operators
        .into_iter()
        .find(|(operator, _)| alarm["ComparisonOperator"] == *operator)
        .expect("an operator");
    let mut names: Vec<_> = metrics(alarm)
        .iter()
        .map(|metric| format!("{} {}", metric["Namespace"], metric["MetricName"]).replace('"', ""))
        .collect();
    names.dedup();
    let query = alarm["Metrics"][0]["Expression"]["Fn::Sub"][0].as_str();
    names.extend(query.map(str::to_owned));
    let threshold = &alarm["Threshold"];
    let threshold = threshold["Ref"]
        .as_str()
        .map_or_else(|| threshold.to_string(), str::to_owned);
    format!("{} {compared} {threshold}", names.join(", "))
}

#[test]
fn alarms_have_these_conditions() {
    let found: BTreeMap<_, _> = alarms()
        .iter()
        .map(|(name, alarm)| (name.clone(), condition(alarm)))
        .collect();
    let of_table = |metric: &str| {
        format!(
            "SELECT SUM({metric}) FROM SCHEMA(\"AWS/DynamoDB\", Operation, TableName) WHERE TableName = '${{Name}}'"
        )
    };
    let expected = [
        ("ActionsLeftOutAlarm", "Funil actions_left_out >= 1".to_owned()),
        (
            "ApiFaultsAlarm",
            "AWS/ApiGateway 5xx, AWS/ApiGateway Count > 1".to_owned(),
        ),
        (
            "ApiSlowAlarm",
            "AWS/ApiGateway Latency, AWS/ApiGateway Count > 1".to_owned(),
        ),
        ("AccountThrottlesAlarm", "AWS/Lambda Throttles >= 1".to_owned()),
        (
            "ApiRefusalsAlarm",
            "AWS/ApiGateway 4xx, AWS/ApiGateway Count > 50".to_owned(),
        ),
        (
            "ApiRequestsAlarm",
            "AWS/ApiGateway Count > AlarmRequests".to_owned(),
        ),
        (
            "AutomationsFailuresAlarm",
            "AWS/SQS ApproximateNumberOfMessagesVisible >= 1".to_owned(),
        ),
        (
            "ErasureAgeAlarm",
            "Funil oldest_erasure_seconds > 3600".to_owned(),
        ),
        ("ReleaseFaultsAlarm", "Funil faults >= 1".to_owned()),
        ("ErasuresAlarm", "Funil erasures >= 1".to_owned()),
        ("FunctionErrorsAlarm", "AWS/Lambda Errors >= 1".to_owned()),
        (
            "MaintenanceFailuresAlarm",
            "AWS/SQS ApproximateNumberOfMessagesVisible >= 3".to_owned(),
        ),
        ("MaintenanceStoppedAlarm", "AWS/Lambda Invocations < 1".to_owned()),
        (
            "NotificationsGivenUpAlarm",
            "Funil notifications_given_up >= 1".to_owned(),
        ),
        ("OutboxAlarm", "Funil outbox >= 1".to_owned()),
        ("StreamAgeAlarm", "AWS/Lambda IteratorAge > 60000".to_owned()),
        ("TableErrorsAlarm", format!("{} >= 1", of_table("SystemErrors"))),
        (
            "TableReadsAlarm",
            "AWS/DynamoDB ConsumedReadCapacityUnits > AlarmReadUnits".to_owned(),
        ),
        (
            "TableWritesAlarm",
            "AWS/DynamoDB ConsumedWriteCapacityUnits > AlarmWriteUnits".to_owned(),
        ),
        (
            "TableThrottlesAlarm",
            format!("{} >= 10", of_table("ThrottledRequests")),
        ),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text)).into());
}

/// Failures of functions with routes are 5xx of the API. Throttles are counted without dimensions, for the account.
#[test]
fn every_function_has_an_alarm() {
    let alarm = &alarms()["FunctionErrorsAlarm"];
    assert_eq!(alarm["Metrics"][0]["Expression"], "SUM(METRICS())");
    let watched: BTreeSet<_> = metrics(alarm)
        .iter()
        .map(|metric| metric["Dimensions"].to_string())
        .collect();
    let (_, without) = by_routes();
    let without = without
        .iter()
        .map(|name| json!([{ "Name": "FunctionName", "Value": reference(name) }]).to_string());
    assert_eq!(watched, without.collect());
    assert_eq!(alarms()["AccountThrottlesAlarm"].get("Dimensions"), None);
}

/// CloudWatch's maximum. A sum over all functions would reach it with the next function.
#[test]
fn an_alarm_has_at_most_ten_metrics() {
    for (name, alarm) in alarms() {
        let metrics = alarm["Metrics"].as_array().map_or(1, Vec::len);
        assert!((1..=10).contains(&metrics), "{name}: {metrics}");
    }
}

/// `Alarms=off` leaves only the alarm of gradual releases, which exists while `Canary` is on.
#[test]
fn alarms_can_be_off() {
    let template = template();
    for name in alarms().into_keys() {
        let condition = if name == CANARY { "IsGradual" } else { "HasAlarms" };
        assert_eq!(template["Resources"][&name]["Condition"], condition, "{name}");
    }
    assert_eq!(
        template["Conditions"]["HasAlarms"],
        json!({ "Fn::Equals": [reference("Alarms"), "on"] })
    );
}

/// Shares of few requests mean nothing, so each has a least number, which a small shop reaches within 15 minutes.
#[test]
fn shares_have_a_least_number_of_requests() {
    for (name, expression, period) in [
        (
            "ApiFaultsAlarm",
            "IF(faults >= 5, 100 * faults / requests, 0)",
            900,
        ),
        ("ApiSlowAlarm", "IF(slow >= 9.5, part, 0)", 900),
        (
            "ApiRefusalsAlarm",
            "IF(requests >= 300, 100 * refusals / requests, 0)",
            300,
        ),
    ] {
        let alarm = &alarms()[name];
        assert_eq!(alarm["Metrics"][0]["Expression"], expression, "{name}");
        let periods = alarm["Metrics"].as_array().into_iter().flatten();
        let periods = periods.filter_map(|metric| metric["MetricStat"].get("Period"));
        assert!(
            periods.clone().count() == 2 && periods.clone().all(|found| *found == period),
            "{name}"
        );
    }
    let slow = &alarms()["ApiSlowAlarm"]["Metrics"];
    assert_eq!(slow[1]["Expression"], "requests * part / 100");
    assert_eq!(slow[2]["MetricStat"]["Stat"], "PR(2000:)");
}

#[test]
fn alarms_and_their_cost_are_documented() {
    // It exists during gradual releases only.
    let (gradual, usual): (Vec<_>, Vec<_>) = alarms().into_iter().partition(|(name, _)| name == CANARY);
    let count = |alarms: &[(String, Value)]| -> u32 {
        let counts = alarms.iter().map(|(_, alarm)| metrics(alarm).len());
        u32::try_from(counts.sum::<usize>()).expect("few")
    };
    let (count, more) = (count(&usual), count(&gradual));
    let cost = f64::from(count) * 0.1;
    let documented = format!("{count} alarm metrics at 0.10 USD, {cost:.2} USD in total");
    let text = include_str!("../../../../docs/operations.md");
    assert!(text.contains(&documented), "{documented}");
    let documented = format!("`{CANARY}` has {more} metric more");
    assert!(text.contains(&documented), "{documented}");
    for name in alarms().into_keys() {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_queue_has_an_alarm() {
    let dimensions: BTreeSet<_> = alarms()
        .values()
        .filter(|alarm| alarm["Namespace"] == "AWS/SQS")
        .map(|alarm| alarm["Dimensions"].to_string())
        .collect();
    let queues = resources("AWS::SQS::Queue").into_iter().map(|(name, _)| {
        let value = json!({ "Fn::GetAtt": format!("{name}.QueueName") });
        json!([{ "Name": "QueueName", "Value": value }]).to_string()
    });
    assert_eq!(dimensions, queues.collect());
}

/// A backlog alarms if it never returns to 0, not if it is large.
#[test]
fn backlogs_alarm_by_their_least_value() {
    for name in ["OutboxAlarm", "ErasuresAlarm"] {
        let alarm = &alarms()[name];
        assert_eq!(
            (&alarm["Statistic"], &alarm["Period"], &alarm["EvaluationPeriods"]),
            (&json!("Minimum"), &json!(3600), &json!(6)),
            "{name}"
        );
    }
}

/// No data is acceptable, except for scheduled runs.
#[test]
fn missing_data_alarms_only_for_scheduled_runs() {
    for (name, alarm) in alarms() {
        let silence = if name == "MaintenanceStoppedAlarm" {
            "breaching"
        } else {
            "notBreaching"
        };
        assert_eq!(alarm["TreatMissingData"], silence, "{name}");
    }
}

/// All notify one topic at the beginning and at the end, with a description.
#[test]
fn alarms_notify_one_topic_with_a_description() {
    for (name, alarm) in alarms() {
        // The deployment reports a failed gradual release.
        let topic = if name == CANARY {
            Value::Null
        } else {
            json!([reference("AlarmTopic")])
        };
        for actions in ["AlarmActions", "OKActions"] {
            assert_eq!(alarm[actions], topic, "{name}");
        }
        assert!(
            alarm["AlarmDescription"]
                .as_str()
                .is_some_and(|text| text.ends_with('.')),
            "{name}"
        );
    }
    let template = template();
    let (topic, told) = (
        &template["Resources"]["AlarmTopic"],
        &template["Resources"]["AlarmSubscription"],
    );
    // CloudWatch may not use the account's default key for topics.
    assert_eq!(*topic, json!({ "Type": "AWS::SNS::Topic" }));
    assert_eq!(told["Condition"], "HasAlarmEmail");
    assert_eq!(default_of("AlarmEmail"), "");
    let endpoint = json!({ "TopicArn": reference("AlarmTopic"), "Protocol": "email", "Endpoint": reference("AlarmEmail") });
    assert_eq!(told["Properties"], endpoint);
}
