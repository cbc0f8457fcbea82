//! Which members of which lines are metrics, in CloudWatch's embedded metric format.
//!
//! Each metric of each combination of dimensions is billed by itself, so there are two dimensions, and each has few values
//! that no caller can add to: the function, and the route, under which what is no route of ours is one value. Only the time
//! is measured by route, because its percentiles cannot be told from the lines of many requests without reading all of
//! them; sums by route are a query of the lines. The instance is a plain member: as a dimension it would be paid for once
//! an instance.
//!
//! What Lambda measures by itself (invocations, errors, duration) is not measured again.

use serde_json::{Value, json};

use crate::time::Timestamp;

/// The target of the line that ends a request.
pub const REQUEST: &str = "request";
/// The target of the line that ends a batch of `automations`.
pub const BATCH: &str = "batch";
/// The target of the line that ends a round of `maintenance`.
pub const ROUND: &str = "round";

const NAMESPACE: &str = "Funil";

/// Members that are metrics, by the members that are their dimensions.
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

/// What tells CloudWatch the metrics of a line, for its member `_aws`; `None` for a line without metrics.
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
