//! The current `rusqlite`, for dynoxide.

pub use current::*;
