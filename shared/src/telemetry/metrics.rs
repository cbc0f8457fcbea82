//! Metrics of log lines, in CloudWatch's embedded metric format.
//!
//! Each metric is billed per combination of dimensions, so there are three dimensions with few values that
//! callers cannot extend: function, release and route, with one value for unknown routes. Only the duration has the
//! dimension route, because percentiles cannot be computed from the lines cheaply; sums by route are log
//! queries. The instance is a plain member: as a dimension it would be billed once per instance.
//!
//! Only lines of failures have the metric of failures by release, which stops a gradual release, because a metric is
//! billed for each hour in which it has a value.
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

/// Member of the line of a request that failed with 5xx, and of a failed start.
pub const FAULTS: &str = "faults";
/// Member with the dimension of [`FAULTS`]: the label of the release.
pub const RELEASE: &str = "release";

/// Metrics that mean trouble, selected by `Metrics=lean` of template.yaml. All fit into CloudWatch's free tier.
const LEAN: [&str; 7] = [
    FAULTS,
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

const OF_FAULTS: &Directive = &Directive {
    dimensions: &[RELEASE],
    metrics: &[(FAULTS, "Count")],
};

/// The member `_aws` of a line with metrics, all or only [`LEAN`] ones; `None` for other lines. `has_faults` is whether
/// the line has the member [`FAULTS`].
pub fn metadata(target: &str, now: Timestamp, is_lean: bool, has_faults: bool) -> Option<Value> {
    let directives = match target {
        REQUEST => OF_REQUEST,
        BATCH => OF_BATCH,
        ROUND => OF_ROUND,
        _ => &[],
    };
    let directives: Vec<_> = directives
        .iter()
        .chain(has_faults.then_some(OF_FAULTS))
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
    fn names(target: &str, is_lean: bool, has_faults: bool) -> Vec<String> {
        let now = Timestamp::parse("2026-11-22T12:00:00.000Z").unwrap();
        let found = metadata(target, now, is_lean, has_faults);
        let directives = found.map_or(json!([]), |found| found["CloudWatchMetrics"].clone());
        let directives = directives.as_array().unwrap().iter();
        let metrics = directives.flat_map(|directive| directive["Metrics"].as_array().unwrap().clone());
        metrics.map(|metric| metric["Name"].to_string()).collect()
    }

    /// Ten metrics of an account are free.
    #[test]
    fn lean_metrics_are_free() {
        let all = [REQUEST, BATCH, ROUND];
        assert_eq!(all.map(|target| names(target, true, false).len()), [0, 3, 6]);
        assert_eq!(all.map(|target| names(target, false, false).len()), [5, 6, 9]);
        assert_eq!(names("shared::startup", false, false).len(), 0);
        for target in [REQUEST, "shared::startup"] {
            assert_eq!(names(target, true, true), ["\"faults\""]);
        }
    }
}
