//! Functions as in Lambda: each built binary is a process under a Lambda Runtime API, with an environment and
//! recorded events.
//!
//! Other tests call the router within their process. These test the layer between API Gateway and router,
//! which must not change anything: every event is handled by the binary and by the router, each with its own
//! copy of the demo, and the responses are compared completely.

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
pub use event::{Expected, Recorded, answered, directory, packed, request};
pub use function::{Function, Location, unreachable};
pub use stage::{Stage, settled};
