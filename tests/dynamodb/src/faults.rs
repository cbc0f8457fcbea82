//! Fault injection between the SDK and DynamoDB: failures that no embedded engine has.

mod answer;
mod variants;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::http::{HttpConnector as _, HttpConnectorFuture, SharedHttpConnector};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use futures_util::{future, stream};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::Value;
use table::DynamoDb;

use crate::http::{self, Layer};

pub use variants::{REASONS, exceptions, is_repeated, is_throttled};

/// The SDK sends the same value with all attempts of a call.
const CALL: &str = "amz-sdk-invocation-id";

/// A fault of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The call does not arrive. The response is a throttling error.
    Throttled,
    /// The call does not arrive. The response is an internal error.
    FailedBefore,
    /// The call does not arrive. The response is this exception.
    Exception(&'static str),
    /// A transaction is cancelled for this reason at its last item. Other operations are executed.
    Cancelled(&'static str),
    /// The call does not arrive and gets no response until it times out. For tests in simulated time.
    Hung,
    /// The call is executed, but the response is an internal error, as after a timeout.
    FailedAfter,
    /// The call is executed, but its response is truncated.
    BrokenOff,
    /// The call is not executed because of a conflict: a transaction is cancelled, an update meets a
    /// transaction. Other operations get an internal error.
    Conflict,
    /// Like the previous fault, with a conflict at every item of a transaction.
    Crowded,
    /// A batch of gets does not arrive. The response contains all keys as unprocessed. Other operations are executed.
    Unprocessed,
    /// A batch of gets finds all items but one, whose key is unprocessed. Other operations are executed.
    Partial,
    /// The item at this index of the response cannot be decoded. Responses without such an item are unchanged.
    Corrupt(usize),
}

/// Chooses the fault of each attempt by its operation.
pub type FaultPlan = Arc<dyn Fn(&str) -> Option<Fault> + Send + Sync>;

/// One attempt of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallAttempt<'a> {
    /// The operation.
    pub operation: &'a str,
    /// Identifies the call; equal for all of its attempts.
    pub call: &'a str,
}

/// Like [`FaultPlan`], with the call of each attempt.
pub type CallFaultPlan = Arc<dyn Fn(&CallAttempt<'_>) -> Option<Fault> + Send + Sync>;

/// Records the responses with a [corrupt](Fault::Corrupt) item.
#[derive(Debug, Clone, Default)]
pub struct Findings(Arc<Finding>);

#[derive(Debug, Default)]
struct Finding {
    count: AtomicUsize,
    corrupt: Mutex<Option<String>>,
}

impl Findings {
    /// Number of items in the last response with a corrupt item.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }

    /// The key of the last corrupted item: partition key, space, sort key.
    #[must_use]
    pub fn corrupt(&self) -> Option<String> {
        let corrupt = self.0.corrupt.lock();
        corrupt.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the number of items and the corrupted one.
    fn note(&self, items: usize, item: Option<&Value>) {
        self.0.count.store(items, Ordering::SeqCst);
        let key = |item: &Value| {
            let part = |name| item[name]["S"].as_str().unwrap_or_default();
            format!("{} {}", part("pk"), part("sk"))
        };
        let mut corrupt = self.0.corrupt.lock().unwrap_or_else(PoisonError::into_inner);
        *corrupt = item.map(key);
    }
}

/// The same engine with injected faults.
#[must_use]
pub fn with_faults(engine: &DynamoDb, plan: FaultPlan) -> DynamoDb {
    let plan_of_calls = move |attempt: &CallAttempt<'_>| plan(attempt.operation);
    with_faults_in_calls(engine, Arc::new(plan_of_calls), Findings::default())
}

/// Like [`with_faults`], with a plan that distinguishes the calls of one operation. `found` records the last response
/// with a corrupt item.
#[must_use]
pub fn with_faults_in_calls(engine: &DynamoDb, plan: CallFaultPlan, found: Findings) -> DynamoDb {
    http::with_layer(engine, Arc::new(Injector { plan, found }))
}

struct Injector {
    plan: CallFaultPlan,
    found: Findings,
}

impl fmt::Debug for Injector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Injector")
    }
}

impl Layer for Injector {
    fn call(&self, request: HttpRequest, below: SharedHttpConnector) -> HttpConnectorFuture {
        let attempt = CallAttempt {
            operation: http::operation(&request),
            call: request.headers().get(CALL).unwrap_or_default(),
        };
        let fault = (self.plan)(&attempt).filter(|fault| fault.fits(attempt.operation));
        let Some(fault) = fault else {
            return below.call(request);
        };
        if fault == Fault::Hung {
            return HttpConnectorFuture::new(future::pending());
        }
        if !fault.is_carried_out() {
            return HttpConnectorFuture::ready(Ok(fault.answer(&request)));
        }
        let (answer, found) = (fault.answer(&request), self.found.clone());
        let executed = below.call(request);
        HttpConnectorFuture::new(async move {
            let executed = executed.await?;
            match fault {
                Fault::FailedAfter => Ok(answer),
                Fault::BrokenOff => Ok(broken_off()),
                fault => fault.changed(executed, &found).await,
            }
        })
    }
}

/// A response whose connection ends in its body.
fn broken_off() -> HttpResponse {
    let end = async { Err::<Frame<Bytes>, BoxError>("the connection is gone".into()) };
    let body = SdkBody::from_body_1_x(StreamBody::new(stream::once(end)));
    http::response(200, body)
}

impl Fault {
    /// Whether the fault applies to an operation.
    #[must_use]
    pub fn fits(self, operation: &str) -> bool {
        match self {
            Self::Unprocessed | Self::Partial => operation == "BatchGetItem",
            Self::Cancelled(_) => operation == "TransactWriteItems",
            _ => true,
        }
    }

    /// Whether the call is executed.
    #[must_use]
    pub fn is_carried_out(self) -> bool {
        matches!(
            self,
            Self::FailedAfter | Self::BrokenOff | Self::Partial | Self::Corrupt(_)
        )
    }

    /// Changes the engine's response.
    async fn changed(self, response: HttpResponse, found: &Findings) -> Result<HttpResponse, ConnectorError> {
        let status = response.status().as_u16();
        let body = response.into_body().collect().await;
        let body = body
            .map_err(|cause| ConnectorError::other(cause, None))?
            .to_bytes();
        let mut body: Value = serde_json::from_slice(&body).expect("the engine answers in JSON");
        match self {
            Self::Partial => answer::leave_last(&mut body),
            Self::Corrupt(index) => {
                let mut items = answer::items_of(&mut body);
                found.note(items.len(), items.get(index).map(|item| &**item));
                if let Some(item) = items.get_mut(index) {
                    answer::corrupt_item(item);
                }
            }
            _ => {}
        }
        Ok(http::response(status, SdkBody::from(body.to_string())))
    }
}
