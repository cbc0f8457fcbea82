//! Search over opportunities (C-43): by their leads' names and contacts, or by title and id.

use crate::lead::Lead;
use crate::opportunity::Opportunity;
use crate::phone;
use crate::words::WordSearch;

/// Values of `searchBy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchBy {
    /// The lead's full name, e-mail, numbers and id.
    #[default]
    Lead,
    /// The opportunity's title and id.
    Opportunity,
}

/// A search over opportunities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Searched fields.
    pub by: SearchBy,
    /// The searched words.
    pub term: WordSearch,
}

impl Search {
    /// A search for a term; `None` for a blank term, which disables the search.
    #[must_use]
    pub fn new(term: &str, by: SearchBy) -> Option<Self> {
        WordSearch::new(term).map(|term| Self { by, term })
    }

    /// Whether it matches an opportunity and its lead.
    #[must_use]
    pub fn finds(&self, opportunity: &Opportunity, lead: Option<&Lead>) -> bool {
        match self.by {
            SearchBy::Lead => lead.is_some_and(|lead| {
                let fullname = lead.fullname();
                let name_and_email = (fullname.as_str(), lead.email.as_deref());
                let phones = lead.number_texts().flat_map(phone::read).map(|read| read.phone);
                self.term.finds_lead(lead.id, name_and_email, phones)
            }),
            SearchBy::Opportunity => self.term.finds_title(opportunity.id.get(), &opportunity.title),
        }
    }
}
