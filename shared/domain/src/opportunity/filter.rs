//! Filters on the opportunities of a funnel (C-43, C-44, C-99).
//!
//! All filters are joined by AND. A filter that selects everything equals the default, so it can be
//! recognised.

mod conditions;
mod dates;
mod search;

use super::Opportunity;
use crate::lead::Lead;
use crate::time::Timestamp;

pub use conditions::{Conditions, CustomFieldCondition};
pub use dates::{BadDate, DateRange, TimeRange};
pub use search::{Search, SearchBy};

/// All filters of a request except funnel, column, archive, users and statuses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Range of the creation date.
    pub created: TimeRange,
    /// Range of the expected closing date.
    pub expected: TimeRange,
    /// Earliest time of the last change (C-99).
    pub modified_since: Option<Timestamp>,
    /// Conditions on custom fields.
    pub conditions: Conditions,
    /// Search term.
    pub search: Option<Search>,
}

impl Filter {
    /// Whether it selects everything, so that totals can answer without records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it depends on more of an opportunity than its creation date.
    #[must_use]
    pub fn needs_records(&self) -> bool {
        let created_only = Self {
            created: self.created,
            ..Self::default()
        };
        *self != created_only
    }

    /// Whether an opportunity with its lead matches.
    #[must_use]
    pub fn admits(&self, opportunity: &Opportunity, lead: Option<&Lead>) -> bool {
        self.created.covers(Some(opportunity.create_date))
            && self.expected.covers(opportunity.expected_close_date)
            && self
                .modified_since
                .is_none_or(|since| since <= opportunity.update_date)
            && self.conditions.are_met(&opportunity.fields)
            && self
                .search
                .as_ref()
                .is_none_or(|search| search.finds(opportunity, lead))
    }
}
