//! How the table is reached: where it is, who asks, and how long an answer may take.

use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, Region, SharedHttpClient};
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;

use super::format::KnownFormat;
use super::table::Table;
use crate::ambient::Ambient;

/// Where the table is.
#[derive(Debug, Clone)]
pub struct Location {
    /// The table's name.
    pub table: String,
    /// Another DynamoDB API than that of the AWS region.
    pub endpoint: Option<String>,
}

impl Table {
    /// Connects with the surroundings' AWS configuration. An endpoint of one's own needs no AWS credentials; where the
    /// environment names none, it is given some that mean nothing.
    pub async fn connect(location: Location, ambient: Ambient) -> Self {
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
        Self {
            client: Client::new(&config),
            name: location.table,
            ambient,
            format: KnownFormat::default(),
            gate: None,
        }
    }

    /// Connects as a Lambda function, whose credentials and region are in its environment. The other places where AWS
    /// looks for them (profiles, containers, machines) would be a tenth of a function's size.
    pub fn connect_function(location: Location, ambient: Ambient) -> Self {
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
        Self {
            client: Client::from_conf(config.build()),
            name: location.table,
            ambient,
            format: KnownFormat::default(),
            gate: None,
        }
    }
}

fn https() -> SharedHttpClient {
    let client = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
    client.build_https()
}

/// DynamoDB answers within milliseconds, so the SDK's first pause of a second is far too long for it.
pub(super) fn retries() -> RetryConfig {
    RetryConfig::standard()
        .with_max_attempts(4)
        .with_initial_backoff(Duration::from_millis(50))
}

/// How long an attempt may take, and a call with all its attempts.
pub(super) type Patience = (Duration, Duration);

/// A function ends after 29 seconds: three calls that hang one after another leave time for an answer.
const PROMPT: Patience = (Duration::from_secs(3), Duration::from_secs(8));
/// How long a function waits for a call with all its attempts.
pub const MAX_CALL: Duration = PROMPT.1;
/// An operator's command has time, and the embedded engine, which does one thing at a time, may be at a large one.
pub(super) const PATIENT: Patience = (Duration::from_secs(10), Duration::from_secs(35));

pub(super) fn timeouts((attempt, call): Patience) -> TimeoutConfig {
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

    /// A hanging attempt leaves time for another one, and hanging calls leave time for an answer.
    #[test]
    fn a_call_has_two_attempts_and_a_function_three_calls() {
        for (attempt, call) in [PROMPT, PATIENT] {
            assert!(2 * attempt <= call, "{attempt:?} {call:?}");
        }
        assert!(3 * MAX_CALL < Duration::from_secs(29));
    }

    /// An endpoint that takes the connection and says nothing.
    #[tokio::test]
    async fn a_call_that_is_never_answered_ends() {
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
