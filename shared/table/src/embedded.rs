//! An engine in this process instead of DynamoDB, called by the SDK without a connection.
//!
//! Requires the feature `embedded`, which no function enables.

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::{HttpClient, RuntimeComponents};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;

use crate::client::Table;
use crate::connection::PATIENT;
use crate::retry::Jitter;

pub use crate::large::MAX_EMBEDDED_WRITES;

/// An engine that implements DynamoDB's JSON protocol.
pub trait EmbeddedEngine: fmt::Debug + Send + Sync + 'static {
    /// Handles one call, such as `GetItem`, and returns status and body. Blocks while the engine works. A transaction
    /// that deletes nothing may have up to [`MAX_EMBEDDED_WRITES`] writes.
    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String);
}

impl Table {
    /// A table on an engine in this process.
    #[must_use]
    pub fn embedded(engine: Arc<dyn EmbeddedEngine>, table: String, jitter: Jitter) -> Self {
        Self::in_process(InProcess(engine), PATIENT, (table, jitter))
    }
}

/// An HTTP client of the SDK without network.
#[derive(Debug, Clone)]
struct InProcess(Arc<dyn EmbeddedEngine>);

impl HttpClient for InProcess {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let engine = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move {
            // On this thread: the engine serves one call at a time, so other threads would only wait. Yields
            // so that a series of calls does not starve other tasks.
            tokio::task::yield_now().await;
            let target = request.headers().get("x-amz-target").unwrap_or_default();
            let operation = target.rsplit('.').next().unwrap_or_default();
            let (status, body) = engine.answer(operation, request.body().bytes().unwrap_or_default());
            let status = StatusCode::try_from(status).map_err(failed)?;
            Ok(HttpResponse::new(status, SdkBody::from(body)))
        })
    }
}

fn failed(cause: impl std::error::Error + Send + Sync + 'static) -> ConnectorError {
    ConnectorError::other(Box::new(cause), None)
}
