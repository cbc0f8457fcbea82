//! Deployed resources other than routes: the template matches the documentation, and has no unused or missing
//! parts.

mod alarms;
mod api;
mod dashboard;
mod functions;
mod keys;
mod options;
mod releases;
mod table;

use serde_json::{Value, json};

/// The default of a template's parameter.
fn default_of(parameter: &str) -> Value {
    tests::template::template()["Parameters"][parameter]["Default"].clone()
}

fn reference(name: &str) -> Value {
    json!({ "Ref": name })
}

/// The name of the stack's own table, or of the existing one.
fn table_name() -> Value {
    json!({ "Fn::If": ["OwnTable", reference("Table"), reference("ExistingTable")] })
}
