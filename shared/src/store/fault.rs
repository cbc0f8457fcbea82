//! Faults between the store and the engine, for tests: what DynamoDB does in bad moments and no embedded engine does.
//!
//! Only with the feature `faults`, which no function enables.

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
use axum::body::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::{Value, json};

use super::Store;
use super::error::StoreError;
use super::format::KnownFormat;
use super::guess::Guesses;
use super::rate::Leases;
use super::table::Table;
use crate::instance::InstanceName;

const TARGET: &str = "x-amz-target";
/// The header that the SDK sends with all attempts of a call.
const CALL: &str = "amz-sdk-invocation-id";
const BATCH: &str = "BatchGetItem";
/// The error in place of an answer that never comes.
const NO_ANSWER: &str = "NoAnswerInTime";
/// Stands in the place of what cannot be decoded: `corrupt!`, as DynamoDB writes bytes.
const SPOILT: &str = "Y29ycnVwdCE=";

/// What happens to one attempt of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does not arrive; DynamoDB answers that there is too much load.
    Throttled,
    /// The call does not arrive; the answer is an internal error.
    FailedBefore,
    /// The call does not arrive and is never answered; it ends when its time is up, which a test does not wait for.
    Hung,
    /// The call is carried out, but the answer is an internal error: a time-out after the commit.
    FailedAfter,
    /// The call is carried out, but of the answer only the beginning arrives.
    BrokenOff,
    /// The call is not carried out, for a conflict with another writer: a transaction is cancelled, an update meets a
    /// transaction. What else is called meets no transactions: to that it is an internal error.
    Conflict,
    /// A batch of gets does not arrive; the answer is that none of its keys was processed. What else is called is carried
    /// out.
    Unprocessed,
    /// A batch of gets finds all of its items but one, whose key was not processed. What else is called is carried out.
    Partial,
    /// The item at this place of the answer, counted from 0, cannot be decoded. What is answered without it stays as it is.
    Corrupt(usize),
}

/// Says of each attempt, by its operation, what happens to it.
pub type Plan = Arc<dyn Fn(&str) -> Option<Fault> + Send + Sync>;

/// One attempt of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// The operation.
    pub operation: &'a str,
    /// The same for all attempts that the SDK makes of a call, and different for every call.
    pub call: &'a str,
}

/// The same as a [`Plan`], for whoever has to tell calls of one operation apart.
pub type PlanOfCalls = Arc<dyn Fn(&Attempt<'_>) -> Option<Fault> + Send + Sync>;

/// What the answers were in which something was to be wrong, for whoever asks afterwards.
#[derive(Debug, Clone, Default)]
pub struct Found(Arc<Finding>);

#[derive(Debug, Default)]
struct Finding {
    count: AtomicUsize,
    corrupt: Mutex<Option<String>>,
}

impl Found {
    /// How many items the last answer had of which one was to be [corrupt](Fault::Corrupt), or how many calls that
    /// [hung](Fault::Hung) are over.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }

    /// The item that was last made corrupt: its partition key and, behind a space, its sort key.
    #[must_use]
    pub fn corrupt(&self) -> Option<String> {
        let corrupt = self.0.corrupt.lock();
        corrupt.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One more call that hung is over.
    fn hung(&self) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
    }

    /// There were so many items, of which this one is made corrupt.
    fn spoils(&self, items: usize, item: Option<&Value>) {
        self.0.count.store(items, Ordering::SeqCst);
        let key = |item: &Value| {
            let part = |name| item[name]["S"].as_str().unwrap_or_default();
            format!("{} {}", part("pk"), part("sk"))
        };
        let mut corrupt = self.0.corrupt.lock().unwrap_or_else(PoisonError::into_inner);
        *corrupt = item.map(key);
    }
}

impl Store {
    /// Every item of an instance as it is stored, as text: for those who ask what is left of somebody.
    ///
    /// # Errors
    /// [`StoreError`] where the table cannot be read.
    pub async fn dump(&self, instance: &InstanceName) -> Result<Vec<String>, StoreError> {
        let (mut items, mut after) = (Vec::new(), None);
        loop {
            let page = self.table.scan(instance, after.as_ref()).await?;
            items.extend(page.items.iter().map(|item| format!("{item:?}")));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// The same table as another process has it, which remembers nothing.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self {
            table: Table {
                format: KnownFormat::default(),
                ..self.table.clone()
            },
            guesses: Guesses::default(),
            leases: Leases::default(),
        }
    }

    /// The same store with faults in its calls. The SDK makes all its attempts, however many fail: otherwise it would give
    /// up sooner the more other tests of the process fail.
    #[must_use]
    pub fn with_faults(self, plan: Plan) -> Self {
        let plan_of_calls = move |attempt: &Attempt<'_>| plan(attempt.operation);
        self.with_faults_in_calls(Arc::new(plan_of_calls), Found::default())
    }

    /// The same, and `found` is told how many items there are to be corrupt.
    #[must_use]
    pub fn with_faults_in_calls(mut self, plan: PlanOfCalls, found: Found) -> Self {
        let retries = RetryPartition::custom("faults").token_bucket(TokenBucket::unlimited());
        let config = self
            .table
            .client
            .config()
            .to_builder()
            .retry_partition(retries.build())
            .interceptor(Injector { plan, found })
            .build();
        self.table.client = Client::from_conf(config);
        self
    }
}

struct Injector {
    plan: PlanOfCalls,
    found: Found,
}

impl fmt::Debug for Injector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Injector")
    }
}

