//! An HTTP server with limits on connections, durations and shutdown time.

mod body;
mod files;
mod line;
mod wire;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use shared::http::SourceAddress;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use body::{Timed, Tracked};
use wire::ClientStream;

pub use files::raise_limit;

/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Creates the response, head included, to a request that hyper rejects.
pub type Reword = Arc<dyn Fn(StatusCode) -> Option<Vec<u8>> + Send + Sync>;

/// The limits of a port.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Concurrent connections; further ones wait.
    pub connections: usize,
    /// From a request's first byte, or the start of the connection, to the end of the request's head.
    pub head: Duration,
    /// From the end of a request's head to the end of its body.
    pub body: Duration,
    /// Between two requests of a connection.
    pub idle: Duration,
    /// Without progress of the client in reading a response.
    pub write: Duration,
    /// For open requests at shutdown.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(75),
            write: Duration::from_secs(30),
            stop: Duration::from_secs(10),
        }
    }
}

/// The state shared by a connection and its requests.
#[derive(Debug, Default)]
struct Exchanges {
    /// Number of requests that began.
    begun: AtomicUsize,
    /// Number of requests with unfinished responses.
    open: AtomicUsize,
    /// Whether a response was sent before the request's body was read.
    has_unread_body: AtomicBool,
    /// Wakes the connection at the end of a response, because hyper may have read ahead and not poll again by itself.
    waiting: Mutex<Option<Waker>>,
}

impl Exchanges {
    fn begun(&self) -> usize {
        self.begun.load(Ordering::Acquire)
    }

    fn is_answering(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    fn wait(&self, waker: &Waker) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
    }

    fn end(&self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

/// Serves until `stopped`, then finishes open requests within a time limit. `reword` replaces hyper's own error
/// responses.
pub async fn serve(
    listener: TcpListener,
    service: Router,
    reword: Option<Reword>,
    limits: Limits,
    stopped: impl Future<Output = ()>,
) {
    let free_connections = Arc::new(Semaphore::new(limits.connections));
    let (stop, stopping) = watch::channel(());
    let mut connections = JoinSet::new();
    tokio::pin!(stopped);
    loop {
        let accepted = async {
            let permit = Arc::clone(&free_connections).acquire_owned().await;
            listener.accept().await.map(|accepted| (accepted, permit))
        };
        let ((stream, peer), permit) = tokio::select! {
            () = &mut stopped => break,
            // Forgets a connection that ended.
            Some(_) = connections.join_next() => continue,
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                Err(cause) => {
                    tracing::warn!(%cause, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        let (service, reword, stopping) = (service.clone(), reword.clone(), stopping.clone());
        connections.spawn(async move {
            let _permit = permit;
            serve_connection((stream, peer), service, reword, limits, stopping).await;
        });
    }
    drop(listener);
    let _ = stop.send(());
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.stop, ended).await.is_err() {
        tracing::warn!(connections = connections.len(), "connections were cut off");
    }
}

/// Serves the requests of one connection. Once `stopping` changes, finishes the open request and closes the connection.
async fn serve_connection(
    (stream, peer): (TcpStream, SocketAddr),
    service: Router,
    reword: Option<Reword>,
    limits: Limits,
    mut stopping: watch::Receiver<()>,
) {
    let exchanges = Arc::new(Exchanges::default());
    let wire = ClientStream::new(stream, limits, reword, Arc::clone(&exchanges));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(SourceAddress(peer.ip()));
        let tracked = Tracked::begin(&exchanges);
        let with_limit = |body| Body::new(Timed::new(body, limits.body, Arc::clone(&exchanges)));
        let answer = service.clone().oneshot(request.map(with_limit));
        async move {
            answer
                .await
                .map(|answer| answer.map(|body| tracked.until_end_of(body)))
        }
    });
    // `ClientStream` has the time limits, because hyper counts a connection's idle time towards the head's.
    let connection = http1::Builder::new()
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(wire), answer);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(cause) = ended {
        tracing::debug!(%cause, "a connection ended");
    }
}

#[cfg(test)]
mod tests;
