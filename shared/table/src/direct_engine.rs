//! Calls of an engine in this process: reads on the threads of their tasks, other calls there or on one of its own.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::engine::{DirectRead, DirectlyRead, EmbeddedEngine};

/// An engine in this process.
#[derive(Debug, Clone)]
pub struct DirectEngine {
    pub engine: Arc<dyn EmbeddedEngine>,
    /// `None` if all calls run on the threads of their tasks.
    pub thread: Option<Arc<EngineThread>>,
}

/// A call for the thread of an engine.
type Job = Box<dyn FnOnce(&dyn EmbeddedEngine) + Send>;

/// A thread that executes the calls of an engine. Its drop waits for the last one, so that the engine is closed.
#[derive(Debug)]
pub struct EngineThread {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl EngineThread {
    pub fn start(engine: Arc<dyn EmbeddedEngine>) -> io::Result<Self> {
        let (queue, jobs) = channel::<Job>();
        let thread = std::thread::Builder::new().name("engine".to_owned());
        let thread = thread.spawn(move || jobs.into_iter().for_each(|job| job(&*engine)))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }
}

impl Drop for EngineThread {
    fn drop(&mut self) {
        drop(self.queue.take());
        // A thread that panicked has reported it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl DirectEngine {
    /// Executes a read. Yields before, so that a series of reads does not starve other tasks.
    pub async fn read(&self, table: &str, read: DirectRead) -> Option<DirectlyRead> {
        tokio::task::yield_now().await;
        self.engine.read(table, read)
    }

    /// Executes another call. `None` if the engine panicked on its thread.
    pub async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn EmbeddedEngine) -> T + Send + 'static,
    ) -> Option<T> {
        let Some(thread) = &self.thread else {
            // As above.
            tokio::task::yield_now().await;
            return Some(call(&*self.engine));
        };
        let (answer, answered) = oneshot::channel();
        let job = move |engine: &dyn EmbeddedEngine| drop(answer.send(call(engine)));
        thread.queue.as_ref()?.send(Box::new(job)).ok()?;
        answered.await.ok()
    }
}
