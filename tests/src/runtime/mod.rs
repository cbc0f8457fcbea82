//! Functions as Lambda runs them: each built binary is a process of its own under a Lambda Runtime API, reads its
//! environment, and answers recorded events.
//!
//! The router behind it is tried in the process of the test everywhere else. Here it is what lies between API Gateway and the
//! router that is tried: that it adds nothing and loses nothing. So every event is answered twice, by the binary and by
//! the router, each over a table of its own with the same demo in it, and the answers are compared whole.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

mod api;
mod binary;
mod event;
mod function;
mod stage;

pub use api::Outcome;
pub use binary::BUILD;
pub use event::{Expected, Recorded, answered, directory, request};
pub use function::{Function, Location, unreachable};
pub use stage::{Stage, settled};
