//! Who asks, as hints, page cursors and idempotency keys tell callers apart.

/// The caller of a request, known before any credential is checked. It decides nothing: it names what is remembered of a
/// caller.
#[derive(Debug, Clone, Default)]
pub struct CallerId {
    /// The hashes of all credentials that were presented.
    pub(crate) credentials: String,
    /// The hash of the API key alone: it stays when the access token changes.
    pub(crate) key: String,
    /// The address and the program, which tell apart the callers that share a credential.
    pub(crate) client: String,
}

impl CallerId {
    /// The hash of the caller's API key; empty where it presented none.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}