/// What was decided for the attempt that is under way.
#[derive(Debug, Clone)]
enum Decided {
    /// The engine's answer stands.
    Nothing,
    /// Another status and body stand in the place of the engine's.
    Instead(u16, String),
    /// The engine's answer is changed.
    Changed(Fault),
}

impl Storable for Decided {
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
        let attempt = Attempt {
            operation: &operation,
            call: header(CALL),
        };
        let fault = (self.plan)(&attempt).filter(|fault| fault.fits(&operation));
        let asked = request.body().bytes().unwrap_or_default();
        let decided = fault.map_or(Decided::Nothing, |fault| fault.decide(&operation, asked));
        if fault.is_some_and(|fault| !fault.is_carried_out()) {
            request.headers_mut().insert(TARGET, "DynamoDB_20120810.Nothing");
        }
        state.interceptor_state().store_put(decided);
        Ok(())
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        state: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        let body = match state.load::<Decided>().cloned() {
            None | Some(Decided::Nothing) => return Ok(()),
            Some(Decided::Instead(status, body)) => {
                if body.contains(NO_ANSWER) {
                    self.found.hung();
                }
                *response.status_mut() = StatusCode::try_from(status)?;
                SdkBody::from(body)
            }
            Some(Decided::Changed(fault)) => {
                let found = self.found.clone();
                changed(response.take_body(), move |answer| fault.change(answer, &found))
            }
        };
        response.headers_mut().remove("x-amz-crc32");
        *response.body_mut() = body;
        Ok(())
    }
}

/// A body of JSON that is changed once it has arrived, which is after the interceptors.
fn changed<F>(body: SdkBody, change: F) -> SdkBody
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

/// The items of an answer.
fn items(answer: &mut Value) -> Vec<&mut Value> {
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

/// Makes an item one that cannot be decoded: it keeps its key and has bytes for everything else. Where it is nothing but
/// its key, that names nothing any more.
fn spoil(item: &mut Value) {
    let Some(item) = item.as_object_mut() else {
        return;
    };
    let mut spoilt = false;
    for (name, value) in item.iter_mut() {
        if name != "pk" && name != "sk" {
            *value = json!({ "B": SPOILT });
            spoilt = true;
        }
    }
    if !spoilt {
        item.insert("sk".to_owned(), json!({ "S": SPOILT }));
    }
}

/// Takes the last item out of a batch's answer and says that its key was not processed.
fn leave_one(answer: &mut Value) {
    let tables = answer["Responses"].as_object_mut().into_iter().flatten();
    let left = tables.filter_map(|(table, items)| Some((table.clone(), items.as_array_mut()?.pop()?)));
    let left: Vec<_> = left.collect();
    for (table, item) in left {
        let key = json!({ "pk": item["pk"], "sk": item["sk"] });
        answer["UnprocessedKeys"][table] = json!({ "Keys": [key], "ConsistentRead": true });
    }
}

impl Fault {
    /// Whether it can befall an operation.
    #[must_use]
    pub fn fits(self, operation: &str) -> bool {
        !matches!(self, Self::Unprocessed | Self::Partial) || operation == BATCH
    }

    /// Whether the call is carried out.
    #[must_use]
    pub fn is_carried_out(self) -> bool {
        matches!(
            self,
            Self::FailedAfter | Self::BrokenOff | Self::Partial | Self::Corrupt(_)
        )
    }

    fn decide(self, operation: &str, asked: &[u8]) -> Decided {
        match self {
            Self::BrokenOff | Self::Partial | Self::Corrupt(_) => Decided::Changed(self),
            _ => {
                let (status, body) = self.answer(operation, asked);
                Decided::Instead(status, body)
            }
        }
    }

    /// Changes the engine's answer, or fails where it breaks off.
    fn change(self, answer: &mut Value, found: &Found) -> Result<(), BoxError> {
        match self {
            Self::BrokenOff => return Err("the connection is gone".into()),
            Self::Partial => leave_one(answer),
            Self::Corrupt(place) => {
                let mut items = items(answer);
                found.spoils(items.len(), items.get(place).map(|item| &**item));
                if let Some(item) = items.get_mut(place) {
                    spoil(item);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Status and body of the answer to an operation that was asked for with a body.
    fn answer(self, operation: &str, asked: &[u8]) -> (u16, String) {
        let error = |status: u16, name: &str| {
            let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{name}") });
            (status, error)
        };
        let (status, body) = match (self, operation) {
            (Self::Throttled, _) => error(400, "ThrottlingException"),
            // The SDK makes no other attempt, as where the time of all of them is up.
            (Self::Hung, _) => error(400, NO_ANSWER),
            (Self::Conflict, "TransactWriteItems") => {
                let (status, mut body) = error(400, "TransactionCanceledException");
                body["CancellationReasons"] = json!([{ "Code": "TransactionConflict" }]);
                (status, body)
            }
            (Self::Conflict, "UpdateItem") => error(400, "TransactionConflictException"),
            (Self::Unprocessed, _) => {
                let asked: Value = serde_json::from_slice(asked).unwrap_or_default();
                let body = json!({ "Responses": {}, "UnprocessedKeys": asked["RequestItems"] });
                (200, body)
            }
            _ => error(500, "InternalServerError"),
        };
        (status, body.to_string())
    }
}
