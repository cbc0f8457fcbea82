//! The built functions under a Lambda Runtime API. A separate test program, because it needs the binaries.
//!
//! `cargo test --workspace` builds them, because each has a test that starts it. Run alone, these tests use
//! the last build, and fail with a message if there is none.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets what cannot be must fail"
)]

mod failing;
mod hanging;
mod jobs;
mod limits;
mod recorded;
mod requests;
