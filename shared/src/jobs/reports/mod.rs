//! Refresh of stored report results.

pub(crate) mod checkpoint;
mod head;
pub(crate) mod refresh;
