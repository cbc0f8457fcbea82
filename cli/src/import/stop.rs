//! The wish that an import ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish that an import ends early, which it heeds between two chunks of lines. Its copies are one wish.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Wishes it.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is wished.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
