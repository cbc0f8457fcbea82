//! Fault injection between table and engine, for tests: failures of DynamoDB that no embedded engine has.
//!
//! Requires the feature `testing`, which no function enables.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::interceptors::{
    BeforeDeserializationInterceptorContextMut, BeforeTransmitInterceptorContextMut,
};
use aws_sdk_dynamodb::config::retry::{RetryPartition, TokenBucket};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::{Value, json};

use crate::client::Table;

const TARGET: &str = "x-amz-target";
/// The SDK sends the same value with all attempts of a call.
const CALL: &str = "amz-sdk-invocation-id";
const BATCH: &str = "BatchGetItem";
/// Error code of a response that never arrives.
const NO_ANSWER: &str = "NoAnswerInTime";
/// Replaces undecodable values: `corrupt!` in base64, as DynamoDB writes bytes.
const SPOILT: &str = "Y29ycnVwdCE=";

/// A fault of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does not arrive. The response is a throttling error.
    Throttled,
    /// The call does not arrive. The response is an internal error.
    FailedBefore,
    /// The call does not arrive and gets no response. It fails at once with the error of a timeout, so tests
    /// do not wait.
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

/// Records the responses that were changed.
#[derive(Debug, Clone, Default)]
pub struct Findings(Arc<Finding>);

#[derive(Debug, Default)]
struct Finding {
    count: AtomicUsize,
    corrupt: Mutex<Option<String>>,
}

impl Findings {
    /// Number of items in the last response with a [corrupt](Fault::Corrupt) item, or number of
    /// [hung](Fault::Hung) calls that ended.
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

    /// Counts a hung call that ended.
    fn note_hung(&self) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
    }

    /// Records the number of items and the corrupted one.
    fn note_corrupt(&self, items: usize, item: Option<&Value>) {
        self.0.count.store(items, Ordering::SeqCst);
        let key = |item: &Value| {
            let part = |name| item[name]["S"].as_str().unwrap_or_default();
            format!("{} {}", part("pk"), part("sk"))
        };
        let mut corrupt = self.0.corrupt.lock().unwrap_or_else(PoisonError::into_inner);
        *corrupt = item.map(key);
    }
}

impl Table {
    /// The same table with injected faults.
    #[must_use]
    pub fn with_faults(self, plan: FaultPlan) -> Self {
        let plan_of_calls = move |attempt: &CallAttempt<'_>| plan(attempt.operation);
        self.with_faults_in_calls(Arc::new(plan_of_calls), Findings::default())
    }

    /// Like [`Self::with_faults`], with a plan that distinguishes the calls of one operation. `found` records the last
    /// response with a corrupt item, and counts the hung calls.
    #[must_use]
    pub fn with_faults_in_calls(mut self, plan: CallFaultPlan, found: Findings) -> Self {
        // A retry quota of its own, without a limit: failures of other tests in the process would use up the shared
        // one.
        let retries = RetryPartition::custom("faults").token_bucket(TokenBucket::unlimited());
        let config = self
            .reads
            .client
            .config()
            .to_builder()
            .retry_partition(retries.build())
            .interceptor(Injector { plan, found })
            .build();
        // Writes use this client too.
        self.set_client(Client::from_conf(config));
        self
    }
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

/// The decision for the current attempt.
#[derive(Debug, Clone)]
enum AttemptResult {
    /// The engine's response.
    Nothing,
    /// This status and body instead of the engine's response.
    Instead(u16, String),
    /// The engine's response, changed.
    Changed(Fault),
}

impl Storable for AttemptResult {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Injector {
    fn name(&self) -> &'static str {
        "faults"
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        state: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        let header = |name| request.headers().get(name).unwrap_or_default();
        let operation = header(TARGET).rsplit('.').next().unwrap_or_default().to_owned();
        let attempt = CallAttempt {
            operation: &operation,
            call: header(CALL),
        };
        let fault = (self.plan)(&attempt).filter(|fault| fault.fits(&operation));
        let request_body = request.body().bytes().unwrap_or_default();
        let result = fault.map_or(AttemptResult::Nothing, |fault| {
            fault.result(&operation, request_body)
        });
        // The engine refuses an unknown operation, so the call is not executed.
        if fault.is_some_and(|fault| !fault.is_carried_out()) {
            request.headers_mut().insert(TARGET, "DynamoDB_20120810.Nothing");
        }
        state.interceptor_state().store_put(result);
        Ok(())
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        state: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        let body = match state.load::<AttemptResult>().cloned() {
            None | Some(AttemptResult::Nothing) => return Ok(()),
            Some(AttemptResult::Instead(status, body)) => {
                if body.contains(NO_ANSWER) {
                    self.found.note_hung();
                }
                *response.status_mut() = StatusCode::try_from(status)?;
                SdkBody::from(body)
            }
            Some(AttemptResult::Changed(fault)) => {
                let found = self.found.clone();
                changed_body(response.take_body(), move |answer| fault.change(answer, &found))
            }
        };
        // The engine's checksum, and its name of an error, which precedes the body's.
        response.headers_mut().remove("x-amz-crc32");
        response.headers_mut().remove("x-amzn-errortype");
        *response.body_mut() = body;
        Ok(())
    }
}

/// A JSON body changed on arrival, after the interceptors.
fn changed_body<F>(body: SdkBody, change: F) -> SdkBody
where
    F: FnOnce(&mut Value) -> Result<(), BoxError> + Send + Sync + 'static,
{
    let arrived = async move {
        let bytes = body.collect().await?.to_bytes();
        let mut answer = serde_json::from_slice(&bytes)?;
        change(&mut answer)?;
        Ok::<_, BoxError>(Frame::data(Bytes::from(answer.to_string())))
    };
    SdkBody::from_body_1_x(StreamBody::new(stream::once(arrived)))
}

/// The items of a response.
fn items_of(answer: &mut Value) -> Vec<&mut Value> {
    let Some(answer) = answer.as_object_mut() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, value) in answer {
        match (name.as_str(), value) {
            ("Item" | "Attributes", item) => found.push(item),
            ("Items", Value::Array(items)) => found.extend(items),
            ("Responses", Value::Object(tables)) => {
                let items = tables.values_mut().filter_map(Value::as_array_mut);
                found.extend(items.flatten());
            }
            _ => {}
        }
    }
    found
}

