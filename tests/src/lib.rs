//! Support of the end-to-end tests: a world with an engine, an instance and its people, and an HTTP client of
//! the service.

#![recursion_limit = "256"]

pub mod bench;
pub mod bookings;
pub mod catalogue;
pub mod client;
pub mod forms;
pub mod labels;
pub mod limits;
pub mod openapi;
pub mod people;
pub mod properties;
pub mod raw;
pub mod records;
pub mod reports;
pub mod runtime;
pub mod sales;
pub mod template;
pub mod tickets;
pub mod watch;
pub mod world;
mod yaml;

pub use people::{ACME, NOW};
pub use world::{Answer, Wallet, World};
