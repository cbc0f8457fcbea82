//! The requested opportunities, and the columns that answer a board.

use std::collections::BTreeSet;

use crate::funnel::Column;
use crate::ids::{ColumnId, FunnelId, UserId};
use crate::opportunity::{Opportunity, Status};
use crate::store::CallerId;
use crate::store::lists::{CursorKey, NumberedPage};
use crate::store::opportunities::OpportunitySnapshot;

/// The requested opportunities, as far as lists and totals distinguish them.
#[derive(Debug, Clone)]
pub struct BoardRequest {
    /// The funnel.
    pub funnel: FunnelId,
    /// One column of the funnel, or all.
    pub column: Option<ColumnId>,
    /// Responsible users; `None` for all.
    pub users: Option<BTreeSet<UserId>>,
    /// Statuses; empty for all.
    pub statuses: BTreeSet<Status>,
    /// Whether archived opportunities are requested; otherwise the others.
    pub archived: bool,
    /// Whether there are further filters: dates, conditions or a search.
    pub filtered: bool,
    /// Whether there is a search.
    pub searched: bool,
    /// The page, in the instance's page base. Ignored for the board.
    pub page: u64,
    /// Opportunities on a page, or in each column of the board.
    pub limit: u16,
    /// Text of the request without its page. Pages with the same text are consecutive pages of one list.
    pub query: String,
}

impl BoardRequest {
    /// Whether an opportunity is in the requested funnel, and column if one is requested, and archived as requested.
    pub fn covers(&self, one: &Opportunity) -> bool {
        let is_in_column = self.column.is_none_or(|column| column == one.crm_column);
        is_in_column && one.crm_id == self.funnel && one.archived == self.archived
    }

    /// The requested page of the column.
    pub fn numbered(&self, caller: &CallerId) -> NumberedPage {
        NumberedPage {
            key: CursorKey::new(caller, &format!("opportunities {}", self.query)),
            number: Some(self.page),
        }
    }
}

/// A column of the board.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSnapshots {
    /// The column.
    pub column: Column,
    /// Number of opportunities that match and that the viewer sees.
    pub count: u64,
    /// Sum of their values, in cents.
    pub cents: i128,
    /// The newest of them.
    pub cards: Vec<OpportunitySnapshot>,
}
