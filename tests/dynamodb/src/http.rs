//! HTTP clients of the SDK without network, and layers above any.

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::retry::RetryPartition;
use aws_sdk_dynamodb::config::{HttpClient, RuntimeComponents, SharedHttpClient};
use aws_smithy_runtime_api::client::connection::{CaptureSmithyConnection, ConnectionMetadata};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use futures_util::future::BoxFuture;
use table::{DynamoDb, Jitter};

/// An implementation of DynamoDB's JSON protocol. It may wait on tokio's clock.
pub trait Api: fmt::Debug + Send + Sync + 'static {
    /// Executes one call, such as `GetItem`, and returns status and body.
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, (u16, String)>;
}

/// The engine by the SDK on an API of this process. The SDK's own retries are unlimited in number over all calls.
#[must_use]
pub fn engine(api: Arc<dyn Api>, table: String, jitter: Jitter) -> DynamoDb {
    DynamoDb::over(InProcess(api), table, jitter)
}

/// The same in a process of its own, with the SDK's quota of retries.
#[must_use]
pub fn process(api: Arc<dyn Api>, table: String, jitter: Jitter) -> DynamoDb {
    let quota = RetryPartition::custom("process").build();
    engine(api, table, jitter).configured(|config| config.retry_partition(quota))
}

/// An HTTP client of the SDK that calls an API of this process.
#[derive(Debug, Clone)]
struct InProcess(Arc<dyn Api>);

impl HttpClient for InProcess {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        note_connection(&request);
        let answer = Arc::clone(&self.0).answer(operation(&request).to_owned(), body(&request).to_vec());
        HttpConnectorFuture::new(async move {
            // As over a network, calls that are made together are under way together.
            tokio::task::yield_now().await;
            let (status, body) = answer.await;
            Ok(response(status, SdkBody::from(body)))
        })
    }
}

/// Something between the SDK and its HTTP client.
pub trait Layer: fmt::Debug + Send + Sync + 'static {
    /// Answers a call, itself or by `below`.
    fn call(&self, request: HttpRequest, below: SharedHttpConnector) -> HttpConnectorFuture;
}

/// The same engine with a layer above its HTTP client.
pub fn with_layer(engine: &DynamoDb, layer: Arc<dyn Layer>) -> DynamoDb {
    engine.configured(|config| {
        let below = config.clone().build().http_client();
        let below = below.expect("the engine has an HTTP client");
        config.http_client(Layered { layer, below })
    })
}

#[derive(Debug)]
struct Layered {
    layer: Arc<dyn Layer>,
    below: SharedHttpClient,
}

#[derive(Debug)]
struct LayeredConnector {
    layer: Arc<dyn Layer>,
    below: SharedHttpConnector,
}

impl HttpClient for Layered {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(LayeredConnector {
            layer: Arc::clone(&self.layer),
            below: self.below.http_connector(settings, components),
        })
    }
}

impl HttpConnector for LayeredConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        note_connection(&request);
        self.layer.call(request, self.below.clone())
    }
}

/// Lets the SDK close a connection after an error. Without one it logs an error of its own.
fn note_connection(request: &HttpRequest) {
    let connection = || {
        ConnectionMetadata::builder()
            .proxied(false)
            .poison_fn(|| {})
            .build()
    };
    if let Some(capture) = request.extension::<CaptureSmithyConnection>() {
        capture.set_connection_retriever(move || Some(connection()));
    }
}

/// The operation of a call, such as `GetItem`.
pub fn operation(request: &HttpRequest) -> &str {
    let target = request.headers().get("x-amz-target").unwrap_or_default();
    target.rsplit('.').next().unwrap_or_default()
}

/// The body of a call, which the SDK holds in memory.
pub fn body(request: &HttpRequest) -> &[u8] {
    request.body().bytes().unwrap_or_default()
}

/// A response without headers.
pub fn response(status: u16, body: SdkBody) -> HttpResponse {
    HttpResponse::new(StatusCode::try_from(status).expect("a status"), body)
}
