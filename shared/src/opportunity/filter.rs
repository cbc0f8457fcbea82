//! Which opportunities of a funnel a request asks for (C-43, C-44).
//!
//! What must stay true: everything given applies together, and a filter that asks for nothing equals the default one,
//! so that it is known as such.

mod conditions;
mod dates;
mod search;

use super::Opportunity;
use crate::lead::Lead;

pub use conditions::{Condition, Conditions};
pub use dates::{BadDate, DateRange, TimeRange};
pub use search::{Search, SearchBy};

/// Everything that a request asks of an opportunity beside its funnel, column, archive, users and statuses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// When it was created.
    pub created: TimeRange,
    /// When it is expected to close.
    pub expected: TimeRange,
    /// What its custom fields hold.
    pub conditions: Conditions,
    /// What it or its lead is searched for.
    pub search: Option<Search>,
}

impl Filter {
    /// Whether it asks for nothing, so that totals answer for records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an opportunity with its lead is asked for.
    #[must_use]
    pub fn admits(&self, opportunity: &Opportunity, lead: Option<&Lead>) -> bool {
        self.created.covers(Some(opportunity.create_date))
            && self.expected.covers(opportunity.expected_close_date)
            && self.conditions.hold(&opportunity.fields)
            && self
                .search
                .as_ref()
                .is_none_or(|search| search.finds(opportunity, lead))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::id::{ColumnId, FunnelId, LeadId, OpportunityId, UserId};
    use crate::time::{Timestamp, Zone};

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn range(value: &Value) -> TimeRange {
        DateRange::read(value).unwrap().within(Zone::UTC).unwrap()
    }

    /// Created on 10 March, to close on 20 March.
    fn opportunity() -> Opportunity {
        let place = (FunnelId::new(1).unwrap(), ColumnId::new(2).unwrap());
        let (lead, user) = (LeadId::new(3).unwrap(), UserId::new(4).unwrap());
        let created = time("2026-03-10T12:00:00Z");
        let mut opportunity = Opportunity::new(OpportunityId::new(77).unwrap(), place, lead, user, created);
        opportunity.title = "Reforma".to_owned();
        opportunity.expected_close_date = Some(time("2026-03-20T12:00:00Z"));
        opportunity.fields.insert("Cor".to_owned(), json!("azul"));
        opportunity
    }

    fn colour(value: &str) -> Conditions {
        let filter = json!({"filterType": "opField", "properties": {"field": "Cor", "value": value}});
        Conditions::read(&[filter]).0
    }

    #[test]
    fn nothing_asked_is_an_empty_filter() {
        let discarded = json!({"properties": {"field": "Cor", "value": "azul"}});
        let filter = Filter {
            created: range(&json!(null)),
            expected: range(&json!({"start": null})),
            conditions: Conditions::read(&[discarded]).0,
            search: Search::new(" ", SearchBy::Opportunity),
        };
        assert!(filter.is_empty());
        assert!(filter.admits(&opportunity(), None));
    }

    #[test]
    fn all_that_is_asked_applies_together() {
        let all = Filter {
            created: range(&json!({"start": "2026-03-10", "end": "2026-03-10"})),
            expected: range(&json!({"start": "2026-03-20", "end": "2026-03-20"})),
            conditions: colour("AZUL"),
            search: Search::new("reforma", SearchBy::Opportunity),
        };
        assert!(all.admits(&opportunity(), None));
        let elsewhere = range(&json!({"end": "2026-03-09"}));
        for (part, other) in [
            (
                "created",
                Filter {
                    created: elsewhere,
                    ..all.clone()
                },
            ),
            (
                "expected",
                Filter {
                    expected: elsewhere,
                    ..all.clone()
                },
            ),
            (
                "conditions",
                Filter {
                    conditions: colour("verde"),
                    ..all.clone()
                },
            ),
            (
                "search",
                Filter {
                    search: Search::new("obra", SearchBy::Opportunity),
                    ..all.clone()
                },
            ),
        ] {
            assert!(!other.is_empty(), "{part}");
            assert!(!other.admits(&opportunity(), None), "{part}");
        }
    }

    #[test]
    fn an_opportunity_without_a_closing_date_is_in_no_range_of_them() {
        let expected = range(&json!({"start": "0001-01-01", "end": "9999-12-31"}));
        let filter = Filter {
            expected,
            ..Filter::default()
        };
        let mut opportunity = opportunity();
        assert!(filter.admits(&opportunity, None));
        opportunity.expected_close_date = None;
        assert!(!filter.admits(&opportunity, None));
        assert!(Filter::default().admits(&opportunity, None));
    }
}
