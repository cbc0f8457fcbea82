//! How the table can fail. The texts are for the log; none of them ever reaches a caller.

use std::fmt;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// DynamoDB refused, failed or did not answer in time, also after retries.
    #[error("{operation} failed: {cause}")]
    Unavailable {
        /// The API operation.
        operation: &'static str,
        /// What the SDK said.
        cause: String,
    },
    /// An item is not what this program writes. It is never taken for an absent one.
    #[error("the item {key} cannot be read: {cause}")]
    Corrupt {
        /// The kind of item.
        key: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// A record could not be put into the form of an item.
    #[error("a {kind} cannot be stored: {cause}")]
    Unstorable {
        /// The kind of item.
        kind: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// Others wrote the same items for as long as we tried.
    #[error("{0} gave up after repeated conflicts")]
    Contention(&'static str),
}

impl StoreError {
    pub(super) fn unavailable(operation: &'static str, cause: &impl fmt::Debug) -> Self {
        Self::Unavailable {
            operation,
            cause: format!("{cause:?}"),
        }
    }
}
