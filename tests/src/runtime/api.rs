//! A minimal Lambda Runtime API: <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>.
//!
//! It serves one function, one event at a time, like Lambda.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// Lambda's limit for a response in bytes.
const ANSWER_LIMIT: usize = 6 * 1024 * 1024;

/// The result of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The function's response.
    Answered(Value),
    /// The function's error. API Gateway returns 500 for such a request.
    Failed(Value),
}

/// An event in progress.
struct Invocation {
    id: String,
    event: Bytes,
    outcome: oneshot::Sender<Outcome>,
}

struct Desk {
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<Invocation>>,
    running: Mutex<HashMap<String, oneshot::Sender<Outcome>>>,
    unstarted: mpsc::UnboundedSender<Value>,
}

/// The Runtime API of one function.
#[derive(Debug)]
pub struct RuntimeApi {
    /// Its address.
    pub address: SocketAddr,
    events: mpsc::UnboundedSender<Invocation>,
    unstarted: mpsc::UnboundedReceiver<Value>,
    asked: u64,
}

impl RuntimeApi {
    /// Starts listening.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (events, waiting) = mpsc::unbounded_channel();
        let (told, unstarted) = mpsc::unbounded_channel();
        let desk = Desk {
            waiting: tokio::sync::Mutex::new(waiting),
            running: Mutex::default(),
            unstarted: told,
        };
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .route("/2018-06-01/runtime/init/error", post(init_error))
            .layer(DefaultBodyLimit::max(ANSWER_LIMIT))
            .with_state(Arc::new(desk));
        tokio::spawn(axum::serve(listener, routes).into_future());
        Self {
            address,
            events,
            unstarted,
            asked: 0,
        }
    }

    /// Sends an event to the function.
    pub fn send(&mut self, event: &Value) -> oneshot::Receiver<Outcome> {
        self.asked += 1;
        let (outcome, told) = oneshot::channel();
        let invocation = Invocation {
            id: format!("8f5c1a0e-5d6b-4b4e-9d8e-{:012x}", self.asked),
            event: event.to_string().into(),
            outcome,
        };
        self.events.send(invocation).expect("the desk is open");
        told
    }

    /// Waits for the function's initialization error.
    pub async fn unstarted(&mut self) -> Value {
        self.unstarted.recv().await.expect("the desk is open")
    }
}

async fn next(State(desk): State<Arc<Desk>>) -> Response {
    let waiting = desk.waiting.lock().await.recv().await;
    let Some(Invocation { id, event, outcome }) = waiting else {
        return StatusCode::GONE.into_response();
    };
    desk.running
        .lock()
        .expect("the events")
        .insert(id.clone(), outcome);
    let headers = [
        ("content-type", "application/json"),
        ("lambda-runtime-aws-request-id", id.as_str()),
        // The year 2100: no deadline.
        ("lambda-runtime-deadline-ms", "4102444800000"),
        (
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:sa-east-1:123456789012:function:funil",
        ),
        (
            "lambda-runtime-trace-id",
            "Root=1-6920590b-3f0a1c5e7d2b4a6890c1d2e3;Parent=0f1e2d3c4b5a6978;Sampled=0",
        ),
    ];
    (headers, event).into_response()
}

async fn response(State(desk): State<Arc<Desk>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    end(&desk, &id, Outcome::Answered(read(&body)))
}

async fn error(State(desk): State<Arc<Desk>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    end(&desk, &id, Outcome::Failed(read(&body)))
}

async fn init_error(State(desk): State<Arc<Desk>>, body: Bytes) -> StatusCode {
    desk.unstarted
        .send(read(&body))
        .map_or(StatusCode::GONE, |()| StatusCode::ACCEPTED)
}

fn end(desk: &Desk, id: &str, outcome: Outcome) -> StatusCode {
    let asked = desk.running.lock().expect("the events").remove(id);
    let told = asked.and_then(|asked| asked.send(outcome).ok());
    told.map_or(StatusCode::FORBIDDEN, |()| StatusCode::ACCEPTED)
}

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("what the function tells is JSON")
}
