//! The built functions under a Lambda Runtime API: a program of its own, because it needs them built.
//!
//! `cargo test --workspace` builds them, because each has a test that starts it. Where one is missing, these tests fail and
//! say so; run alone they try what was built last.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets what cannot be must fail"
)]

mod behind;
mod failing;
mod limits;
mod recorded;
mod requests;
