//! Answers of the engine, kept and given again: so what a request takes of the processor is measured without engine and
//! network.
//!
//! Only with the feature `faults`, which no function enables.
//!
//! What must stay true: a call that is played has the answer that it was recorded with, status, headers and every byte,
//! and passes through all of the SDK but its HTTP client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, HttpClient, Intercept, RuntimeComponents, SharedHttpClient};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::{Headers, StatusCode};
use aws_smithy_types::body::SdkBody;
use axum::body::Bytes;
use http_body_util::BodyExt as _;

use super::Store;

/// Tells how much of the processor's time this thread has taken.
pub type Clock = fn() -> Duration;

/// Records the calls of stores, or plays them; and measures how long the SDK takes.
#[derive(Debug, Clone)]
pub struct Tape(Arc<Mutex<State>>);

/// The calls of a piece of work, with their answers.
#[derive(Debug, Clone, Default)]
pub struct Recording(Vec<Exchange>);

/// A call and its answer.
#[derive(Debug, Clone)]
struct Exchange {
    operation: String,
    /// What was asked; see [`mark`].
    asked: u64,
    status: StatusCode,
    headers: Headers,
    answer: Bytes,
}

#[derive(Debug)]
struct State {
    clock: Clock,
    recording: Recording,
    /// What was not yet played; `None` while it records.
    left: Option<Vec<Exchange>>,
    /// How many calls are in the SDK, and since when.
    inside: u32,
    since: Duration,
    /// How long there was one.
    within: Duration,
}

impl Recording {
    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.0.len()
    }

    /// The bytes of all answers.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|exchange| exchange.answer.len()).sum()
    }
}

impl Tape {
    /// A tape that records.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self(Arc::new(Mutex::new(State {
            clock,
            recording: Recording::default(),
            left: None,
            inside: 0,
            since: Duration::ZERO,
            within: Duration::ZERO,
        })))
    }

    /// What was recorded since this was asked last. From now on it records again.
    #[must_use]
    pub fn take(&self) -> Recording {
        let mut state = self.state();
        state.left = None;
        std::mem::take(&mut state.recording)
    }

    /// Answers calls from a recording, each once, and begins to measure anew.
    pub fn play(&self, recording: &Recording) {
        let mut state = self.state();
        state.left = Some(recording.0.clone());
        state.within = Duration::ZERO;
    }

    /// How long calls were in the SDK since it began to play, from the built request to the parsed answer. With answers
    /// that need not be waited for, no call goes on while another is in it.
    #[must_use]
    pub fn within_sdk(&self) -> Duration {
        self.state().within
    }

    /// How many calls of the recording were not made.
    #[must_use]
    pub fn left(&self) -> usize {
        self.state().left.as_ref().map_or(0, Vec::len)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a call; `None` while it records.
    fn answer(&self, request: &HttpRequest) -> Option<Result<HttpResponse, ConnectorError>> {
        let mut state = self.state();
        let left = state.left.as_mut()?;
        let (operation, asked) = (operation(request), mark(request));
        // What a write holds of chance is other than it was; of such calls the first that is left is meant.
        let same = left
            .iter()
            .position(|exchange| exchange.operation == operation && exchange.asked == asked);
        let alike = || left.iter().position(|exchange| exchange.operation == operation);
        let Some(place) = same.or_else(alike) else {
            let unknown = format!("{operation} was not recorded");
            return Some(Err(ConnectorError::user(unknown.into())));
        };
        let Exchange {
            status,
            headers,
            answer,
            ..
        } = left.remove(place);
        let mut response = HttpResponse::new(status, SdkBody::from(answer));
        *response.headers_mut() = headers;
        Some(Ok(response))
    }
}

impl State {
    fn enter(&mut self) {
        if self.inside == 0 {
            self.since = (self.clock)();
        }
        self.inside += 1;
    }

    fn leave(&mut self) {
        self.inside = self.inside.saturating_sub(1);
        if self.inside == 0 {
            self.within += (self.clock)().saturating_sub(self.since);
        }
    }
}

fn operation(request: &HttpRequest) -> &str {
    let target = request.headers().get("x-amz-target").unwrap_or_default();
    target.rsplit('.').next().unwrap_or_default()
}

/// Tells bodies apart but for the order of their bytes: the SDK writes the attributes of an item in any order.
fn mark(request: &HttpRequest) -> u64 {
    let body = request.body().bytes().unwrap_or_default();
    body.iter()
        .fold(0, |sum: u64, byte| sum.wrapping_add(u64::from(*byte).pow(5)))
}

impl Store {
    /// The same store with its calls recorded or played by a tape.
    #[must_use]
    pub fn on_tape(mut self, tape: &Tape) -> Self {
        let config = self.table.client.config();
        let Some(inner) = config.http_client() else {
            return self;
        };
        let (tape, stopwatch) = (tape.clone(), Stopwatch(tape.clone()));
        let config = config
            .to_builder()
            .http_client(Recorder { tape, inner })
            .interceptor(stopwatch);
        self.table.client = Client::from_conf(config.build());
        self
    }
}

/// The HTTP client of a store on a tape.
#[derive(Debug)]
struct Recorder {
    tape: Tape,
    inner: SharedHttpClient,
}

impl HttpClient for Recorder {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Connector {
            tape: self.tape.clone(),
            inner: self.inner.http_connector(settings, components),
        })
    }
}

#[derive(Debug)]
struct Connector {
    tape: Tape,
    inner: SharedHttpConnector,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        if let Some(answer) = self.tape.answer(&request) {
            return HttpConnectorFuture::ready(answer);
        }
        let (operation, asked) = (operation(&request).to_owned(), mark(&request));
        let (tape, answer) = (self.tape.clone(), self.inner.call(request));
        HttpConnectorFuture::new(async move {
            let mut response = answer.await?;
            let body = response.take_body().collect().await;
            let answer = body
                .map_err(|cause| ConnectorError::other(cause, None))?
                .to_bytes();
            *response.body_mut() = SdkBody::from(answer.clone());
            tape.state().recording.0.push(Exchange {
                operation,
                asked,
                status: response.status(),
                headers: response.headers().clone(),
                answer,
            });
            Ok(response)
        })
    }
}

/// Measures how long calls are in the SDK.
#[derive(Debug)]
struct Stopwatch(Tape);

impl Intercept for Stopwatch {
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
