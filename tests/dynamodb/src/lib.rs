//! DynamoDB for tests, in this process: an independent implementation of its API behind the SDK, without network, and
//! between both [faults], [recordings](replay) and [other answers](Api).
//!
//! No product crate depends on this one. Here and in `table` only, the AWS SDK is named.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up must fail, and say where"
)]

pub mod conformance;
mod emulator;
pub mod faults;
mod http;
mod item;
pub mod replay;
mod served;
mod torn;

pub use emulator::Emulator;
pub use http::{Api, engine, process};
pub use item::{from_json, to_json};
pub use served::Served;
pub use torn::Torn;
