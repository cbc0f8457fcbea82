//! The errors that DynamoDB documents for the calls of the engine.

/// Reasons of a cancelled transaction, except a failed condition: no fault, and caused by real writers in other tests.
pub const REASONS: [&str; 7] = [
    "AccessDenied",
    "DuplicateItem",
    "ItemCollectionSizeLimitExceeded",
    "ProvisionedThroughputExceeded",
    "ThrottlingError",
    "TransactionConflict",
    "ValidationError",
];

/// Errors of every call: those of the SDK's model, then those that it leaves out.
const OF_ALL: [&str; 8] = [
    "InternalServerError",
    "InvalidEndpointException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ResourceNotFoundException",
    "ThrottlingException",
    "AccessDeniedException",
    "ValidationException",
];
/// The further ones of a write of one item.
const OF_WRITES: [&str; 3] = [
    "ItemCollectionSizeLimitExceededException",
    "ReplicatedWriteConflictException",
    "TransactionConflictException",
];
/// The further ones of a transaction, whose cancellation has [reasons](REASONS).
const OF_TRANSACTIONS: [&str; 2] = [
    "IdempotentParameterMismatchException",
    "TransactionInProgressException",
];

/// The exceptions of an operation, except a failed condition.
#[must_use]
pub fn exceptions(operation: &str) -> Vec<&'static str> {
    let own: &[_] = match operation {
        "PutItem" | "UpdateItem" => &OF_WRITES,
        "TransactWriteItems" => &OF_TRANSACTIONS,
        _ => &[],
    };
    [&OF_ALL, own].concat()
}

/// Whether an exception or a reason says that the table or the account is over its throughput (C-110).
#[must_use]
pub fn is_throttled(name: &str) -> bool {
    matches!(
        name,
        "ProvisionedThroughputExceeded"
            | "ProvisionedThroughputExceededException"
            | "RequestLimitExceeded"
            | "ThrottlingError"
            | "ThrottlingException"
    )
}

/// Whether a later attempt may succeed after this exception or reason.
#[must_use]
pub fn is_repeated(name: &str) -> bool {
    let others = [
        "InternalServerError",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
    ];
    is_throttled(name) || others.contains(&name)
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::Client;
    use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
    use aws_sdk_dynamodb::error::SdkError;
    use aws_smithy_runtime_api::client::http::{
        HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
    };

    use super::*;
    use crate::faults::Fault;

    /// A connector that answers every call with an exception.
    #[derive(Debug)]
    struct Refusing(&'static str);

    impl HttpConnector for Refusing {
        fn call(&self, request: aws_sdk_dynamodb::config::http::HttpRequest) -> HttpConnectorFuture {
            HttpConnectorFuture::ready(Ok(Fault::Exception(self.0).answer(&request)))
        }
    }

    /// The SDK's name of the error of an operation that gets an exception.
    async fn variant(operation: &str, exception: &'static str) -> String {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .http_client(http_client_fn(move |_, _| {
                SharedHttpConnector::new(Refusing(exception))
            }))
            .endpoint_url("http://dynamodb.invalid")
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"));
        let client = Client::from_conf(config.build());
        match operation {
            "BatchGetItem" => told(client.batch_get_item().send().await),
            "GetItem" => told(client.get_item().table_name("a").send().await),
            "PutItem" => told(client.put_item().table_name("a").send().await),
            "Query" => told(client.query().table_name("a").send().await),
            "TransactWriteItems" => told(client.transact_write_items().send().await),
            _ => told(client.update_item().table_name("a").send().await),
        }
    }

    /// The SDK knows each of them by this name.
    fn told<O: std::fmt::Debug, E: std::fmt::Debug, R: std::fmt::Debug>(
        result: Result<O, SdkError<E, R>>,
    ) -> String {
        format!("{:?}", result.unwrap_err().as_service_error().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn exceptions_are_variants_of_the_sdk() {
        for operation in [
            "BatchGetItem",
            "GetItem",
            "PutItem",
            "Query",
            "TransactWriteItems",
            "UpdateItem",
        ] {
            for exception in exceptions(operation) {
                let variant = variant(operation, exception).await;
                let is_modelled = !["AccessDeniedException", "ValidationException"].contains(&exception);
                assert_eq!(
                    variant.starts_with(&format!("{exception}(")),
                    is_modelled,
                    "{variant}"
                );
                assert!(variant.contains(exception), "{variant}");
            }
        }
    }
}
