//! An engine in this process instead of DynamoDB. The SDK calls it without a connection; reads and transactions also
//! bypass the SDK's requests, signatures and JSON, which took about half of the processor time of a small read.
//!
//! A read that the engine cannot execute so, or that fails, is repeated through the SDK, and so is a transaction that
//! wrote nothing. Writes of single items, and all calls of tests that inject faults, always pass through the SDK.
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
use crate::direct_engine::{DirectEngine, EngineThread};
use crate::error::StoreError;
use crate::meter::{TableCall, direct_call};
use crate::retry::Jitter;

pub use crate::engine::{
    DirectRead, DirectlyRead, DirectlyWritten, EmbeddedEngine, WriteAction, WriteRequest,
};
pub use crate::large::MAX_EMBEDDED_WRITES;

impl ReadTable {
    /// Reads without the SDK, if the engine is in this process and supports this read.
    pub(crate) async fn read_directly(
        &self,
        operation: &'static str,
        read: DirectRead,
    ) -> Option<DirectlyRead> {
        let engine = self.engine.as_ref()?;
        // Boxed, so that the futures of handlers stay small.
        let work = Box::pin(engine.read(&self.name, read));
        direct_call(work, |found| TableCall {
            operation,
            read_units: found.units,
            write_units: 0.0,
        })
        .await
    }
}

impl Table {
    /// Executes a transaction without the SDK, if the engine is in this process. Returns whether it was written.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the outcome is unknown.
    pub(crate) async fn write_directly(
        &self,
        operation: &'static str,
        writes: impl FnOnce() -> Vec<WriteRequest>,
    ) -> Result<bool, StoreError> {
        let Some(engine) = &self.reads.engine else {
            return Ok(false);
        };
        let (table, writes) = (self.reads.name.clone(), writes());
        let mut failure = None;
        // Boxed as above.
        let work = Box::pin(async {
            match engine.call(move |engine| engine.write(&table, writes)).await {
                Some(DirectlyWritten::All { units }) => return Some(units),
                Some(DirectlyWritten::Nothing) => {}
                Some(DirectlyWritten::Unknown(cause)) => failure = Some(cause),
                None => failure = Some("the engine panicked".to_owned()),
            }
            None
        });
        let call = |units: &f64| TableCall {
            operation,
            read_units: 0.0,
            write_units: *units,
        };
        let is_written = direct_call(work, call).await.is_some();
        match failure {
            Some(cause) => Err(StoreError::Unavailable { operation, cause }),
            None => Ok(is_written),
        }
    }

    /// A table on an engine in this process.
    #[must_use]
    pub fn embedded(engine: Arc<dyn EmbeddedEngine>, table: String, jitter: Jitter) -> Self {
        Self::on(DirectEngine { engine, thread: None }, table, jitter)
    }

    /// A table on an engine in this process that writes on another thread, so that one task can prepare further calls
    /// meanwhile.
    #[must_use]
    pub fn embedded_on_thread(engine: Arc<dyn EmbeddedEngine>, table: String, jitter: Jitter) -> Self {
        // Without a thread, calls run on those of their tasks.
        let thread = EngineThread::start(Arc::clone(&engine)).ok().map(Arc::new);
        Self::on(DirectEngine { engine, thread }, table, jitter)
    }

    /// Whether the engine is in this process.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.reads.engine.is_some()
    }

    fn on(engine: DirectEngine, table: String, jitter: Jitter) -> Self {
        let mut embedded = Self::in_process(InProcess(engine.clone()), PATIENT, (table, jitter));
        embedded.reads.engine = Some(engine);
        embedded
    }
}

/// An HTTP client of the SDK without network.
#[derive(Debug, Clone)]
struct InProcess(DirectEngine);

impl HttpClient for InProcess {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let engine = self.0.clone();
        HttpConnectorFuture::new(async move {
            let call = move |engine: &dyn EmbeddedEngine| {
                let target = request.headers().get("x-amz-target").unwrap_or_default();
                let operation = target.rsplit('.').next().unwrap_or_default();
                engine.answer(operation, request.body().bytes().unwrap_or_default())
            };
            let (status, body) = engine
                .call(call)
                .await
                .ok_or_else(|| failed("the engine panicked"))?;
            let status = StatusCode::try_from(status).map_err(failed)?;
            Ok(HttpResponse::new(status, SdkBody::from(body)))
        })
    }
}

fn failed(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ConnectorError {
    ConnectorError::other(cause.into(), None)
}
