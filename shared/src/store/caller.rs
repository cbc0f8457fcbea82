//! The identity of a caller for hints, page cursors and idempotency keys.

/// A caller before its credentials are checked. Used only as a key of cached data.
#[derive(Debug, Clone, Default)]
pub struct CallerId {
    /// Hashes of all presented credentials.
    pub(crate) credentials: String,
    /// Hash of the API key alone, which stays the same when the access token changes.
    pub(crate) key: String,
    /// Source address and program, which distinguish callers that share a credential.
    pub(crate) client: String,
}

impl CallerId {
    /// Hash of the caller's API key; empty without one.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}
