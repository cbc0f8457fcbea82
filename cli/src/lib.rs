//! The library of the `funil` command (C-80).

pub mod command;
pub mod demo;
pub mod listen;
pub mod panel;
pub mod serve;

/// A request allocates thousands of small values, for which the system's allocator takes a sixth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
