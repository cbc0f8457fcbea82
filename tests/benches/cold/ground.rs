//! Two tables that are alike, one for the functions and one for Node.js, each behind TLS.
//!
//! What is measured is comparable only where both sides do the same. So both get the same events in the same order, their
//! answers are compared each time, and in the end the tables are, item by item.

use std::collections::BTreeMap;

use funil::import::{Source, import as load};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use shared::ambient::Ambient;
use shared::store::Location;
use shared::time::Timestamp;
use tests::raw::RawTable;
use tests::runtime::{Stage, settled};

use super::program::Made;
use super::{data, tls};

/// A table with the demo and more in it, and where it is reached by TLS.
pub struct Ground {
    /// The table.
    pub stage: Stage,
    endpoint: String,
}

/// One for each side.
pub struct Twins {
    /// The functions'.
    pub rust: Ground,
    /// That of Node.js.
    pub node: Ground,
    began: Timestamp,
}

impl Ground {
    async fn new(made: &Made) -> Self {
        // The routes of this stage take calls, which is how the stream gets something to tell.
        let stage = Stage::new("AutomationsFunction").await;
        import(&stage, &data::lines()).await;
        maintenance::tend(&stage.store)
            .await
            .expect("the reports are refreshed");
        let endpoint = tls::before(&stage.endpoint, &made.certificates).await;
        Self { stage, endpoint }
    }

    /// Where the table is.
    pub fn table(&self) -> Location {
        Location {
            endpoint: Some(self.endpoint.clone()),
            ..self.stage.table()
        }
    }

    /// The items, each as one line, without what no two tables share: credentials, random tokens, the times since `began`.
    fn items(&self, began: Timestamp) -> Vec<String> {
        let items = RawTable::at(&self.stage.endpoint).items().into_iter();
        let shared = items.filter(|item| {
            let pk = item["pk"]["S"].as_str().unwrap_or_default();
            // A walk says when it expires, in seconds.
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
    /// New ones.
    pub async fn new(made: &Made) -> Self {
        let began = Ambient::system().now();
        let (rust, node) = (Ground::new(made).await, Ground::new(made).await);
        Self { rust, node, began }
    }

    /// Requires that both sides answered the same.
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

    /// Requires that both sides wrote the same.
    #[track_caller]
    pub fn alike(&self) {
        let (rust, node) = (self.rust.items(self.began), self.node.items(self.began));
        for (rust, node) in rust.iter().zip(&node) {
            assert_eq!(rust, node, "an item of the functions, and that of Node.js");
        }
        assert_eq!(rust.len(), node.len(), "the items of both");
    }
}

/// Brings lines into the demo.
pub async fn import(stage: &Stage, lines: &str) {
    let source = Source::spool(lines.as_bytes()).expect("a temporary file");
    let report = load(&stage.demo(), &source, false, &ProgressBar::hidden()).await;
    let report = report.expect("the lines can be imported");
    if let Some(refused) = report.refused.first() {
        panic!("line {}: {}", refused.line, refused.reason);
    }
}

/// The same with the fields of every object in one order.
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

/// A text without the 32 hexadecimal digits that make something unique.
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
