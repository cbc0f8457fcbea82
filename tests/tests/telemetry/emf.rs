//! CloudWatch's embedded metric format, validated strictly.

use std::collections::BTreeSet;

use serde_json::Value;

const UNITS: [&str; 3] = ["Count", "Milliseconds", "Seconds"];

/// A metric of a line: dimensions with values, name, unit and value.
pub type Metric = (Vec<(String, String)>, String, String, f64);

/// The metrics that CloudWatch extracts from a line. Fails if it would extract none, or fewer than declared.
pub fn metrics(line: &Value) -> Vec<Metric> {
    let head = &line["_aws"];
    assert_eq!(names(head), ["CloudWatchMetrics", "Timestamp"], "{line}");
    let written = line["timestamp"].as_str().expect("a time");
    let at = shared::time::Timestamp::parse(written).expect("RFC 3339");
    assert_eq!(head["Timestamp"].as_i64(), Some(at.unix_millis()));
    let directives = head["CloudWatchMetrics"].as_array().expect("directives");
    let found: Vec<_> = directives
        .iter()
        .flat_map(|directive| of_directive(line, directive))
        .collect();
    let distinct: BTreeSet<_> = found
        .iter()
        .map(|(dimensions, name, ..)| (dimensions, name))
        .collect();
    assert_eq!(distinct.len(), found.len(), "a metric is sent twice: {line}");
    assert!(!found.is_empty(), "{line}");
    found
}

fn of_directive(line: &Value, directive: &Value) -> Vec<Metric> {
    assert_eq!(names(directive), ["Dimensions", "Metrics", "Namespace"]);
    assert_eq!(directive["Namespace"], "Funil");
    let sets = directive["Dimensions"].as_array().expect("sets of dimensions");
    let metrics = directive["Metrics"].as_array().expect("metrics");
    assert!(
        (1..=100).contains(&metrics.len()) && !sets.is_empty(),
        "{directive}"
    );
    let mut found = Vec::new();
    for set in sets {
        let set = set.as_array().expect("a set of dimensions");
        assert!((1..=30).contains(&set.len()), "{set:?}");
        let dimensions: Vec<_> = set.iter().map(|name| dimension(line, name)).collect();
        for metric in metrics {
            assert_eq!(names(metric), ["Name", "Unit"]);
            let (name, unit) = (text(&metric["Name"]), text(&metric["Unit"]));
            assert!(UNITS.contains(&unit.as_str()), "{unit}");
            let value = line[&name].as_f64().expect("a number");
            found.push((dimensions.clone(), name, unit, value));
        }
    }
    found
}

/// CloudWatch accepts values of 1 to 1,024 ASCII characters that are not only blanks.
fn dimension(line: &Value, name: &Value) -> (String, String) {
    let name = text(name);
    let value = text(&line[&name]);
    let printable = value
        .chars()
        .all(|letter| letter.is_ascii_graphic() || letter == ' ');
    assert!(
        printable && !value.trim().is_empty() && value.len() <= 1024,
        "{name}: {value}"
    );
    (name, value)
}

fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<_> = object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