/// Makes an item undecodable: keeps its key and replaces other attributes by bytes. If it has only a key, its
/// sort key becomes invalid.
fn corrupt_item(item: &mut Value) {
    let Some(item) = item.as_object_mut() else {
        return;
    };
    let mut is_changed = false;
    for (name, value) in item.iter_mut() {
        if name != "pk" && name != "sk" {
            *value = json!({ "B": SPOILT });
            is_changed = true;
        }
    }
    if !is_changed {
        item.insert("sk".to_owned(), json!({ "S": SPOILT }));
    }
}

/// Removes the last item of a batch's response and lists its key as unprocessed.
fn move_last_to_unprocessed(answer: &mut Value) {
    let tables = answer["Responses"].as_object_mut().into_iter().flatten();
    let left = tables.filter_map(|(table, items)| Some((table.clone(), items.as_array_mut()?.pop()?)));
    let left: Vec<_> = left.collect();
    for (table, item) in left {
        let key = json!({ "pk": item["pk"], "sk": item["sk"] });
        answer["UnprocessedKeys"][table] = json!({ "Keys": [key], "ConsistentRead": true });
    }
}

impl Fault {
    /// Whether the fault applies to an operation.
    #[must_use]
    pub fn fits(self, operation: &str) -> bool {
        !matches!(self, Self::Unprocessed | Self::Partial) || operation == BATCH
    }

    /// Whether the call is executed.
    #[must_use]
    pub fn is_carried_out(self) -> bool {
        matches!(
            self,
            Self::FailedAfter | Self::BrokenOff | Self::Partial | Self::Corrupt(_)
        )
    }

    /// The result of an attempt with this fault.
    fn result(self, operation: &str, request: &[u8]) -> AttemptResult {
        match self {
            Self::BrokenOff | Self::Partial | Self::Corrupt(_) => AttemptResult::Changed(self),
            _ => {
                let (status, body) = self.answer(operation, request);
                AttemptResult::Instead(status, body)
            }
        }
    }

    /// Changes the engine's response. Fails if the fault truncates the response.
    fn change(self, answer: &mut Value, found: &Findings) -> Result<(), BoxError> {
        match self {
            Self::BrokenOff => return Err("the connection is gone".into()),
            Self::Partial => move_last_to_unprocessed(answer),
            Self::Corrupt(index) => {
                let mut items = items_of(answer);
                found.note_corrupt(items.len(), items.get(index).map(|item| &**item));
                if let Some(item) = items.get_mut(index) {
                    corrupt_item(item);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Status and body of the response to an operation with this request body.
    fn answer(self, operation: &str, request: &[u8]) -> (u16, String) {
        let error = |status: u16, name: &str| {
            let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{name}") });
            (status, error)
        };
        let (status, body) = match (self, operation) {
            (Self::Throttled, _) => error(400, "ThrottlingException"),
            // A status that the SDK does not retry, as after the timeout of the whole call.
            (Self::Hung, _) => error(400, NO_ANSWER),
            (Self::Conflict, "TransactWriteItems") => {
                let (status, mut body) = error(400, "TransactionCanceledException");
                body["CancellationReasons"] = json!([{ "Code": "TransactionConflict" }]);
                (status, body)
            }
            (Self::Crowded, "TransactWriteItems") => {
                let (status, mut body) = error(400, "TransactionCanceledException");
                let request: Value = serde_json::from_slice(request).unwrap_or_default();
                let items = request["TransactItems"].as_array().map_or(0, Vec::len);
                body["CancellationReasons"] = vec![json!({ "Code": "TransactionConflict" }); items].into();
                (status, body)
            }
            (Self::Conflict | Self::Crowded, "UpdateItem") => error(400, "TransactionConflictException"),
            (Self::Unprocessed, _) => {
                let request: Value = serde_json::from_slice(request).unwrap_or_default();
                let body = json!({ "Responses": {}, "UnprocessedKeys": request["RequestItems"] });
                (200, body)
            }
            _ => error(500, "InternalServerError"),
        };
        (status, body.to_string())
    }
}
