//! Metrics of log lines, in CloudWatch's embedded metric format.
//!
//! Each metric is billed per combination of dimensions, so there are two dimensions with few values that
//! callers cannot extend: function and route, with one value for unknown routes. Only the duration has the
//! dimension route, because percentiles cannot be computed from the lines cheaply; sums by route are log
//! queries. The instance is a plain member: as a dimension it would be billed once per instance.
//!
//! Lambda's own metrics (invocations, errors, duration) are not repeated.

use serde_json::{Value, json};

use crate::time::Timestamp;

/// Target of the line at the end of a request.
pub const REQUEST: &str = "request";
/// Target of the line at the end of a batch of `automations`.
pub const BATCH: &str = "batch";
/// Target of the line at the end of a round of `maintenance`.
pub const ROUND: &str = "round";

const NAMESPACE: &str = "Funil";

/// Metrics that mean trouble, selected by `Metrics=lean` of template.yaml. All fit into CloudWatch's free tier.
const LEAN: [&str; 6] = [
    "failed",
    "actions_left_out",
    "notifications_given_up",
    "outbox",
    "erasures",
    "oldest_erasure_seconds",
];

/// Metrics as pairs of name and unit, and the members of the line that are their dimensions.
struct Directive {
    dimensions: &'static [&'static str],
    metrics: &'static [(&'static str, &'static str)],
}

const OF_REQUEST: &[Directive] = &[
    Directive {
        dimensions: &["function", "route"],
        metrics: &[("milliseconds", "Milliseconds")],
    },
    Directive {
        dimensions: &["function"],
        metrics: &[
            ("calls", "Count"),
            ("read_units", "Count"),
            ("write_units", "Count"),
            ("cold_start", "Count"),
        ],
    },
];

const OF_BATCH: &[Directive] = &[Directive {
    dimensions: &["function"],
    metrics: &[
        ("calls", "Count"),
        ("read_units", "Count"),
        ("write_units", "Count"),
        ("failed", "Count"),
        ("actions_left_out", "Count"),
        ("notifications_given_up", "Count"),
    ],
}];

const OF_ROUND: &[Directive] = &[Directive {
    dimensions: &["function"],
    metrics: &[
        ("calls", "Count"),
        ("read_units", "Count"),
        ("write_units", "Count"),
        ("failed", "Count"),
        ("actions_left_out", "Count"),
        ("notifications_given_up", "Count"),
        ("outbox", "Count"),
        ("erasures", "Count"),
        ("oldest_erasure_seconds", "Seconds"),
    ],
}];

/// The member `_aws` of a line with metrics, all or only [`LEAN`] ones; `None` for other lines.
pub fn metadata(target: &str, now: Timestamp, is_lean: bool) -> Option<Value> {
    let directives = match target {
        REQUEST => OF_REQUEST,
        BATCH => OF_BATCH,
        ROUND => OF_ROUND,
        _ => return None,
    };
    let directives: Vec<_> = directives
        .iter()
        .filter_map(|directive| directive.to_json(is_lean))
        .collect();
    let has_metrics = !directives.is_empty();
    has_metrics.then(|| json!({ "Timestamp": now.unix_millis(), "CloudWatchMetrics": directives }))
}

impl Directive {
    /// `None` without metrics.
    fn to_json(&self, is_lean: bool) -> Option<Value> {
        let metrics = self.metrics.iter();
        let metrics: Vec<_> = metrics
            .filter(|(name, _)| !is_lean || LEAN.contains(name))
            .map(|(name, unit)| json!({ "Name": name, "Unit": unit }))
            .collect();
        let has_metrics = !metrics.is_empty();
        has_metrics
            .then(|| json!({ "Namespace": NAMESPACE, "Dimensions": [self.dimensions], "Metrics": metrics }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The metrics of a line.
    fn names(target: &str, is_lean: bool) -> Vec<String> {
        let found = metadata(
            target,
            Timestamp::parse("2026-11-22T12:00:00.000Z").unwrap(),
            is_lean,
        );
        let directives = found.map_or(json!([]), |found| found["CloudWatchMetrics"].clone());
        let directives = directives.as_array().unwrap().iter();
        let metrics = directives.flat_map(|directive| directive["Metrics"].as_array().unwrap().clone());
        metrics.map(|metric| metric["Name"].to_string()).collect()
    }

    /// Ten metrics of an account are free.
    #[test]
    fn lean_metrics_are_free() {
        let all = [REQUEST, BATCH, ROUND];
        assert_eq!(all.map(|target| names(target, true).len()), [0, 3, 6]);
        assert_eq!(all.map(|target| names(target, false).len()), [5, 6, 9]);
        assert_eq!(names("shared::startup", false).len(), 0);
    }
}
