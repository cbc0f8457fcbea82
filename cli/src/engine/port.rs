//! The engine's DynamoDB API on its own port, for `funil --endpoint` and `sam local` (C-85).
//!
//! Requests from browsers are rejected, because a page of any site could otherwise read and write the whole database
//! through its visitor.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use database::Database;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, Method, StatusCode};
use shared::environment::Environment;
use shared::store::embedded::EmbeddedEngine as _;
use tokio::sync::oneshot;

use super::signature::Unsigned;
use super::{AccessKey, EngineError};
use crate::listen::{self, Limits};

/// Maximum bytes of a request, as on DynamoDB.
const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// A free port of this machine.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Names of this machine that no foreign name server can resolve to another address.
const LOCAL_NAMES: [&str; 2] = ["localhost", "host.docker.internal"];

/// A database served on a port, which closes on drop.
#[derive(Debug)]
pub struct Engine {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state of a port.
#[derive(Debug)]
struct PortState {
    database: Database,
    /// Required signature key, if any.
    key: Option<AccessKey>,
    environment: Environment,
}

impl Engine {
    /// Serves the engine on an address. With a key, only requests signed with it are accepted.
    ///
    /// # Errors
    /// [`EngineError`] if the address is not available.
    pub fn open(
        database: Database,
        address: SocketAddr,
        key: Option<AccessKey>,
    ) -> Result<Self, EngineError> {
        let listener = TcpListener::bind(address).map_err(|cause| EngineError::Bind(address, cause))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::new(PortState {
            database,
            key,
            environment: Environment::system(),
        });
        let routes = Router::new().fallback(answer).with_state(state);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let serve = async move {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => {
                    let stopped = async { drop(stopped.await) };
                    listen::serve(listener, routes, None, Limits::default(), stopped).await;
                }
                Err(cause) => tracing::error!(%cause, "the DynamoDB port is not open"),
            }
        };
        let thread = std::thread::Builder::new()
            .name("dynamodb".to_owned())
            .spawn(move || runtime.block_on(serve))?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Serves a temporary database on a free port, for tests.
    ///
    /// # Errors
    /// [`EngineError`] if it cannot start.
    pub fn temporary() -> Result<Self, EngineError> {
        Self::open(Database::temporary()?, LOOPBACK, None)
    }

    /// Serves a database in a file on a free port, for benchmarks.
    ///
    /// # Errors
    /// [`EngineError`] if the file cannot be opened or the engine cannot start.
    pub fn in_file(path: &Path) -> Result<Self, EngineError> {
        Self::open(Database::in_file(path)?, LOOPBACK, None)
    }

    /// Takes out the sender that closes the port when it is dropped. `None` after the first call. Afterwards a drop of
    /// the engine only waits until the port is closed.
    #[must_use]
    pub fn take_stopper(&mut self) -> Option<oneshot::Sender<()>> {
        self.stop.take()
    }

    /// The URL for `--endpoint`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers a request to DynamoDB's API: rejects browsers, checks the signature, and executes the operation.
async fn answer(State(state): State<Arc<PortState>>, request: Request) -> Response {
    if is_foreign(request.method(), request.headers()) {
        return refuse(
            StatusCode::FORBIDDEN,
            "AccessDeniedException",
            "this port refuses browsers and all host names except localhost",
        );
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        let text = "the body is larger than 16 MB or incomplete";
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "SerializationException", text);
    };
    if let Some(key) = &state.key
        && let Err(unsigned) = key.check(&parts, &body, state.environment.now())
    {
        return refuse_unsigned(unsigned);
    }
    let target = parts.headers.get("x-amz-target");
    let target = target.and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.split_once('.').map_or("", |(_, operation)| operation);
    let (status, body) = tokio::task::block_in_place(|| state.database.answer(operation, &body));
    json(
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        body,
    )
}

/// Whether a request comes from a browser, or addresses this machine by a name that a stranger may have assigned.
fn is_foreign(method: &Method, headers: &HeaderMap) -> bool {
    let from_browser = headers.contains_key(ORIGIN)
        || headers.keys().any(|name| name.as_str().starts_with("sec-fetch-"))
        || method == Method::OPTIONS;
    from_browser
        || !headers
            .get(HOST)
            .is_some_and(|host| is_local(host.to_str().unwrap_or_default()))
}

/// Whether a `Host` header is a name of this machine or an IP address, with or without a port.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    LOCAL_NAMES.iter().any(|local| name.eq_ignore_ascii_case(local)) || address.parse::<IpAddr>().is_ok()
}

fn refuse_unsigned(unsigned: Unsigned) -> Response {
    let (name, text) = match unsigned {
        Unsigned::UnknownKey => (
            "UnrecognizedClientException",
            "the request is not signed with the key of --dynamodb-key",
        ),
        Unsigned::WrongSignature => (
            "InvalidSignatureException",
            "the signature does not fit the request, or its date is over 15 minutes off",
        ),
    };
    refuse(StatusCode::FORBIDDEN, name, text)
}

fn refuse(status: StatusCode, name: &str, text: &str) -> Response {
    let body = serde_json::json!({ "__type": format!("com.amazon.coral.service#{name}"), "message": text });
    json(status, body.to_string())
}

fn json(status: StatusCode, body: String) -> Response {
    (
        status,
        [(CONTENT_TYPE, "application/x-amz-json-1.0")],
        Body::from(body),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_of_this_machine_are_local() {
        for (host, local) in [
            ("localhost", true),
            ("LOCALHOST:8000", true),
            ("127.0.0.1:8000", true),
            ("[::1]:8000", true),
            ("172.17.0.1:8000", true),
            ("host.docker.internal:8000", true),
            ("", false),
            ("evil.example", false),
            ("evil.example:8000", false),
            ("127.0.0.1.evil.example:8000", false),
            ("localhost.evil.example", false),
            ("127.0.0.1:x", false),
        ] {
            assert_eq!(is_local(host), local, "{host}");
        }
    }
}
