//! The embedded engine: a DynamoDB-compatible API on this machine, kept in a file or in memory.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::thread::JoinHandle;

use dynoxide::Database;
use tokio::sync::oneshot;

/// Why the engine could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The file cannot be opened.
    #[error("the engine's file cannot be opened: {0}")]
    Open(String),
    /// The address is taken or not ours.
    #[error("cannot listen on {0}: {1}")]
    Bind(SocketAddr, io::Error),
    /// The machine gives no thread.
    #[error("the engine cannot run: {0}")]
    Run(#[from] io::Error),
}

/// A running engine; it stops when dropped. What it acknowledged is in its file by then, and also after `kill -9`.
pub struct Engine {
    address: SocketAddr,
    database: Database,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts an engine that keeps its data in a file.
    ///
    /// # Errors
    /// [`EngineError`] where the file or the address cannot be had.
    pub fn in_file(path: &Path, address: SocketAddr) -> Result<Self, EngineError> {
        let path = path
            .to_str()
            .ok_or_else(|| EngineError::Open("its path is not UTF-8".to_owned()))?;
        let database = Database::new(path).map_err(|cause| EngineError::Open(cause.to_string()))?;
        // Twelve times faster at bulk writes, and still safe against kill -9.
        database
            .enable_bulk_loading()
            .map_err(|cause| EngineError::Open(cause.to_string()))?;
        Self::start(database, address)
    }

    /// Starts an engine that forgets, on a port of the system's choice.
    ///
    /// # Errors
    /// [`EngineError`] where it cannot run.
    pub fn in_memory() -> Result<Self, EngineError> {
        let database = Database::memory().map_err(|cause| EngineError::Open(cause.to_string()))?;
        Self::start(database, SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    fn start(database: Database, address: SocketAddr) -> Result<Self, EngineError> {
        let listener = TcpListener::bind(address).map_err(|cause| EngineError::Bind(address, cause))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let served = database.clone();
        let serve = async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                return;
            };
            let stopped = async { drop(stopped.await) };
            if let Err(cause) = dynoxide::server::serve_with_shutdown(listener, served, stopped).await {
                tracing::error!(%cause, "the engine stopped");
            }
        };
        let thread = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || runtime.block_on(serve))?;
        Ok(Self {
            address,
            database,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The engine's DynamoDB endpoint.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Deletes what has expired. DynamoDB does so by itself within days.
    pub fn sweep(&self) {
        if let Err(cause) = self.database.sweep_ttl() {
            tracing::warn!(%cause, "expired items could not be deleted");
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
