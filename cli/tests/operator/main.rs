//! The operator's commands as processes, each test with its own engine (C-80, C-81).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "in a test a panic with its place is the report, and it is as long as it has cases"
)]

mod automations;
mod calendars;
mod completions;
mod convert;
mod convert_cases;
mod convert_values;
mod copies;
mod credentials;
mod data;
mod doctor;
mod documents;
mod faults;
mod help;
mod help_next;
mod import;
mod instances;
mod laws;
mod limits;
mod made_here;
mod meetings;
mod opportunities;
mod provision;
mod queue;
mod races;
mod removal;
mod reports;
mod scale;
mod support;
mod tickets;
mod workbooks;
