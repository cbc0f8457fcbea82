//! What the `funil` command is made of (C-80): the operator's commands, and the engine that tests use too.

pub mod command;
pub mod demo;
pub mod docs;
pub mod engine;
pub mod listen;
pub mod serve;
