//! A TCP connection with time limits, which replaces hyper's own error responses.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::{Exchanges, Limits, Reword, line};

/// Duration and bytes for which a request is still read after its response. Closing a connection with unread bytes
/// resets it, and the client loses the response.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 8 * 1024 * 1024;
/// Maximum bytes buffered for a request line; hyper rejects targets from 64 KiB.
const MAX_LINE: usize = 128 * 1024;

/// The next expected bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The first byte of a request.
    Idle,
    /// The rest of a request's head.
    Head,
}

/// A connection. Reads and writes fail if the client is too slow.
pub struct ClientStream {
    stream: TcpStream,
    limits: Limits,
    reword: Option<Reword>,
    exchanges: Arc<Exchanges>,
    phase: Phase,
    /// End of the phase.
    deadline: Pin<Box<Sleep>>,
    /// Number of requests that had begun when the connection last waited for a request.
    begun: usize,
    /// Whether a request line is expected next.
    is_at_line: bool,
    /// Received bytes that hyper has not read.
    received: Vec<u8>,
    /// Deadline of a blocked write.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Unsent bytes of a replaced error response.
    refusal: Vec<u8>,
    /// Deadline and remaining bytes of reading a rejected request.
    linger: Option<(Pin<Box<Sleep>>, usize)>,
}

impl ClientStream {
    pub fn new(stream: TcpStream, limits: Limits, reword: Option<Reword>, exchanges: Arc<Exchanges>) -> Self {
        // A response is one write, so coalescing gains nothing.
        let _ = stream.set_nodelay(true);
        Self {
            stream,
            limits,
            reword,
            exchanges,
            phase: Phase::Head,
            deadline: Box::pin(tokio::time::sleep(limits.head)),
            begun: 0,
            is_at_line: true,
            received: Vec::new(),
            stalled: None,
            refusal: Vec::new(),
            linger: None,
        }
    }

    /// Begins a phase with its time limit.
    fn enter(&mut self, phase: Phase) {
        let limit = match phase {
            Phase::Idle => self.limits.idle,
            Phase::Head => self.limits.head,
        };
        self.phase = phase;
        self.deadline.set(tokio::time::sleep(limit));
    }

    /// Starts waiting for the next request if a request began since the last wait and its response is complete.
    fn await_next_request(&mut self) {
        let begun = self.exchanges.begun();
        if begun != self.begun && !self.exchanges.is_answering() {
            self.begun = begun;
            self.is_at_line = true;
            self.enter(Phase::Idle);
        }
    }

    /// Fails if the client was idle or sent an incomplete head for too long. `has_received` states whether bytes were
    /// just received. During a response, the body and the service have their own limits.
    fn check_deadline(&mut self, has_received: bool, context: &mut Context<'_>) -> io::Result<()> {
        if self.exchanges.is_answering() {
            self.exchanges.wait(context.waker());
            return Ok(());
        }
        if has_received {
            if self.phase == Phase::Idle {
                self.enter(Phase::Head);
            }
            return Ok(());
        }
        match self.deadline.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }

    /// Receives bytes, or fails if the client is too slow.
    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let has_received = buffer.filled().len() > before;
        if has_received || read.is_pending() {
            self.check_deadline(has_received, context)?;
        }
        read
    }

    /// Receives a request's first line and percent-encodes invalid bytes.
    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.is_at_line {
            let mut bytes = [0; 8 * 1024];
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(self.poll_receive(context, &mut buffer))?;
            let chunk = buffer.filled();
            self.received.extend_from_slice(chunk);
            let is_closed = chunk.is_empty();
            if is_closed || chunk.contains(&b'\n') || self.received.len() > MAX_LINE {
                self.received = line::readable(std::mem::take(&mut self.received));
                self.is_at_line = false;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Sends bytes, or fails if the client does not read for too long.
    fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        if sent.is_ready() {
            self.stalled = None;
            return sent;
        }
        let limit = self.limits.write;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        stalled
            .as_mut()
            .poll(context)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Sends the rest of a replaced error response.
    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let refusal = std::mem::take(&mut self.refusal);
            let sent = self.poll_send(context, &refusal);
            self.refusal = refusal;
            let length = ready!(sent)?;
            self.refusal.drain(..length);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads the rest of a rejected request for a limited time.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let (until, left) = self
            .linger
            .get_or_insert_with(|| (Box::pin(tokio::time::sleep(LINGER)), LINGER_BYTES));
        let mut bytes = [0; 16 * 1024];
        while *left > 0 && until.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let length = buffer.filled().len();
            if read.is_err() || length == 0 {
                break;
            }
            *left = left.saturating_sub(length);
        }
        Poll::Ready(())
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        wire.await_next_request();
        ready!(wire.poll_line(context))?;
        if wire.received.is_empty() {
            return wire.poll_receive(context, buffer);
        }
        let length = wire.received.len().min(buffer.remaining());
        buffer.put_slice(&wire.received[..length]);
        wire.received.drain(..length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        ready!(wire.poll_refusal(context))?;
        let reworded = wire
            .reword
            .as_ref()
            .and_then(|reword| reword(own_refusal(bytes)?));
        match reworded {
            Some(refusal) => {
                wire.refusal = refusal;
                wire.exchanges.has_unread_body.store(true, Ordering::Release);
                Poll::Ready(Ok(bytes.len()))
            }
            None => wire.poll_send(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        ready!(wire.poll_refusal(context))?;
        Pin::new(&mut wire.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if wire.linger.is_none() {
            ready!(wire.poll_refusal(context))?;
            ready!(Pin::new(&mut wire.stream).poll_shutdown(context))?;
        }
        if wire.exchanges.has_unread_body.load(Ordering::Acquire) {
            ready!(wire.poll_linger(context));
        }
        Poll::Ready(Ok(()))
    }
}

/// The status of an error response that hyper created by itself. Such a response has no body and no `x-request-id`, and
/// all responses of the service have an `x-request-id`.
fn own_refusal(bytes: &[u8]) -> Option<StatusCode> {
    let head = bytes.strip_prefix(b"HTTP/1.1 ")?;
    let head = head.strip_suffix(b"\r\n\r\n")?;
    let head = std::str::from_utf8(head).ok()?;
    let status = StatusCode::from_bytes(head.get(..3)?.as_bytes()).ok()?;
    let of_the_service = head.contains("\r\nx-request-id: ") || !head.contains("\r\ncontent-length: 0");
    (status.is_client_error() && !of_the_service).then_some(status)
}
