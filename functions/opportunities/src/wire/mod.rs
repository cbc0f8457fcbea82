//! What requests hold: [`fields`] reads single fields, alike for a new opportunity and a changed one.

mod context;
mod fields;
mod list;
pub mod new;
pub mod patch;

pub use context::{context, funnel_id, visible_funnel};
pub use list::ListOpportunities;

#[cfg(test)]
mod tests;
