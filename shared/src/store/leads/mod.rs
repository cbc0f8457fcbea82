//! Leads: their records, the list, changes and deletions, and the markers of stale copies.

pub mod blocks;
pub mod class;
pub mod create;
pub mod delete;
pub mod deleted_leads;
pub mod details;
pub mod digest;
pub mod form;
pub mod identity;
pub mod list;
pub mod record;
pub mod references;
pub mod stale_markers;
pub mod timeline;
pub mod totals;
pub mod update;
pub mod whole;

pub use class::LeadClass;
pub use details::{DIGEST, Details, digest, is_sound};
pub use record::*;
pub use whole::WholeLead;
