//! An HTTP server with limits on connections, durations and shutdown time. hyper parses the requests.

mod files;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use shared::http::SourceAddress;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Maximum bytes of a request's head. Many connections may send heads at once.
const HEAD_LIMIT: usize = 64 * 1024;
/// Duration and bytes for which a closed connection is still read. Closing one with unread bytes resets it, and the
/// client loses the response.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 8 * 1024 * 1024;

/// The limits of a port.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Concurrent connections; further ones wait.
    pub connections: usize,
    /// From the start of the connection or the last response to the end of a request's head, and without progress of
    /// the client in sending a body.
    pub read: Duration,
    /// Without progress of the client in reading a response.
    pub write: Duration,
    /// For open requests at shutdown.
    pub stop: Duration,
}

impl Limits {
    /// The limits of a port of this process. Raises the process's limit of open files as far as needed and allowed.
    #[must_use]
    pub fn raised() -> Self {
        Self {
            connections: files::raise_limit(4096),
            // Above the 60 s for which proxies keep idle connections.
            read: Duration::from_secs(75),
            write: Duration::from_secs(30),
            stop: Duration::from_secs(10),
        }
    }
}

/// Serves until `stopped`, then finishes open requests within a time limit.
pub async fn serve(
    listener: TcpListener,
    service: Router,
    limits: Limits,
    stopped: impl Future<Output = ()>,
) {
    let (stop, stopping) = watch::channel(());
    let mut connections = JoinSet::new();
    tokio::pin!(stopped);
    loop {
        let has_room = connections.len() < limits.connections;
        tokio::select! {
            () = &mut stopped => break,
            // Forgets a connection that ended.
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok(accepted) => {
                    connections.spawn(serve_connection(accepted, service.clone(), limits, stopping.clone()));
                }
                Err(cause) => {
                    tracing::warn!(%cause, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
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
    limits: Limits,
    mut stopping: watch::Receiver<()>,
) {
    // A response is one write, so coalescing gains nothing.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_read_timeout(Some(limits.read));
    stream.set_write_timeout(Some(limits.write));
    tokio::pin!(stream);
    let answer = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(SourceAddress(peer.ip()));
        service.clone().oneshot(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read)
        .max_buf_size(HEAD_LIMIT)
        // A client may close its sending side after its request.
        .half_close(true)
        .serve_connection(TokioIo::new(stream.as_mut()), answer);
    let ended = {
        tokio::pin!(connection);
        tokio::select! {
            ended = &mut connection => ended,
            _ = stopping.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    if let Err(cause) = ended {
        tracing::debug!(%cause, "a connection ended");
    }
    // The client may be gone.
    let _ = stream.shutdown().await;
    let mut rest = stream.take(LINGER_BYTES);
    let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut rest, &mut sink())).await;
}

#[cfg(test)]
mod tests;
