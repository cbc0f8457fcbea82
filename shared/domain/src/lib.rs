//! Funil's rules and records.
//!
//! Pure: no waiting, sending or storing, and only [`environment`] reads the system's clock and randomness.

pub mod automation;
pub mod calendar;
pub mod call;
pub mod credential;
pub mod directory;
pub mod environment;
pub mod event;
pub mod form;
pub mod funnel;
pub mod ids;
pub mod input;
pub mod instance;
pub mod integer;
pub mod json;
pub mod labels;
pub mod lead;
pub mod lead_edit;
pub mod meeting;
pub mod money;
pub mod number;
pub mod opportunity;
pub mod opportunity_edit;
pub mod people;
pub mod permissions;
pub mod phone;
pub mod report;
pub mod settings;
pub mod text;
pub mod ticket;
pub mod time;
pub mod viewer;
pub mod visibility;
pub mod words;
