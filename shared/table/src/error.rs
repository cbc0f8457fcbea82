//! Errors of the table. Their texts are for the log and never reach a caller.

use std::fmt;

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};

/// An error of the table.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// DynamoDB rejected the call, failed or timed out, after all retries.
    #[error("{operation} failed: {cause}")]
    Unavailable {
        /// The API operation.
        operation: &'static str,
        /// The SDK's error.
        cause: String,
    },
    /// An item cannot be decoded. It is never treated as absent.
    #[error("the item {key} cannot be read: {cause}")]
    Corrupt {
        /// The kind of item.
        key: &'static str,
        /// The reason.
        cause: String,
    },
    /// A record cannot be encoded as an item.
    #[error("a {kind} cannot be stored: {cause}")]
    Unstorable {
        /// The kind of item.
        kind: &'static str,
        /// The reason.
        cause: String,
    },
    /// This build cannot read the table's format. The text names the format and the remedy.
    #[error("{0}")]
    Format(String),
    /// DynamoDB rejects the transaction permanently as invalid, usually because an item or the transaction is too
    /// large.
    #[error("{operation} was refused: {cause}")]
    Refused {
        /// The API operation.
        operation: &'static str,
        /// DynamoDB's error.
        cause: String,
    },
    /// The table was too busy for the call, for longer than its caller waits (C-110). Nothing was read or written.
    #[error("{0} gave up because the table is too busy")]
    Busy(&'static str),
    /// Conflicts with other writers exceeded the retries.
    #[error("{0} gave up after repeated conflicts")]
    Contention(&'static str),
    /// The request exceeded its budget of read units or time. The caller must request less.
    #[error("the request would read more than its budget, or for too long")]
    OverBudget,
}

/// Kind of an item that would be too large, in [`StoreError::lasting`].
pub const OVERSIZE: &str = "oversize";

impl StoreError {
    /// Whether an item or the transaction would exceed DynamoDB's limits.
    #[must_use]
    pub fn is_oversize(&self) -> bool {
        matches!(self, Self::Refused { cause, .. } if cause.to_ascii_lowercase().contains("size"))
    }

    /// The kind of item that makes every repetition of the same work fail: an item that cannot be read, or
    /// [`OVERSIZE`]. Returns `None` if a retry may succeed.
    #[must_use]
    pub fn lasting(&self) -> Option<&'static str> {
        match self {
            Self::Corrupt { key, .. } => Some(key),
            error => error.is_oversize().then_some(OVERSIZE),
        }
    }

    /// [`StoreError::Unavailable`] for a failed call. Of DynamoDB's answer it keeps only the code and the message. Other
    /// parts may contain items, and so personal data, which must not be logged.
    pub(crate) fn unavailable<E, R>(operation: &'static str, error: &SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: fmt::Debug,
    {
        let cause = match error {
            SdkError::ServiceError(service) => {
                let (code, message) = (service.err().code(), service.err().message());
                format!(
                    "{}: {}",
                    code.unwrap_or("unknown error"),
                    message.unwrap_or_default()
                )
            }
            SdkError::TimeoutError(_) => "no answer in time".to_owned(),
            // Also errors of credentials, region and endpoint.
            SdkError::DispatchFailure(failure) => {
                let reason = failure
                    .as_connector_error()
                    .map(|error| DisplayChain(error).to_string());
                format!("not reached: {}", reason.unwrap_or_default())
            }
            SdkError::ResponseError(_) => "the answer cannot be read".to_owned(),
            // The SDK has not built the request.
            _ => match std::error::Error::source(error) {
                Some(cause) => format!("the request cannot be made: {}", DisplayChain(cause)),
                None => "the request cannot be made".to_owned(),
            },
        };
        Self::Unavailable { operation, cause }
    }

    /// A call without a required part. Does not occur.
    pub(crate) fn incomplete(operation: &'static str, error: &BuildError) -> Self {
        Self::Unavailable {
            operation,
            cause: error.to_string(),
        }
    }
}

/// Where the SDK's text of a request has its body.
const BODY: &str = "SdkBody";

/// An error with its causes on one line, without bodies of requests.
struct DisplayChain<'e>(&'e dyn std::error::Error);

impl fmt::Display for DisplayChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = std::iter::successors(Some(self.0), |cause| cause.source());
        for (at, cause) in causes.enumerate() {
            let text = cause.to_string();
            let separator = if at == 0 { "" } else { ": " };
            // For an invalid endpoint the SDK prints the whole request, which may contain items.
            let shown = text.split(BODY).next().unwrap_or_default();
            write!(f, "{separator}{shown}")?;
        }
        Ok(())
    }
}
