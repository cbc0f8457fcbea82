//! Cancellation of an import.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels an import, between two chunks of lines. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// Cancels the import.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the import is cancelled.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
