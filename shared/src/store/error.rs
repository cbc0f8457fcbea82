//! How the table can fail. The texts are for the log; none of them ever reaches a caller.

use std::fmt;

use super::format::Format;
use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};

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
    /// The table's items have a form that this build does not read.
    #[error("the table has format {0}, and this build reads {readable}; {remedy}", readable = readable(), remedy = remedy(*.0))]
    Format(Format),
    /// DynamoDB takes no such write, however often it is tried: an item or the transaction would be too large.
    #[error("{operation} was refused: {cause}")]
    Refused {
        /// The API operation.
        operation: &'static str,
        /// What DynamoDB said.
        cause: String,
    },
    /// Others wrote the same items for as long as we tried.
    #[error("{0} gave up after repeated conflicts")]
    Contention(&'static str),
    /// The request would read more than its instance allows, or for too long (C-86). The table is well; the caller has to
    /// ask for less.
    #[error("the request would read more than the instance's read_budget, or for too long")]
    OverBudget,
}

/// The formats that this build reads, in words.
fn readable() -> String {
    match (Format::OLDEST, Format::CURRENT) {
        (oldest, current) if oldest == current => format!("format {current}"),
        (oldest, current) => format!("formats {oldest} and {current}"),
    }
}

fn remedy(found: Format) -> &'static str {
    if found > Format::CURRENT {
        "use a newer build"
    } else {
        "first run `funil migrate` of a build that reads it"
    }
}

impl StoreError {
    /// A call that failed. Of what DynamoDB answered only code and message are kept: the rest may hold items, and with
    /// them people's data, which no log line may hold.
    pub(super) fn unavailable<E, R>(operation: &'static str, error: &SdkError<E, R>) -> Self
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
            SdkError::DispatchFailure(failure) => {
                let cause = failure
                    .as_connector_error()
                    .map(|cause| DisplayChain(cause).to_string());
                format!("not reached: {}", cause.unwrap_or_default())
            }
            SdkError::ResponseError(_) => "the answer cannot be read".to_owned(),
            // Configuration and credentials: their causes hold no item.
            _ => match std::error::Error::source(error) {
                Some(cause) => format!("the request cannot be made: {}", DisplayChain(cause)),
                None => "the request cannot be made".to_owned(),
            },
        };
        Self::Unavailable { operation, cause }
    }

    /// A call that lacks a part; no such call is ever made.
    pub(super) fn incomplete(operation: &'static str, error: &BuildError) -> Self {
        Self::Unavailable {
            operation,
            cause: error.to_string(),
        }
    }
}

/// An error with its causes, in one line.
struct DisplayChain<'e>(&'e dyn std::error::Error);

impl fmt::Display for DisplayChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let causes = std::iter::successors(self.0.source(), |cause| cause.source());
        causes.into_iter().try_for_each(|cause| write!(f, ": {cause}"))
    }
}
