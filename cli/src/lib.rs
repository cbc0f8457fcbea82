//! The library of the `funil` command (C-80): its commands, and the engine that tests use.

mod client;
pub mod command;
mod convert;
pub mod demo;
pub mod engine;
pub mod listen;
pub mod panel;
pub mod serve;
