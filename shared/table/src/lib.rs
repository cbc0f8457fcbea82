//! One table: calls, transactions, conditions, pages and encoding of items. An [`Engine`] executes the calls.
//!
//! This crate knows nothing of Funil, and no other crate names the AWS SDK.

#![expect(
    clippy::missing_errors_doc,
    reason = "every error is a StoreError, whose variants say when they occur"
)]

mod client;
mod condition;
mod dynamodb;
mod engine;
mod error;
mod gate;
pub mod item;
mod key;
mod merge;
pub mod meter;
mod pages;
mod readable;
mod retry;
#[cfg(feature = "admin")]
mod scan;
mod spread;
mod transaction;
pub mod unknown;

pub use aws_sdk_dynamodb::types::AttributeValue;

pub use client::{ReadTable, Table};
pub use condition::Condition;
pub use dynamodb::{DynamoDb, Location, MAX_CALL};
pub use engine::{Engine, Update, Work};
pub use error::{OVERSIZE, StoreError};
pub use gate::{Gate, GateKeeper, MAX_AHEAD, MAX_COUNTERS_AHEAD};
pub use item::Item;
pub use key::{Key, key_of};
pub use merge::{ListEntry, MergeScan};
pub use pages::{KeyRange, Order, PAGE, Page, Pages, read_units};
pub use readable::readable;
pub use retry::{Jitter, Policy, Retry};
#[cfg(feature = "admin")]
pub use scan::{Scanned, Selection};
pub use spread::{SHARDS, shard_of, shards, unsharded};
pub use transaction::{Change, CommitError, MAX_WRITES, Transaction};
