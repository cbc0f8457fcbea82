//! Properties of every parser of untrusted text, one function each.
//!
//! A function accepts any bytes and panics if the parser violates its property. `cargo fuzz` calls it with
//! generated inputs; the test of this crate calls it with the corpus in `fuzz/corpus`, so the properties are
//! checked without any tool.
//!
//! Rules:
//! - A property is compared with an independent source: the contract written out literally, another library,
//!   or a round trip. The absence of panics is not enough.
//! - Nothing depends on time, randomness or other inputs, so failures can be reproduced.

mod board;
mod calendar;
mod conditions;
pub mod corpus;
mod credentials;
mod dates;
mod hook;
mod json_schema;
mod lines;
mod params;
mod phone;
mod report;
mod reschedule;
mod selection;
mod submission;
mod webhook;

pub use board::board;
pub use calendar::calendar;
pub use conditions::conditions;
pub use credentials::credentials;
pub use dates::dates;
pub use hook::hook;
pub use lines::lines;
pub use params::params;
pub use phone::phone;
pub use report::report;
pub use reschedule::reschedule;
pub use selection::selection;
pub use submission::submission;
pub use webhook::webhook;

/// Checks one input.
pub type Property = fn(&[u8]);

/// Every property, by the name of its target and its file in the corpus.
pub const ALL: [(&str, Property); 14] = [
    ("board", board),
    ("calendar", calendar),
    ("conditions", conditions),
    ("credentials", credentials),
    ("dates", dates),
    ("hook", hook),
    ("lines", lines),
    ("params", params),
    ("phone", phone),
    ("report", report),
    ("reschedule", reschedule),
    ("selection", selection),
    ("submission", submission),
    ("webhook", webhook),
];

/// The input as text. Returns `None` if it is not UTF-8, because no parser of text receives such input.
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// The input as JSON, with or without byte order mark.
fn json(data: &[u8]) -> Option<serde_json::Value> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    serde_json::from_slice(data).ok()
}
