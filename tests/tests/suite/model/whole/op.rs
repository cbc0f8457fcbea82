//! An operation, which can be sent, recorded, shrunk and replayed: a request of a user, passing time,
//! maintenance, or the operator's changes of credentials.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One operation; a recording is a file with one per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
pub enum Op {
    /// A request of a user, without `i` and credentials.
    Ask(Ask),
    /// Advances the clock.
    Pass { seconds: u32 },
    /// Runs the pending automations and then maintenance.
    Tend { tend: bool },
    /// Replaces a user's credentials.
    Issue { issue: u64 },
    /// Revokes a user's key.
    Revoke { revoke: u64 },
}

/// A request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub by: u64,
    pub method: String,
    pub path: String,
    /// `"$key:<meeting>"` is replaced by the key of that meeting.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// The header `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether it is sent with the user agent that reads pages in order; every other request has its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub walks: bool,
}

/// A recording as text.
pub fn print(ops: &[Op]) -> String {
    let line = |op: &Op| serde_json::to_string(op).expect("JSON") + "\n";
    ops.iter().map(line).collect()
}

/// A recording from text.
pub fn parse(text: &str) -> Vec<Op> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).expect("an operation"))
        .collect()
}
