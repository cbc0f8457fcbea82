//! The dashboard shows everything that has an alarm, by function, and only existing metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use shared::environment::Environment;
use shared::telemetry::{BATCH, JsonSubscriber, REQUEST, ROUND};
use tests::NOW;
use tests::template::{function_names, resources, template};
use tests::world::at;
use tracing::level_filters::LevelFilter;

/// One line of a graph: namespace and metric, then names and values of dimensions.
type Shown = Vec<String>;

fn body() -> String {
    let [(_, dashboard)] =
        <[_; 1]>::try_from(resources("AWS::CloudWatch::Dashboard")).expect("one dashboard");
    let [body, names] = &dashboard["DashboardBody"]["Fn::Sub"]
        .as_array()
        .expect("a body and a name")[..]
    else {
        panic!("a body and a name");
    };
    assert_eq!(*names, serde_json::json!({ "Name": super::table_name() }));
    let body = body.as_str();
    body.expect("a body with the resources' names put in").to_owned()
}

/// The lines of each graph by title, with the abbreviation `...` replaced by the beginning of the previous
/// line.
fn graphs() -> BTreeMap<String, Vec<Shown>> {
    let body: Value = serde_json::from_str(&body()).expect("JSON");
    let widgets = body["widgets"].as_array().expect("widgets");
    let graph = |widget: &Value| {
        let title = widget["properties"]["title"]
            .as_str()
            .expect("a title")
            .to_owned();
        let mut shown: Vec<Shown> = Vec::new();
        for metric in widget["properties"]["metrics"].as_array().expect("metrics") {
            let own: Shown = metric
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect();
            shown.push(match own.split_first() {
                Some((first, rest)) if first == "..." => {
                    let before = shown.last().expect("a line before");
                    [&before[..before.len() - rest.len()], rest].concat()
                }
                _ => own,
            });
        }
        (title, shown)
    };
    widgets.iter().map(graph).collect()
}

/// The metrics in the functions' log lines.
fn measured() -> BTreeSet<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let subscriber = JsonSubscriber::new(
        Environment::frozen(at(NOW)).0,
        LevelFilter::INFO,
        String::new(),
        move |line| {
            sink.lock()
                .expect("the lines")
                .push(serde_json::from_str::<Value>(line).expect("JSON"));
        },
    );
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!(target: REQUEST, faults = 1_u8, "request");
        tracing::info!(target: BATCH, "batch");
        tracing::info!(target: ROUND, "round");
    });
    let lines = lines.lock().expect("the lines");
    let directives = lines
        .iter()
        .filter_map(|line| line["_aws"]["CloudWatchMetrics"].as_array())
        .flatten();
    let dimensions = ["function", "release"].map(|name| serde_json::json!([[name]]));
    let without_route = directives.filter(|directive| {
        directive["Namespace"] == "Funil" && dimensions.contains(&directive["Dimensions"])
    });
    let metrics = without_route
        .filter_map(|directive| directive["Metrics"].as_array())
        .flatten();
    metrics
        .filter_map(|metric| metric["Name"].as_str())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_function_is_on_the_dashboard() {
    let all: BTreeSet<_> = function_names()
        .into_iter()
        .map(|name| format!("${{{name}}}"))
        .collect();
    let graphs = graphs();
    for title in [
        "Errors of the functions",
        "Throttles of the functions",
        "Duration of the functions, p99, ms",
    ] {
        let shown: BTreeSet<_> = graphs[title]
            .iter()
            .filter_map(|line| line.last().cloned())
            .collect();
        assert_eq!(shown, all, "{title}");
    }
}

/// CloudWatch shows an empty graph for unknown metrics, without an error.
#[test]
fn every_shown_metric_exists() {
    let (measured, graphs) = (measured(), graphs());
    assert!(!measured.is_empty());
    let own: BTreeSet<_> = graphs
        .values()
        .flatten()
        .filter(|line| line[0] == "Funil")
        .collect();
    assert!(!own.is_empty());
    for line in own {
        assert!(line[2] == "function" && measured.contains(&line[1]), "{line:?}");
    }
    // The same for alarms.
    let watched: Vec<_> = super::alarms::alarms()
        .values()
        .flat_map(super::alarms::metrics)
        .collect();
    let own = watched.iter().filter(|metric| metric["Namespace"] == "Funil");
    let names: BTreeSet<_> = own.filter_map(|metric| metric["MetricName"].as_str()).collect();
    assert!(
        names.len() > 1 && names.iter().all(|name| measured.contains(*name)),
        "{names:?}"
    );
}

/// Each metric with an alarm has a graph that shows its cause.
#[test]
fn every_metric_with_an_alarm_is_shown() {
    let shown: BTreeSet<_> = graphs()
        .into_values()
        .flatten()
        .map(|line| line[1].clone())
        .collect();
    for metric in [
        "Count",
        "4xx",
        "5xx",
        "Latency",
        "Errors",
        "Throttles",
        "Duration",
        "IteratorAge",
        "outbox",
        "erasures",
        "notifications_given_up",
        "actions_left_out",
        "ApproximateNumberOfMessagesVisible",
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
        "ReadThrottleEvents",
        "WriteThrottleEvents",
    ] {
        assert!(shown.contains(metric), "{metric}");
    }
}

/// Names in `${…}` exist, and dashboards of up to 50 metrics are in the free tier.
#[test]
fn the_dashboard_is_valid_and_free() {
    let template = template();
    for part in body().split("${").skip(1) {
        let (name, _) = part.split_once('}').expect("a closing brace");
        let name = name.split('.').next().expect("a name");
        assert!(
            name == "Name" || name.starts_with("AWS::") || template["Resources"].get(name).is_some(),
            "{name}"
        );
    }
    let shown: usize = graphs().values().map(Vec::len).sum();
    assert!(shown <= 50, "{shown}");
}
