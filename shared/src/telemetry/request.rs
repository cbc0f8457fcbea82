//! Context of the current request. The id is for every line, the caller for the log, the remaining rate limit for the
//! response's headers. `auth` sets it, and the middleware reads it.

use std::borrow::Cow;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::Allowance;
use crate::traceparent::{self, Traceparent};

/// The caller, if known.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The instance, after authorization.
    pub instance: String,
    /// Public id of the credential.
    pub credential: String,
}

/// The logged reason for refusing the credentials, instance or link of a request, or for its rate limit. The response
/// does not contain the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No credential.
    Missing,
    /// A credential in another place than the endpoint's.
    Elsewhere,
    /// A credential, an instance or a link that does not exist.
    Unknown,
    /// An expired credential.
    Expired,
    /// A revoked credential.
    Revoked,
    /// An inactive or deleted user.
    Inactive,
    /// A credential of another instance.
    OtherInstance,
    /// A suspended instance.
    Suspended,
    /// The rate limit is reached.
    Limit,
}

impl Refusal {
    /// Its name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Elsewhere => "elsewhere",
            Self::Unknown => "unknown",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Inactive => "inactive",
            Self::OtherInstance => "other_instance",
            Self::Suspended => "suspended",
            Self::Limit => "limit",
        }
    }
}

/// The context of one request, shared between the middleware and the work of the request.
#[derive(Debug, Clone)]
pub struct Trace(Arc<Mutex<TraceState>>);

#[derive(Debug, Default)]
struct TraceState {
    request_id: String,
    traceparent: Option<Traceparent>,
    caller: Caller,
    allowance: Option<Allowance>,
    refused: Option<Cow<'static, str>>,
}

tokio::task_local! {
    static CURRENT: Trace;
}

impl Trace {
    pub fn of(request_id: &str, traceparent: Option<Traceparent>) -> Self {
        let state = TraceState {
            request_id: request_id.to_owned(),
            traceparent,
            ..TraceState::default()
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Runs the work of the request with this context as the current one.
    pub async fn follow<T>(&self, work: impl Future<Output = T>) -> T {
        let traceparent = self.state().traceparent.clone();
        CURRENT
            .scope(self.clone(), traceparent::follow(traceparent, work))
            .await
    }

    pub fn trace_id(&self) -> Option<String> {
        let state = self.state();
        state
            .traceparent
            .as_ref()
            .map(|header| header.trace_id().to_owned())
    }

    pub fn caller(&self) -> Caller {
        self.state().caller.clone()
    }

    /// Remaining requests of the limit; `None` without a limit.
    pub fn allowance(&self) -> Option<Allowance> {
        self.state().allowance
    }

    /// Why the request was refused, without any value of the request.
    pub fn refused(&self) -> Option<Cow<'static, str>> {
        self.state().refused.clone()
    }

    /// Sets the reason, unless there is one.
    pub fn refuse(&self, reason: impl Into<Cow<'static, str>>) {
        self.state().refused.get_or_insert_with(|| reason.into());
    }

    fn state(&self) -> MutexGuard<'_, TraceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Id of the current request; `None` outside a request.
pub fn request_id() -> Option<String> {
    CURRENT.try_with(|trace| trace.state().request_id.clone()).ok()
}

/// Sets the caller of the current request.
pub fn set_caller(instance: &str, credential: &str) {
    // Outside a request there is no log line.
    let _ = CURRENT.try_with(|trace| {
        let caller = &mut trace.state().caller;
        instance.clone_into(&mut caller.instance);
        credential.clone_into(&mut caller.credential);
    });
}

/// Sets the reason for refusing the current request, unless a reason is set. The text contains no value of the request.
pub fn refuse(reason: impl Into<Cow<'static, str>>) {
    // Outside a request there is no log line.
    let _ = CURRENT.try_with(|trace| trace.refuse(reason));
}

/// Sets the reason for refusing the credentials of the current request, unless a reason is set.
pub fn refuse_for(reason: Refusal) {
    refuse(reason.as_str());
}

/// Sets the remaining rate limit of the current request.
pub fn set_allowance(allowance: Allowance) {
    // Outside a request there is no response.
    let _ = CURRENT.try_with(|trace| trace.state().allowance = Some(allowance));
}
