//! An engine that takes time to respond, for a model of DynamoDB's limits.
//!
//! Requires the feature `testing`, which no function enables.

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::retry::RetryPartition;
use aws_sdk_dynamodb::config::{HttpClient, RuntimeComponents};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use futures_util::future::BoxFuture;

use crate::client::Table;
use crate::connection::PROMPT;
use crate::retry::Jitter;

/// An engine that implements DynamoDB's JSON protocol and waits on tokio's clock.
pub trait TimedEngine: fmt::Debug + Send + Sync + 'static {
    /// Handles one call, such as `GetItem`, and returns status and body.
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, (u16, String)>;
}

impl Table {
    /// The table of one process on such an engine, with the timeouts of a function and its own retry quota of the SDK.
    #[must_use]
    pub fn timed(engine: Arc<dyn TimedEngine>, table: String, jitter: Jitter) -> Self {
        let mut timed = Self::in_process(Timed(engine), PROMPT, (table, jitter));
        let quota = RetryPartition::custom("process").build();
        let config = timed.reads().client.config().to_builder().retry_partition(quota);
        timed.set_client(Client::from_conf(config.build()));
        timed
    }
}

/// An HTTP client of the SDK without network.
#[derive(Debug, Clone)]
struct Timed(Arc<dyn TimedEngine>);

impl HttpClient for Timed {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Timed {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let engine = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move {
            let target = request.headers().get("x-amz-target").unwrap_or_default();
            let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
            let body = request.body().bytes().unwrap_or_default().to_vec();
            let (status, body) = engine.answer(operation, body).await;
            let status =
                StatusCode::try_from(status).map_err(|cause| ConnectorError::other(Box::new(cause), None))?;
            Ok(HttpResponse::new(status, SdkBody::from(body)))
        })
    }
}
