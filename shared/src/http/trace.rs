//! What the log line of a request tells of who called: noted by the scope while the request runs.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// Who called, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The instance, once the request is let into it.
    pub instance: String,
    /// The public id of the credential.
    pub credential: String,
}

#[derive(Debug, Clone, Default)]
pub struct Trace(Arc<Mutex<Caller>>);

tokio::task_local! {
    static CURRENT: Trace;
}

impl Trace {
    pub async fn follow<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }

    pub fn caller(&self) -> Caller {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Notes who is calling in the request that is running.
pub fn note(instance: &str, credential: &str) {
    // Outside a request there is no log line to note it for.
    let _ = CURRENT.try_with(|trace| {
        let mut caller = trace.0.lock().unwrap_or_else(PoisonError::into_inner);
        instance.clone_into(&mut caller.instance);
        credential.clone_into(&mut caller.credential);
    });
}
