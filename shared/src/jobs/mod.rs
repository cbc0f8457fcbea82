//! Background jobs. They use the store and send webhooks. No client calls them.

pub mod automations;
pub mod copies;
pub mod counters;
pub(crate) mod erasure;
pub(crate) mod instances;
pub(crate) mod reports;
pub mod webhook_client;

pub use counters::{JobCounters, JobLog};
