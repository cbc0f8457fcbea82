//! An emulator on a port of this machine, for programs in other processes.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::emulator::Emulator;

/// An emulator on a port. Stops on drop.
#[derive(Debug)]
pub struct Served {
    emulator: Emulator,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Serves a new emulator on a free port, from a thread of its own.
    #[must_use]
    pub fn start() -> Self {
        let emulator = Emulator::new();
        let (stop, stopped) = oneshot::channel();
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let service = Router::new().fallback(call).layer(DefaultBodyLimit::disable());
        let service = service.with_state(emulator.clone());
        let serve = async move {
            let listener = TcpListener::from_std(listener).expect("a listener");
            let served = axum::serve(listener, service).into_future();
            tokio::select! {
                _ = served => {}
                _ = stopped => {}
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        Self {
            emulator,
            address,
            stop: Some(stop),
            thread: Some(thread::spawn(move || runtime.block_on(serve))),
        }
    }

    /// The address, as `http://…`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The emulator.
    #[must_use]
    pub fn emulator(&self) -> &Emulator {
        &self.emulator
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed.
            let _ = thread.join();
        }
    }
}

async fn call(State(emulator): State<Emulator>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers
        .get("x-amz-target")
        .and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.rsplit('.').next());
    let (status, answer) = emulator.answer(operation.unwrap_or_default(), &body);
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [("content-type", "application/x-amz-json-1.0")], answer).into_response()
}
