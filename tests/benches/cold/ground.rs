//! Two equal tables with TLS, one for the functions and one for Node.js.
//!
//! Both sides get the same events in the same order. Their responses are compared each time, and their tables
//! at the end, item by item.

use std::collections::BTreeMap;

use indicatif::ProgressBar;
use operator::import::{Source, import as load};
use serde_json::{Value, json};
use shared::environment::Environment;
use shared::store::Location;
use shared::time::Timestamp;
use tests::raw::RawTable;
use tests::runtime::{Stage, settled};

use super::program::Made;
use super::{data, tls};

/// A table with the demo and more, reached through TLS.
pub struct Ground {
    pub stage: Stage,
    endpoint: String,
}

pub struct Twins {
    pub rust: Ground,
    pub node: Ground,
    began: Timestamp,
}

impl Ground {
    async fn new(made: &Made) -> Self {
        // The routes of this stage accept calls, which produce stream records.
        let stage = Stage::new("AutomationsFunction").await;
        import(&stage, &data::lines()).await;
        maintenance::tend(&stage.store)
            .await
            .expect("the reports are refreshed");
        let endpoint = tls::before(&stage.endpoint, &made.certificates).await;
        Self { stage, endpoint }
    }

    pub fn table(&self) -> Location {
        Location {
            endpoint: Some(self.endpoint.clone()),
            ..self.stage.table()
        }
    }

    /// The items as lines, without unique parts: credentials, random tokens, times since `began`.
    fn items(&self, began: Timestamp) -> Vec<String> {
        let items = RawTable::at(&self.stage.endpoint).items().into_iter();
        let shared = items.filter(|item| {
            let pk = item["pk"]["S"].as_str().unwrap_or_default();
            // A checkpoint contains its expiry in seconds.
            !pk.contains("#credential") && !pk.ends_with("#report-walk")
        });
        let text = |item: Value| settled(json!({ "body": sorted(item).to_string() }), began);
        let mut lines: Vec<_> = shared
            .map(|item| without_tokens(text(item)["body"].as_str().unwrap_or_default()))
            .collect();
        lines.sort_unstable();
        lines
    }
}

impl Twins {
    pub async fn new(made: &Made) -> Self {
        let began = Environment::system().now();
        let (rust, node) = (Ground::new(made).await, Ground::new(made).await);
        Self { rust, node, began }
    }

    /// Requires equal responses.
    #[track_caller]
    pub fn same(&self, what: &str, rust: &Value, node: &Value) {
        let told = |answer: &Value| match answer.get("statusCode") {
            None => answer.clone(),
            Some(status) => {
                let settled = settled(answer.clone(), self.began);
                let body = settled["body"].as_str().unwrap_or_default();
                let body: Value = serde_json::from_str(body).expect("an answer in JSON");
                json!({ "status": status, "body": sorted(body) })
            }
        };
        assert_eq!(
            told(rust),
            told(node),
            "{what}: the functions' answer, and that of Node.js"
        );
    }

    /// Requires equal tables.
    #[track_caller]
    pub fn alike(&self) {
        let (rust, node) = (self.rust.items(self.began), self.node.items(self.began));
        for (rust, node) in rust.iter().zip(&node) {
            assert_eq!(rust, node, "an item of the functions, and that of Node.js");
        }
        assert_eq!(rust.len(), node.len(), "the items of both");
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

/// A text without unique values of 32 hexadecimal digits.
fn without_tokens(text: &str) -> String {
    const LENGTH: usize = 32;
    let (mut settled, mut run) = (String::with_capacity(text.len()), String::new());
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_hexdigit() {
            run.push(letter);
            continue;
        }
        settled.push_str(if run.len() == LENGTH { "TOKEN" } else { &run });
        settled.push(letter);
        run.clear();
    }
    settled
}
