//! The embedded database on its own port, for `funil --endpoint` and `sam local`.

mod port;
mod signature;

use std::io;
use std::net::SocketAddr;

use database::DatabaseError;

pub use port::Engine;
pub use signature::AccessKey;

/// Error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] DatabaseError),
    /// The address is in use or not on this machine.
    #[error("cannot listen on {0}: {1}")]
    Bind(SocketAddr, io::Error),
    /// The system does not create a thread.
    #[error("the engine cannot run: {0}")]
    Run(#[from] io::Error),
}
