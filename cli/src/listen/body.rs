//! Request bodies with a time limit, and tracking of requests until the end of their responses.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Sleep;

use super::Exchanges;

/// A request's body that fails after a time limit.
pub struct Timed {
    body: Incoming,
    deadline: Pin<Box<Sleep>>,
    exchanges: Arc<Exchanges>,
}

impl Timed {
    pub fn new(body: Incoming, limit: Duration, exchanges: Arc<Exchanges>) -> Self {
        Self {
            body,
            deadline: Box::pin(tokio::time::sleep(limit)),
            exchanges,
        }
    }
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() && self.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
        }
        frame.map_err(io::Error::other)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        if !self.body.is_end_stream() {
            self.exchanges.has_unread_body.store(true, Ordering::Release);
        }
    }
}

/// A request until the end of its response.
pub struct Tracked(Arc<Exchanges>);

impl Tracked {
    pub fn begin(exchanges: &Arc<Exchanges>) -> Self {
        exchanges.open.fetch_add(1, Ordering::AcqRel);
        exchanges.begun.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(exchanges))
    }

    /// The body of the response. The request ends with it.
    pub fn until_end_of(self, body: Body) -> TrackedBody {
        TrackedBody { body, _tracked: self }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The body of a response.
pub struct TrackedBody {
    body: Body,
    _tracked: Tracked,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
