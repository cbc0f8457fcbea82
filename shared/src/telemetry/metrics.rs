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

/// Metrics, and the members that are their dimensions.
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

/// The member `_aws` of a line with metrics; `None` for other lines.
pub fn metadata(target: &str, now: Timestamp) -> Option<Value> {
    let directives = match target {
        REQUEST => OF_REQUEST,
        BATCH => OF_BATCH,
        ROUND => OF_ROUND,
        _ => return None,
    };
    let directives: Vec<_> = directives.iter().map(Directive::to_json).collect();
    Some(json!({ "Timestamp": now.unix_millis(), "CloudWatchMetrics": directives }))
}

impl Directive {
    fn to_json(&self) -> Value {
        let metrics = self.metrics.iter();
        let metrics: Vec<_> = metrics
            .map(|(name, unit)| json!({ "Name": name, "Unit": unit }))
            .collect();
        json!({ "Namespace": NAMESPACE, "Dimensions": [self.dimensions], "Metrics": metrics })
    }
}
