//! The common crate of all functions: checks before a handler, and access to the table.
//!
//! - [`domain`] contains the rules and records, and is re-exported here: a function names this crate alone.
//! - [`http`] is the server's side of a request, [`auth`] checks its credentials, and [`store`] reaches the table for
//!   the instance that they open.
//! - [`jobs`] contains background work, [`telemetry`] the log, [`startup`] the start of a function,
//!   [`config`] its environment.

pub mod auth;
pub mod config;
pub mod http;
pub mod jobs;
#[cfg(feature = "lambda")]
pub mod lambda;
pub mod release;
pub mod startup;
pub mod store;
pub mod telemetry;
pub mod traceparent;

pub use domain::{
    automation, calendar, call, credential, directory, environment, event, form, funnel, ids, input,
    instance, integer, json, labels, lead, lead_edit, meeting, money, number, opportunity, opportunity_edit,
    people, permissions, phone, report, settings, text, ticket, time, viewer, visibility, words,
};
