//! Log of a deployed function: one line for each request, batch or round, with its metrics.

#![expect(clippy::expect_used, reason = "a test that meets what cannot be must fail")]

mod emf;
mod function;
mod runs;
