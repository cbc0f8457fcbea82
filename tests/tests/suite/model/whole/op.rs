//! An operation, as it is sent, recorded, shrunk and replayed: a request of somebody, time that passes, maintenance, or what
//! the operator does with credentials.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One operation; a recording is a file with one a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
pub enum Op {
    /// A request of a user. `i` and the credentials are added when it is sent.
    Ask(Ask),
    /// The clock goes on.
    Pass { seconds: u32 },
    /// Maintenance runs, as it does every minute, behind the automations of the calls that came.
    Tend { tend: bool },
    /// A user gets new credentials and uses the old ones no more.
    Issue { issue: u64 },
    /// A user's key is revoked.
    Revoke { revoke: u64 },
}

/// A request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub by: u64,
    pub method: String,
    pub path: String,
    /// `"$key:<meeting>"` stands for the key that moves that meeting.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// The header `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether it is sent by the program that reads pages in order; every other request is of a program of its own.
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
