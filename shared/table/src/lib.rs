//! One DynamoDB table: calls, transactions, conditions, pages and encoding of items.
//!
//! This crate knows nothing of Funil, and no other crate names the AWS SDK.

#![expect(
    clippy::missing_errors_doc,
    reason = "every error is a StoreError, whose variants say when they occur"
)]

mod client;
mod condition;
mod connection;
#[cfg(feature = "embedded")]
mod direct_engine;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(feature = "embedded")]
mod engine;
mod error;
mod gate;
pub mod item;
mod key;
mod large;
mod merge;
pub mod meter;
#[cfg(feature = "admin")]
mod pace;
mod pages;
#[cfg(feature = "admin")]
mod provision;
mod readable;
mod retry;
#[cfg(feature = "admin")]
mod scan;
mod spread;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;
pub mod unknown;
mod write;
mod write_request;

pub use aws_sdk_dynamodb::types::AttributeValue;

pub use client::{ReadTable, Table};
pub use condition::Condition;
pub use connection::{Location, MAX_CALL};
pub use error::{OVERSIZE, StoreError};
pub use gate::{Gate, GateKeeper, MAX_AHEAD, MAX_COUNTERS_AHEAD};
pub use item::Item;
pub use key::{Key, key_of};
pub use large::MAX_EMBEDDED_WRITES;
pub use merge::{ListEntry, MergeScan};
#[cfg(feature = "admin")]
pub use pace::Pace;
pub use pages::{KeyRange, PAGE, Page, Pages, read_units};
pub use readable::readable;
pub use retry::{Jitter, Policy, Retry};
#[cfg(feature = "admin")]
pub use scan::{Scanned, Selection};
pub use spread::{SHARDS, shard_of, shards, unsharded};
pub use transaction::{CommitError, MAX_WRITES, Transaction};
