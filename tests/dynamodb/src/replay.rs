//! Records and replays responses of DynamoDB, to measure the processor time of a request without engine and network.
//!
//! A replayed call gets the recorded response with status, headers and every byte, and passes through the
//! whole SDK except its HTTP client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::http::{HttpConnector as _, HttpConnectorFuture, SharedHttpConnector};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::{Headers, StatusCode};
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use table::DynamoDb;

use crate::http::{self, Layer};

/// Returns the processor time of this thread.
pub type RecordedClock = fn() -> Duration;

/// Records or replays calls, and measures time spent in the SDK.
#[derive(Debug, Clone)]
pub struct Tape(Arc<Mutex<ReplayState>>);

/// Calls of a piece of work with their responses.
#[derive(Debug, Clone, Default)]
pub struct Recording(Vec<Exchange>);

/// A call and its response.
#[derive(Debug, Clone)]
struct Exchange {
    operation: String,
    /// See [`hash_of`].
    request_hash: u64,
    status: StatusCode,
    headers: Headers,
    answer: Bytes,
}

#[derive(Debug)]
struct ReplayState {
    clock: RecordedClock,
    recording: Recording,
    /// Calls not yet replayed; `None` while recording.
    left: Option<Vec<Exchange>>,
    /// Number of calls in the SDK now, and the processor time when the first of them entered it.
    inside: u32,
    since: Duration,
    /// Total time with at least one call.
    within: Duration,
}

impl Recording {
    /// Number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.0.len()
    }

    /// Bytes of all responses.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|exchange| exchange.answer.len()).sum()
    }
}

impl Tape {
    /// A tape that records.
    #[must_use]
    pub fn new(clock: RecordedClock) -> Self {
        Self(Arc::new(Mutex::new(ReplayState {
            clock,
            recording: Recording::default(),
            left: None,
            inside: 0,
            since: Duration::ZERO,
            within: Duration::ZERO,
        })))
    }

    /// The calls recorded since the last `take`; continues recording.
    #[must_use]
    pub fn take(&self) -> Recording {
        let mut state = self.state();
        state.left = None;
        std::mem::take(&mut state.recording)
    }

    /// Replays a recording, each call once, and resets the measurement.
    pub fn play(&self, recording: &Recording) {
        let mut state = self.state();
        state.left = Some(recording.0.clone());
        state.within = Duration::ZERO;
    }

    /// Time of calls in the SDK during replay, from the built request to the parsed response. Replayed
    /// responses are immediate, so calls do not overlap.
    #[must_use]
    pub fn within_sdk(&self) -> Duration {
        self.state().within
    }

    /// Number of recorded calls that were not made.
    #[must_use]
    pub fn left(&self) -> usize {
        self.state().left.as_ref().map_or(0, Vec::len)
    }

    fn state(&self) -> MutexGuard<'_, ReplayState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The response to a call; `None` while recording.
    fn answer(&self, request: &HttpRequest) -> Option<Result<HttpResponse, ConnectorError>> {
        let mut state = self.state();
        let left = state.left.as_mut()?;
        let (operation, request_hash) = (http::operation(request), hash_of(request));
        let equal_request = left
            .iter()
            .position(|exchange| exchange.operation == operation && exchange.request_hash == request_hash);
        // Random parts of writes differ between runs; then the first remaining call of the operation is used.
        let same_operation = || left.iter().position(|exchange| exchange.operation == operation);
        let Some(index) = equal_request.or_else(same_operation) else {
            let unknown = format!("{operation} was not recorded");
            return Some(Err(ConnectorError::user(unknown.into())));
        };
        let Exchange {
            status,
            headers,
            answer,
            ..
        } = left.remove(index);
        let mut response = HttpResponse::new(status, SdkBody::from(answer));
        *response.headers_mut() = headers;
        Some(Ok(response))
    }
}

impl ReplayState {
    /// Counts a call that enters the SDK. The first one starts the measurement.
    fn enter(&mut self) {
        if self.inside == 0 {
            self.since = (self.clock)();
        }
        self.inside += 1;
    }

    /// Counts a call that leaves the SDK. The last one ends the measurement.
    fn leave(&mut self) {
        self.inside = self.inside.saturating_sub(1);
        if self.inside == 0 {
            self.within += (self.clock)().saturating_sub(self.since);
        }
    }
}

/// A hash of the request that ignores the order of its names and values, because the SDK writes attributes in any
/// order, and its limit: reads that wait for the check of credentials are unlimited, and replayed checks take no time.
fn hash_of(request: &HttpRequest) -> u64 {
    let words = http::body(request)
        .split(|byte| b"\"{}[]:,".contains(byte))
        .filter(|word| !word.is_empty());
    // Leaves out the word after `Limit`, its value.
    let mut is_limit = false;
    let words = words.filter(|word| !std::mem::replace(&mut is_limit, *word == b"Limit"));
    // FNV-1a of each word. The sum does not depend on their order.
    let hash = |word: &[u8]| {
        word.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    words.fold(0, |sum: u64, word| sum.wrapping_add(hash(word)))
}

/// The same engine with its calls recorded or replayed.
#[must_use]
pub fn on_tape(engine: &DynamoDb, tape: &Tape) -> DynamoDb {
    let stopwatch = RecordedStopwatch(tape.clone());
    http::with_layer(engine, Arc::new(tape.clone())).configured(|config| config.interceptor(stopwatch))
}

impl Layer for Tape {
    fn call(&self, request: HttpRequest, below: SharedHttpConnector) -> HttpConnectorFuture {
        if let Some(answer) = self.answer(&request) {
            return HttpConnectorFuture::ready(answer);
        }
        let (operation, request_hash) = (http::operation(&request).to_owned(), hash_of(&request));
        let (tape, response) = (self.clone(), below.call(request));
        HttpConnectorFuture::new(async move {
            let mut response = response.await?;
            let body = response.take_body().collect().await;
            let answer = body
                .map_err(|cause| ConnectorError::other(cause, None))?
                .to_bytes();
            *response.body_mut() = SdkBody::from(answer.clone());
            tape.state().recording.0.push(Exchange {
                operation,
                request_hash,
                status: response.status(),
                headers: response.headers().clone(),
                answer,
            });
            Ok(response)
        })
    }
}

/// Measures the time of calls in the SDK.
#[derive(Debug)]
struct RecordedStopwatch(Tape);

impl Intercept for RecordedStopwatch {
    fn name(&self) -> &'static str {
        "stopwatch"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.state().enter();
        Ok(())
    }

    fn read_after_execution(
        &self,
        _: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.state().leave();
        Ok(())
    }
}
