//! Events as lines of JSON.
//!
//! Lambda reads `level` and `timestamp` of a line, and treats a line without them, or with another format, as
//! INFO. It forwards the line unchanged, so CloudWatch finds the metrics.
//!
//! Not `tracing-subscriber`, because metrics must be at the top level of the line, and because without that
//! crate and the regular expressions of its filters a function is smaller and starts faster.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::metrics;
use crate::environment::Environment;
use crate::release::{label, release};
use crate::telemetry::request;
use crate::traceparent::Traceparent;

/// Field with the invocation's id in the span that the runtime opens.
const INVOCATION: &str = "requestId";

/// Writes each event as one line.
pub struct JsonSubscriber {
    environment: Environment,
    level: LevelFilter,
    function: String,
    /// Whether lines have only the metrics that mean trouble.
    is_lean: bool,
    write: Box<dyn Fn(&str) + Send + Sync>,
    /// Id of the current invocation. A function's process runs one at a time, so the last span is the current
    /// one.
    invocation: Mutex<Option<String>>,
}

impl JsonSubscriber {
    /// Lines of a function's process at `level` or above, but never below INFO: there the SDK logs requests
    /// and responses, which contain personal data. `write` receives each line with its line break.
    #[must_use]
    pub fn new(
        environment: Environment,
        level: LevelFilter,
        function: String,
        write: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            environment,
            level: level.min(LevelFilter::INFO),
            function,
            is_lean: false,
            write: Box::new(write),
            invocation: Mutex::default(),
        }
    }

    /// Lines with all metrics, or only those that mean trouble.
    #[must_use]
    pub fn lean(self, is_lean: bool) -> Self {
        Self { is_lean, ..self }
    }

    /// The text of a line. The service's own members are first, so that fields of the event cannot replace them.
    fn line(&self, event: &Event<'_>) -> String {
        let (metadata, now) = (event.metadata(), self.environment.now());
        let mut members = Map::new();
        let mut set = |name: &str, value| members.insert(name.to_owned(), value);
        set("timestamp", json!(now));
        set("level", json!(metadata.level().as_str()));
        set("target", json!(metadata.target()));
        set("function", json!(self.function));
        set("version", json!(release()));
        let invocation = self.invocation.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = invocation.as_deref() {
            set("lambda_request_id", json!(id));
        }
        drop(invocation);
        if let Some(id) = request::request_id() {
            set("request_id", json!(id));
        }
        if let Some(header) = Traceparent::current() {
            set("trace_id", json!(header.trace_id()));
        }
        event.record(&mut JsonMembers(&mut members));
        let has_faults = members.contains_key(metrics::FAULTS);
        if has_faults {
            members.insert(metrics::RELEASE.to_owned(), json!(label()));
        }
        if let Some(metrics) = metrics::metadata(metadata.target(), now, self.is_lean, has_faults) {
            members.insert("_aws".to_owned(), metrics);
        }
        let mut line = Value::Object(members).to_string();
        line.push('\n');
        line
    }
}

impl Subscriber for JsonSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The invocation's span is INFO, and lines of higher levels need its id too.
        let level = if metadata.is_span() {
            LevelFilter::INFO
        } else {
            self.level
        };
        metadata.level() <= &level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut members = Map::new();
        span.record(&mut JsonMembers(&mut members));
        if let Some(Value::String(id)) = members.remove(INVOCATION) {
            *self.invocation.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
        }
        // Spans have no other data, so they need no distinct ids.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        (self.write)(&self.line(event));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl fmt::Debug for JsonSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonSubscriber").finish_non_exhaustive()
    }
}

/// Event fields as members of a line. Ignores fields that would replace a member that the line has, or its metrics.
struct JsonMembers<'l>(&'l mut Map<String, Value>);

impl JsonMembers<'_> {
    fn set(&mut self, field: &Field, value: Value) {
        let name = field.name();
        if name != "_aws" && !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value);
        }
    }
}

impl Visit for JsonMembers<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, json!(format!("{value:?}")));
    }
}
