//! What is deployed beside the routes: what the template says is what an operator is promised, and nothing in it is left
//! over or missing.

mod alarms;
mod api;
mod dashboard;
mod functions;
mod options;
mod table;

use serde_json::{Value, json};

/// The default of a template's parameter.
fn default_of(parameter: &str) -> Value {
    tests::template::template()["Parameters"][parameter]["Default"].clone()
}

fn reference(name: &str) -> Value {
    json!({ "Ref": name })
}
