//! An engine in this process instead of DynamoDB. The SDK calls it without a connection; reads also bypass the SDK's
//! requests, signatures and JSON, which took about half of the processor time of a small read.
//!
//! A read that the engine cannot execute so, or that fails, is repeated through the SDK. Writes, and all calls of tests
//! that inject faults, always pass through the SDK.
//!
//! Requires the feature `embedded`, which no function enables.

use std::sync::Arc;

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::{HttpClient, RuntimeComponents};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;

use crate::client::{ReadTable, Table};
use crate::connection::PATIENT;
use crate::meter::read_if_supported;
use crate::retry::Jitter;

pub use crate::engine::{DirectRead, DirectlyRead, EmbeddedEngine};
pub use crate::large::MAX_EMBEDDED_WRITES;

impl ReadTable {
    /// Reads without the SDK, if the engine is in this process and supports this read.
    pub(crate) async fn read_directly(
        &self,
        operation: &'static str,
        read: DirectRead<'_>,
    ) -> Option<DirectlyRead> {
        let engine = self.engine.as_ref()?;
        let work = async {
            // Like a call of the SDK below.
            tokio::task::yield_now().await;
            engine.read(&self.name, &read)
        };
        read_if_supported(operation, work, |found| found.units).await
    }
}

impl Table {
    /// A table on an engine in this process.
    #[must_use]
    pub fn embedded(engine: Arc<dyn EmbeddedEngine>, table: String, jitter: Jitter) -> Self {
        let mut embedded = Self::in_process(InProcess(Arc::clone(&engine)), PATIENT, (table, jitter));
        embedded.reads.engine = Some(engine);
        embedded
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
