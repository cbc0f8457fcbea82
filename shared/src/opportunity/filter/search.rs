//! The search over opportunities (C-43): by what their leads are called, or by what they are called themselves.

use crate::lead::Lead;
use crate::opportunity::Opportunity;
use crate::search::Term;

/// What `searchBy` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchBy {
    /// The linked lead's full name, e-mail and numbers.
    #[default]
    Lead,
    /// The opportunity's title and id.
    Opportunity,
}

/// A search over opportunities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// What is searched.
    pub by: SearchBy,
    term: Term,
}

impl Search {
    /// A search for a term; `None` for a blank one, which disables the search.
    #[must_use]
    pub fn new(term: &str, by: SearchBy) -> Option<Self> {
        Term::new(term).map(|term| Self { by, term })
    }

    /// Whether it finds an opportunity with its lead.
    #[must_use]
    pub fn finds(&self, opportunity: &Opportunity, lead: Option<&Lead>) -> bool {
        match self.by {
            SearchBy::Lead => lead.is_some_and(|lead| {
                let email = lead.email.as_deref();
                self.term.finds_lead(&lead.fullname(), email, lead.numbers())
            }),
            SearchBy::Opportunity => {
                self.term.is_in(&opportunity.title) || self.term.is_in_id(opportunity.id.get())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::{ColumnId, FunnelId, LeadId, OpportunityId, UserId};
    use crate::time::Timestamp;

    fn time() -> Timestamp {
        Timestamp::parse("2026-03-10T12:00:00Z").unwrap()
    }

    fn lead() -> Lead {
        let text = |text: &str| Some(text.to_owned());
        Lead {
            firstname: text("Antônia"),
            lastname: text("Gonçalves"),
            email: text("Toni@Example.com"),
            phone: text("+55 (11) 98765-4321"),
            mobile: text("21 3333-4444"),
            chatapp: text("5531999990000"),
            address: text("Rua das Flores"),
            city: text("Santos"),
            ..Lead::new(LeadId::new(30_303).unwrap(), time())
        }
    }

    fn opportunity() -> Opportunity {
        let place = (FunnelId::new(1).unwrap(), ColumnId::new(2).unwrap());
        let (id, lead) = (OpportunityId::new(1042).unwrap(), LeadId::new(30_303).unwrap());
        let mut opportunity = Opportunity::new(id, place, lead, UserId::new(4).unwrap(), time());
        opportunity.title = "Reforma do Salão 98".to_owned();
        opportunity.fields.insert("Cor".to_owned(), json!("azul"));
        opportunity
    }

    fn finds(term: &str, by: SearchBy) -> bool {
        let search = Search::new(term, by).unwrap();
        assert_eq!(search.by, by);
        search.finds(&opportunity(), Some(&lead()))
    }

    #[test]
    fn a_blank_term_disables_the_search() {
        for blank in ["", "  ", "\n\t"] {
            assert_eq!(Search::new(blank, SearchBy::Lead), None, "{blank:?}");
            assert_eq!(Search::new(blank, SearchBy::Opportunity), None, "{blank:?}");
        }
    }

    #[test]
    fn each_kind_of_search_reads_its_own_texts() {
        for (term, by_lead, by_opportunity) in [
            ("antonia", true, false),
            ("ÔNIA GON", true, false),
            (" toni@EXAMPLE ", true, false),
            ("(11) 98765", true, false),
            ("3333-4444", true, false),
            ("31 9", true, false),
            ("31 9a", false, false),
            ("reforma", false, true),
            ("DO SALAO", false, true),
            ("salão", false, true),
            ("104", false, true),
            ("042", false, true),
            ("98", true, true),
            ("azul", false, false),
            ("30303", false, false),
            ("flores", false, false),
            ("santos", false, false),
            ("Cor", false, false),
        ] {
            assert_eq!(finds(term, SearchBy::Lead), by_lead, "{term:?} by lead");
            assert_eq!(
                finds(term, SearchBy::Opportunity),
                by_opportunity,
                "{term:?} by opportunity"
            );
        }
    }

    #[test]
    fn an_opportunity_without_a_lead_is_only_found_by_itself() {
        let finds = |term, by| Search::new(term, by).unwrap().finds(&opportunity(), None);
        assert!(!finds("reforma", SearchBy::Lead));
        assert!(!finds("1", SearchBy::Lead));
        assert!(finds("reforma", SearchBy::Opportunity));
    }

    #[test]
    fn the_lead_is_searched_unless_said_otherwise() {
        assert_eq!(SearchBy::default(), SearchBy::Lead);
    }
}
