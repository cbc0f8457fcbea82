//! Faults between the store and the engine, for tests: what DynamoDB does in bad moments and no embedded engine does.
//!
//! Only with the feature `faults`, which no function enables.

use std::fmt;
use std::sync::Arc;

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
use serde_json::{Value, json};

use super::Store;
use super::error::StoreError;
use super::guess::Guesses;
use super::key::Keys;
use super::rate::Leases;
use crate::instance::InstanceName;

const TARGET: &str = "x-amz-target";
const BATCH: &str = "BatchGetItem";

/// What happens to one attempt of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does not arrive; DynamoDB answers that there is too much load.
    Throttled,
    /// The call does not arrive; the answer is an internal error.
    FailedBefore,
    /// The call is carried out, but the answer is an internal error: a time-out after the commit.
    FailedAfter,
    /// The call is not carried out, for a conflict with another writer: a transaction is cancelled, an update meets a
    /// transaction. What else is called meets no transactions: to that it is an internal error.
    Conflict,
    /// A batch of gets does not arrive; the answer is that none of its keys was processed. What else is called is carried
    /// out.
    Unprocessed,
}

/// Says of each attempt, by its operation, what happens to it.
pub type Plan = Arc<dyn Fn(&str) -> Option<Fault> + Send + Sync>;

impl Store {
    /// Every item of an instance as it is stored, as text: for those who ask what is left of somebody.
    ///
    /// # Errors
    /// [`StoreError`] where the table cannot be read.
    pub async fn dump(&self, instance: &InstanceName) -> Result<Vec<String>, StoreError> {
        let (mut items, mut after) = (Vec::new(), None);
        loop {
            let page = self.table.scan(&Keys(instance).prefix(), after.as_ref()).await?;
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
            table: self.table.clone(),
            guesses: Guesses::default(),
            leases: Leases::default(),
        }
    }

    /// The same store with faults in its calls. The SDK makes all its attempts, however many fail: otherwise it would give
    /// up sooner the more other tests of the process fail.
    #[must_use]
    pub fn with_faults(mut self, plan: Plan) -> Self {
        let retries = RetryPartition::custom("faults").token_bucket(TokenBucket::unlimited());
        let config = self
            .table
            .client
            .config()
            .to_builder()
            .retry_partition(retries.build())
            .interceptor(Injector(plan))
            .build();
        self.table.client = Client::from_conf(config);
        self
    }
}

struct Injector(Plan);

impl fmt::Debug for Injector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Injector")
    }
}

/// What was decided for the attempt that is under way: how it is answered, if not by the engine.
#[derive(Debug, Clone)]
struct Decided(Option<(u16, String)>);

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
        let target = request
            .headers()
            .get(TARGET)
            .and_then(|target| target.rsplit('.').next());
        let operation = target.unwrap_or_default().to_owned();
        let fault = (self.0)(&operation);
        let fault = fault.filter(|fault| *fault != Fault::Unprocessed || operation == BATCH);
        let answer = fault.map(|fault| fault.answer(&operation, request.body().bytes().unwrap_or_default()));
        if fault.is_some_and(|fault| fault != Fault::FailedAfter) {
            request.headers_mut().insert(TARGET, "DynamoDB_20120810.Nothing");
        }
        state.interceptor_state().store_put(Decided(answer));
        Ok(())
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        state: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(Decided(Some((status, error)))) = state.load::<Decided>().cloned() else {
            return Ok(());
        };
        let response = context.response_mut();
        response.headers_mut().remove("x-amz-crc32");
        *response.status_mut() = StatusCode::try_from(status)?;
        *response.body_mut() = SdkBody::from(error);
        Ok(())
    }
}

impl Fault {
    /// Status and body of the answer to an operation that was asked for with a body.
    fn answer(self, operation: &str, asked: &[u8]) -> (u16, String) {
        let error = |status: u16, name: &str| {
            let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{name}") });
            (status, error)
        };
        let (status, body) = match (self, operation) {
            (Self::Throttled, _) => error(400, "ThrottlingException"),
            (Self::Conflict, "TransactWriteItems") => {
                let (status, mut body) = error(400, "TransactionCanceledException");
                body["CancellationReasons"] = json!([{ "Code": "TransactionConflict" }]);
                (status, body)
            }
            (Self::Conflict, "UpdateItem") => error(400, "TransactionConflictException"),
            (Self::FailedBefore | Self::FailedAfter | Self::Conflict, _) => error(500, "InternalServerError"),
            (Self::Unprocessed, _) => {
                let asked: Value = serde_json::from_slice(asked).unwrap_or_default();
                let body = json!({ "Responses": {}, "UnprocessedKeys": asked["RequestItems"] });
                (200, body)
            }
        };
        (status, body.to_string())
    }
}
