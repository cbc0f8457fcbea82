//! The table with TLS that all programs read, and the comparison of their responses.

use std::collections::BTreeMap;

use indicatif::ProgressBar;
use operator::import::{Source, import as load};
use serde_json::{Value, json};
use shared::environment::Environment;
use shared::store::Location;
use shared::time::Timestamp;
use tests::runtime::{Stage, settled};

use super::program::Made;
use super::{data, tls};

/// A table with the demo and more, reached through TLS.
pub struct Ground {
    pub stage: Stage,
    endpoint: String,
    began: Timestamp,
}

impl Ground {
    pub async fn new(made: &Made) -> Self {
        let began = Environment::system().now();
        // The routes of this stage accept calls, which produce stream records.
        let stage = Stage::new("AutomationsFunction").await;
        import(&stage, &data::lines()).await;
        maintenance::tend(&stage.store)
            .await
            .expect("the reports are refreshed");
        let endpoint = tls::before(&stage.endpoint, &made.certificates).await;
        Self {
            stage,
            endpoint,
            began,
        }
    }

    pub fn table(&self) -> Location {
        Location {
            endpoint: Some(self.endpoint.clone()),
            ..self.stage.table()
        }
    }

    /// Requires equal responses.
    #[track_caller]
    pub fn same(&self, what: &str, rust: &Value, node: &Value) {
        let shown = |answer: &Value| {
            let settled = settled(answer.clone(), self.began);
            let body = settled["body"].as_str().unwrap_or_default();
            let body: Value = serde_json::from_str(body).expect("an answer in JSON");
            json!({ "status": answer["statusCode"], "body": sorted(body) })
        };
        assert_eq!(
            shown(rust),
            shown(node),
            "{what}: the function's answer, and that of Node.js"
        );
    }
}

pub async fn import(stage: &Stage, lines: &str) {
    let source = Source::spool(lines.as_bytes()).expect("a temporary file");
    let report = load(&stage.demo(), &source, false, &ProgressBar::hidden()).await;
    let report = report.expect("the lines can be imported");
    if let Some(refused) = report.refused.first() {
        panic!("line {}: {}", refused.line, refused.reason);
    }
}

/// The value with object members sorted.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect();
            json!(fields)
        }
        Value::Array(values) => values.into_iter().map(sorted).collect(),
        other => other,
    }
}
