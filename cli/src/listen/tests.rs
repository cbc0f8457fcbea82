//! Tests of the limits, with short durations.

use std::time::Duration;

use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
const SOON: Duration = Duration::from_millis(300);
const LATER: Duration = Duration::from_mins(1);
/// Only the duration under test is short.
const LIMITS: Limits = Limits {
    connections: 8,
    read: LATER,
    write: LATER,
    stop: LATER,
};

/// An open port; it stops when `stop` is dropped.
struct Open {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

async fn open(limits: Limits) -> Open {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let read = async |body: Body| match axum::body::to_bytes(body, 100).await {
        Ok(_) => "read",
        Err(_) => "broke off",
    };
    let large = async || vec![b'x'; 64 * 1024 * 1024];
    let routes = Router::new()
        .route("/", get(async || "here"))
        .route("/body", post(read))
        .route("/large", get(large));
    let serving = tokio::spawn(serve(listener, routes, limits, async {
        drop(stopped.await);
    }));
    Open {
        address,
        stop,
        serving,
    }
}

impl Open {
    async fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }
}

/// The bytes received until the connection is closed.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A dropped connection may be reset.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).unwrap()
}

/// The next received bytes.
async fn next(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 4096];
    let length = stream.read(&mut bytes).await.unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[tokio::test]
async fn incomplete_heads_time_out() {
    let port = open(Limits { read: SOON, ..LIMITS }).await;
    for half in [&b""[..], b"GET / HT", b"GET / HTTP/1.1\r\nhost: localhost\r\n"] {
        assert_eq!(rest(port.send(half).await).await, "");
    }
    let mut slow = port.send(b"GET / HTTP/1.1\r\n").await;
    // The head as a whole has a limit.
    let mut lines = 0..100;
    while slow.write_all(b"x: 1\r\n").await.is_ok() {
        assert!(lines.next().is_some(), "it is still read");
        tokio::time::sleep(SOON / 5).await;
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let port = open(Limits { read: SOON, ..LIMITS }).await;
    assert!(rest(port.send(GET).await).await.ends_with("here"));
}

#[tokio::test]
async fn incomplete_bodies_time_out() {
    let port = open(Limits { read: SOON, ..LIMITS }).await;
    let half = b"POST /body HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    assert!(rest(port.send(half).await).await.ends_with("broke off"));
}

#[tokio::test]
async fn unread_responses_time_out() {
    let limits = Limits {
        write: SOON,
        connections: 1,
        ..LIMITS
    };
    let port = open(limits).await;
    let _deaf = port.send(b"GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut next_one = port.send(GET).await;
    assert!(
        next(&mut next_one).await.ends_with("here"),
        "its place is free again"
    );
}

#[tokio::test]
async fn excess_connections_wait() {
    let port = open(Limits {
        connections: 1,
        ..LIMITS
    })
    .await;
    let mut first = port.send(GET).await;
    assert!(next(&mut first).await.ends_with("here"));
    let mut second = port.send(GET).await;
    tokio::select! {
        answer = next(&mut second) => panic!("{answer}"),
        () = tokio::time::sleep(SOON) => {}
    }
    drop(first);
    assert!(next(&mut second).await.ends_with("here"));
}

#[tokio::test]
async fn a_stop_waits_for_requests_up_to_a_limit() {
    let port = open(Limits {
        stop: 3 * SOON,
        ..LIMITS
    })
    .await;
    let half = b"POST /body HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{";
    let (mut ends, never) = (port.send(half).await, port.send(half).await);
    let mut idle = port.send(GET).await;
    assert!(next(&mut idle).await.ends_with("here"));
    drop(port.stop);
    assert_eq!(rest(idle).await, "", "an idle connection is closed at once");
    ends.write_all(b"}").await.unwrap();
    assert!(
        rest(ends).await.ends_with("read"),
        "a request under way is answered"
    );
    port.serving.await.unwrap();
    assert_eq!(rest(never).await, "");
}
