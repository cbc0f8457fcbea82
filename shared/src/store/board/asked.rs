//! A checked request for opportunities.

use super::lists::VisibleLists;
use super::request::BoardRequest;
use crate::lead::Lead;
use crate::opportunity::{Filter, Opportunity, SearchBy};
use crate::store::budget::ReadBudget;
use crate::store::opportunities::BoardClass;
use crate::viewer::Viewer;

/// A request with its viewer, filter, visible lists and read budget.
pub(crate) struct Asked<'a> {
    pub viewer: &'a Viewer,
    pub request: &'a BoardRequest,
    pub filter: &'a Filter,
    pub sight: VisibleLists,
    pub budget: ReadBudget,
}

impl<'a> Asked<'a> {
    pub fn new(
        (viewer, request, filter): (&'a Viewer, &'a BoardRequest, &'a Filter),
        sight: VisibleLists,
    ) -> Self {
        let budget = if request.searched {
            ReadBudget::of_search(viewer)
        } else {
            ReadBudget::of(viewer)
        };
        Self {
            viewer,
            request,
            filter,
            sight,
            budget,
        }
    }

    /// Whether the opportunities of a class are requested and visible, as far as the class determines it.
    pub fn takes(&self, class: &BoardClass) -> bool {
        self.sight.covers(class.user, class.status)
            && self
                .viewer
                .sees_opportunity(class.user, class.status, &class.restriction)
    }

    /// Whether an opportunity is requested, visible and passes the filter.
    pub fn admits(&self, opportunity: &Opportunity, lead: Option<&Lead>) -> bool {
        self.takes(&BoardClass::of(opportunity)) && self.filter.admits(opportunity, lead)
    }

    /// Whether the filter compares the copy of the lead.
    pub fn compares_leads(&self) -> bool {
        let search = self.filter.search.as_ref();
        search.is_some_and(|search| search.by == SearchBy::Lead)
    }
}
