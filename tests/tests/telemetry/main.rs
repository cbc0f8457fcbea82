//! What a deployed function writes: a line a request, a batch or a round, which is its metrics too.

#![expect(clippy::expect_used, reason = "a test that meets what cannot be must fail")]

mod emf;
mod function;
mod runs;
