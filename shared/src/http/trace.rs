//! What the edge learns of a request while it runs, noted by the scope: who called, for the log line, and what is left of
//! the limit that the request counts against, for the answer's headers. And which request runs, for every line that is
//! written meanwhile.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::Allowance;

/// Who called, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The instance, once the request is let into it.
    pub instance: String,
    /// The public id of the credential.
    pub credential: String,
}

#[derive(Debug, Clone)]
pub struct Trace(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    request_id: String,
    caller: Caller,
    allowance: Option<Allowance>,
}

tokio::task_local! {
    static CURRENT: Trace;
}

impl Trace {
    pub fn of(request_id: &str) -> Self {
        let noted = Noted {
            request_id: request_id.to_owned(),
            ..Noted::default()
        };
        Self(Arc::new(Mutex::new(noted)))
    }

    pub async fn follow<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }

    pub fn caller(&self) -> Caller {
        self.noted().caller.clone()
    }

    /// What is left of the request's limit; `None` where it has none.
    pub fn allowance(&self) -> Option<Allowance> {
        self.noted().allowance
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of the request that is running; `None` outside one.
pub fn request_id() -> Option<String> {
    CURRENT.try_with(|trace| trace.noted().request_id.clone()).ok()
}

/// Notes who is calling in the request that is running.
pub fn note(instance: &str, credential: &str) {
    // Outside a request there is no log line to note it for.
    let _ = CURRENT.try_with(|trace| {
        let caller = &mut trace.noted().caller;
        instance.clone_into(&mut caller.instance);
        credential.clone_into(&mut caller.credential);
    });
}

/// Notes what is left of the limit that the request that is running counts against.
pub fn limited(allowance: Allowance) {
    // Outside a request there is no answer to put it into.
    let _ = CURRENT.try_with(|trace| trace.noted().allowance = Some(allowance));
}
