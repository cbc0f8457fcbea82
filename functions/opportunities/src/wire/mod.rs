//! Requests of the opportunity endpoints. [`fields`] parses single fields for creation and change.

mod context;
mod fields;
mod list;
pub mod new;
pub mod patch;

pub use context::{context, funnel_id, visible_funnel};
pub use list::ListOpportunities;

#[cfg(test)]
mod tests;
