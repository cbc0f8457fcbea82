//! The common crate of every Funil function: what a request must pass before a handler sees it, and the only way to
//! the table behind it.

pub mod ambient;
pub mod automation;
pub mod calendar;
pub mod call;
pub mod courier;
pub mod credential;
pub mod directory;
pub mod funnel;
pub mod http;
pub mod id;
pub mod instance;
pub mod json;
#[cfg(feature = "lambda")]
pub mod lambda;
pub mod lead;
pub mod meeting;
pub mod money;
pub mod number;
pub mod opportunity;
pub mod people;
pub mod permissions;
pub mod phone;
pub mod report;
pub mod schema;
pub mod scope;
pub mod search;
pub mod selection;
pub mod settings;
pub mod start;
pub mod store;
pub mod telemetry;
pub mod text;
pub mod ticket;
pub mod time;
