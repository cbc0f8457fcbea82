//! A connection that keeps time, and that stands between the service and what the HTTP library refuses by itself.

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

/// How long, and how much, is read of a request that was answered before its end: a connection that is closed with unread
/// bytes is reset, and the caller never reads the answer.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 8 * 1024 * 1024;
/// The longest request line that is looked through; the HTTP library refuses targets from 64 KiB on.
const MAX_LINE: usize = 128 * 1024;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The first byte of a request.
    Idle,
    /// The rest of a request's head.
    Head,
}

/// A connection. It fails where its caller is too slow.
pub struct Wire {
    stream: TcpStream,
    limits: Limits,
    reword: Option<Reword>,
    exchanges: Arc<Exchanges>,
    phase: Phase,
    /// The end of the phase.
    deadline: Pin<Box<Sleep>>,
    /// The requests that had come in when the phase began.
    begun: usize,
    /// Whether a request's first line comes next.
    at_line: bool,
    /// What was received and not yet handed on.
    received: Vec<u8>,
    /// The end of waiting for the caller to take bytes.
    stalled: Option<Pin<Box<Sleep>>>,
    /// A refusal in the service's words that is still to be written.
    refusal: Vec<u8>,
    /// While the rest of a request is read away: until when, and how much more.
    linger: Option<(Pin<Box<Sleep>>, usize)>,
}

impl Wire {
    pub fn new(stream: TcpStream, limits: Limits, reword: Option<Reword>, exchanges: Arc<Exchanges>) -> Self {
        // An answer is one piece: nothing is gained by waiting for more.
        let _ = stream.set_nodelay(true);
        Self {
            stream,
            limits,
            reword,
            exchanges,
            phase: Phase::Head,
            deadline: Box::pin(tokio::time::sleep(limits.head)),
            begun: 0,
            at_line: true,
            received: Vec::new(),
            stalled: None,
            refusal: Vec::new(),
            linger: None,
        }
    }

    fn enter(&mut self, phase: Phase) {
        let limit = match phase {
            Phase::Idle => self.limits.idle,
            Phase::Head => self.limits.head,
        };
        self.phase = phase;
        self.deadline.set(tokio::time::sleep(limit));
    }

    /// Begins to wait for the next request once the last is answered.
    fn turn(&mut self) {
        let begun = self.exchanges.begun();
        if begun != self.begun && !self.exchanges.is_answering() {
            self.begun = begun;
            self.at_line = true;
            self.enter(Phase::Idle);
        }
    }

    /// Fails where the caller has sent nothing, or half a head, for too long. While a request is answered its body and
    /// the service keep the time.
    fn keep_time(&mut self, received: bool, context: &mut Context<'_>) -> io::Result<()> {
        if self.exchanges.is_answering() {
            self.exchanges.wait(context.waker());
            return Ok(());
        }
        if received {
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

    /// Receives bytes, or fails where the caller is too slow.
    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let received = buffer.filled().len() > before;
        if received || read.is_pending() {
            self.keep_time(received, context)?;
        }
        read
    }

    /// Receives a request's first line, as far as it comes, and makes it readable.
    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.at_line {
            let mut bytes = [0; 8 * 1024];
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(self.poll_receive(context, &mut buffer))?;
            let came = buffer.filled();
            self.received.extend_from_slice(came);
            if came.is_empty() || came.contains(&b'\n') || self.received.len() > MAX_LINE {
                self.received = line::readable(std::mem::take(&mut self.received));
                self.at_line = false;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes, or fails where the caller takes nothing for too long.
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

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let refusal = std::mem::take(&mut self.refusal);
            let sent = self.poll_send(context, &refusal);
            self.refusal = refusal;
            let sent = ready!(sent)?;
            self.refusal.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what the caller still sends, for a while.
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

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        wire.turn();
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

impl AsyncWrite for Wire {
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
                wire.exchanges.unread.store(true, Ordering::Release);
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
        if wire.exchanges.unread.load(Ordering::Acquire) {
            ready!(wire.poll_linger(context));
        }
        Poll::Ready(Ok(()))
    }
}

/// The status of what the HTTP library answers by itself: an error without a body and without a request's id, which every
/// answer of the service has.
fn own_refusal(bytes: &[u8]) -> Option<StatusCode> {
    let head = bytes.strip_prefix(b"HTTP/1.1 ")?;
    let head = head.strip_suffix(b"\r\n\r\n")?;
    let head = std::str::from_utf8(head).ok()?;
    let status = StatusCode::from_bytes(head.get(..3)?.as_bytes()).ok()?;
    let of_the_service = head.contains("\r\nx-request-id: ") || !head.contains("\r\ncontent-length: 0");
    (status.is_client_error() && !of_the_service).then_some(status)
}
