//! Refresh of stored report results.

pub(crate) mod checkpoint;
pub(crate) mod refresh;
