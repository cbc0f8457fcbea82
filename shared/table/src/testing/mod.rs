//! Test support between table and engine. No function enables the feature `testing`.

pub mod faults;
pub mod replay;
pub mod timed;
