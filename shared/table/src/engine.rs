//! The interface of an engine in this process.

use std::fmt;

use crate::item::Item;
use crate::key::Key;
use crate::pages::KeyRange;
pub use crate::write_request::{WriteAction, WriteRequest};

/// An engine that implements DynamoDB's JSON protocol.
pub trait EmbeddedEngine: fmt::Debug + Send + Sync + 'static {
    /// Handles one call, such as `GetItem`, and returns status and body. Blocks while the engine works. A transaction
    /// that deletes nothing may have up to [`MAX_EMBEDDED_WRITES`](crate::MAX_EMBEDDED_WRITES) writes.
    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String);

    /// Executes a strongly consistent read and blocks meanwhile, but not for writes. `None` if the engine cannot, or if the read fails or is
    /// incomplete: [`Self::answer`] then gets it as a call and returns the error.
    fn read(&self, table: &str, read: DirectRead) -> Option<DirectlyRead> {
        let _ = (table, read);
        None
    }

    /// Executes a transaction and blocks meanwhile. If nothing was written, [`Self::answer`] then gets it as a call and
    /// returns the error.
    fn write(&self, table: &str, writes: Vec<WriteRequest>) -> DirectlyWritten {
        let _ = (table, writes);
        DirectlyWritten::Nothing
    }
}

/// A read without DynamoDB's JSON protocol.
#[derive(Debug)]
pub enum DirectRead {
    /// The items with these keys, at most 100, each once.
    Keys(Vec<Key>),
    /// The items of a range, up to its limit, in the order of their sort keys.
    Range {
        /// The range.
        range: KeyRange,
        /// Whether to read from the end.
        is_descending: bool,
    },
}

/// Result of a [`DirectRead`].
#[derive(Debug)]
pub struct DirectlyRead {
    /// The items found.
    pub items: Vec<Item>,
    /// Whether the range may contain more items.
    pub more: bool,
    /// Read units that DynamoDB would bill.
    pub units: f64,
}

/// Outcome of a transaction without DynamoDB's JSON protocol.
#[derive(Debug)]
pub enum DirectlyWritten {
    /// Everything was written.
    All {
        /// Write units that DynamoDB would bill.
        units: f64,
    },
    /// Nothing was written: a condition failed, the transaction is invalid, or the engine does not support it.
    Nothing,
    /// The engine failed, and may have written everything. Contains its error.
    Unknown(String),
}
