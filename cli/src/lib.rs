//! The `funil` command's parts that tests use too.

pub mod engine;
