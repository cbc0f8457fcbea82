//! Connection to the table: location, credentials and timeouts.
//!
//! TLS uses ring: a function is 0.7 MB smaller than with the SDK's default, and its first handshake needs no entropy of
//! its own. A function takes credentials and region only from its environment, which Lambda sets; the `funil` command
//! uses the AWS defaults.

use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::Client;
#[cfg(feature = "testing")]
use aws_sdk_dynamodb::config::retry::{RetryPartition, TokenBucket};
#[cfg(feature = "testing")]
use aws_sdk_dynamodb::config::{Builder, HttpClient};
use aws_sdk_dynamodb::config::{Credentials, Region, SharedHttpClient};
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;

use super::DynamoDb;
use crate::retry::Jitter;

/// Location of the table.
#[derive(Debug, Clone)]
pub struct Location {
    /// The table's name.
    pub table: String,
    /// A DynamoDB API other than that of the AWS region.
    pub endpoint: Option<String>,
}

impl DynamoDb {
    /// Connects with the default AWS configuration. A custom endpoint needs no AWS credentials; placeholders
    /// are used if the environment has none.
    pub async fn connect(location: Location, jitter: Jitter) -> Self {
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .http_client(https())
            .retry_config(retries())
            .timeout_config(timeouts(PATIENT));
        if let Some(endpoint) = &location.endpoint {
            loader = loader.endpoint_url(endpoint);
            if std::env::var_os("AWS_ACCESS_KEY_ID").is_none() && std::env::var_os("AWS_PROFILE").is_none() {
                loader = loader
                    .region(Region::from_static("us-east-1"))
                    .credentials_provider(Credentials::new("local", "local", None, None, "local"));
            }
        }
        let config = loader.load().await;
        Self::new(Client::new(&config), location.table, jitter)
    }

    /// Connects as a Lambda function, with credentials and region from the environment. The other providers
    /// of the AWS SDK (profiles, containers, instances) would add a tenth to a function's size.
    pub fn connect_function(location: Location, jitter: Jitter) -> Self {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .http_client(https())
            .retry_config(retries())
            .timeout_config(timeouts(PROMPT))
            .region(std::env::var("AWS_REGION").ok().map(Region::new))
            .credentials_provider(EnvironmentVariableCredentialsProvider::new());
        let config = match location.endpoint {
            Some(endpoint) => config.endpoint_url(endpoint),
            None => config,
        };
        Self::new(Client::from_conf(config.build()), location.table, jitter)
    }
}

fn https() -> SharedHttpClient {
    let client = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
    client.build_https()
}

#[cfg(feature = "testing")]
impl DynamoDb {
    /// A table whose calls an HTTP client of the SDK answers, with a retry quota of its own: failures of other tests in
    /// the process would use up the shared one.
    #[must_use]
    pub fn over(http: impl HttpClient + 'static, name: String, jitter: Jitter) -> Self {
        let retries_of_its_own = RetryPartition::custom("test").token_bucket(TokenBucket::unlimited());
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .http_client(http)
            .retry_config(retries())
            .retry_partition(retries_of_its_own.build())
            .timeout_config(timeouts(PROMPT))
            .endpoint_url("http://dynamodb.invalid")
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"));
        Self::new(Client::from_conf(config.build()), name, jitter)
    }

    /// The same table with a changed configuration of the SDK.
    #[must_use]
    pub fn configured(&self, change: impl FnOnce(Builder) -> Builder) -> Self {
        let config = change(self.client.config().to_builder());
        Self {
            client: Client::from_conf(config.build()),
            ..self.clone()
        }
    }
}

/// DynamoDB answers within milliseconds, so the SDK's initial backoff of one second is too long.
pub(crate) fn retries() -> RetryConfig {
    RetryConfig::standard()
        .with_max_attempts(4)
        .with_initial_backoff(Duration::from_millis(50))
}

/// Timeouts of an attempt and of a call with all attempts.
pub(crate) type Patience = (Duration, Duration);

/// A function times out after 29 seconds: three hanging calls in sequence leave time for a response.
pub(crate) const PROMPT: Patience = (Duration::from_secs(3), Duration::from_secs(8));
/// Timeout of a function's call with all attempts.
pub const MAX_CALL: Duration = PROMPT.1;
/// For operators' commands: the embedded engine serves one call at a time, which may be a large one.
pub(crate) const PATIENT: Patience = (Duration::from_secs(10), Duration::from_secs(35));

pub(crate) fn timeouts((attempt, call): Patience) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(attempt)
        .operation_timeout(call)
        .build()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_call_has_two_attempts_and_a_function_three_calls() {
        for (attempt, call) in [PROMPT, PATIENT] {
            assert!(2 * attempt <= call, "{attempt:?} {call:?}");
        }
        assert!(3 * MAX_CALL < Duration::from_secs(29));
    }

    /// An endpoint that accepts connections and never responds.
    #[tokio::test]
    async fn unanswered_calls_time_out() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let patience = (Duration::from_millis(20), Duration::from_millis(80));
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .http_client(https())
            .retry_config(retries())
            .timeout_config(timeouts(patience))
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"))
            .endpoint_url(format!("http://{}", silent.local_addr().unwrap()));
        let client = Client::from_conf(config.build());
        let answer = tokio::time::timeout(Duration::from_secs(5), client.list_tables().send()).await;
        assert!(answer.expect("an end of the call").is_err());
    }
}
