//! What must hold of every text that a stranger can send: one function for each reader of such texts.
//!
//! A function takes any bytes and panics where the reader breaks its promise. `cargo fuzz` calls it with inputs that it makes
//! up; the test of this crate calls it with those that were worth keeping, in `fuzz/corpus`. So the promises are held to
//! without any tool.
//!
//! What must stay true:
//! - A promise is judged by something else than the reader: the words of the contract written out plainly, another library, or
//!   what was read and written again. It is never enough that nothing panics.
//! - Nothing here depends on time, randomness or another input: what was found once is found again.

mod board;
mod calendar;
mod conditions;
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
pub use webhook::webhook;

/// What is held of one input.
pub type Property = fn(&[u8]);

/// Every property, by the name of its target and of its directory in the corpus.
pub const ALL: [(&str, Property); 13] = [
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
    ("webhook", webhook),
];

/// The input as text; `None` where it is none, which no reader of texts ever sees.
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// The input as JSON, behind a byte order mark or not.
fn json(data: &[u8]) -> Option<serde_json::Value> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    serde_json::from_slice(data).ok()
}
