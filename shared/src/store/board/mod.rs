//! The opportunities of a funnel (endpoint 10): pages of a column, and the board of all columns.
//!
//! Each opportunity has an entry in four lists of its column, newest first (C-42): of all, of its status, of its user,
//! and of both. So a request for at most one user and one status is one query of exactly the requested entries. For
//! more users or statuses the lists are merged, or a wider list is filtered if many of its entries are requested.
//! Totals and daily counts determine the numbers of columns. For filters that need the record, such as expected closing
//! dates and custom fields, each entry is read once. Items of words answer a search.
//!
//! Reads begin in parallel with authentication, with a [hint](super::prefetch_cache) of the caller's permissions.

mod column;
mod column_totals;
mod day_sums;
mod days;
mod hit;
mod kanban;
mod lists;
mod locate;
mod plan;
mod rank;
mod search;
mod totals;
mod walk;

use std::collections::BTreeSet;

use super::budget::ReadBudget;
use super::leads::stale_markers::StaleMarkers;
use super::opportunities::{BoardClass, OpportunitySnapshot};
use super::page_cursor::CursorKey;
use super::prefetch_cache::PrefetchHint;
use super::{CallerId, Reader, Writer};
use crate::funnel::{Column, Funnel};
use crate::ids::{ColumnId, FunnelId, UserId};
use crate::lead::Lead;
use crate::opportunity::{Filter, Opportunity, SearchBy, Status};
use crate::viewer::Viewer;
use table::StoreError;

pub use column_totals::PrefetchedTotals;

use column::PrefetchedColumn;
use kanban::empty_columns;
use lists::VisibleLists;
use totals::{Totals, TotalsSeen};

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

/// Reads that run in parallel with authentication.
#[derive(Debug)]
pub struct PrefetchedBoard {
    funnel: Option<Funnel>,
    markers: StaleMarkers,
    /// The totals that a caller with the hint needs.
    totals: Option<Totals>,
    column: Option<PrefetchedColumn>,
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

/// The result of a request.
#[derive(Debug)]
pub struct Found<T> {
    /// The opportunities, or the columns.
    pub found: Vec<T>,
    /// Whether a search answers only the hits that its budget allowed, so that numbers are lower bounds (C-43).
    pub is_partial: bool,
}

impl<T> Found<T> {
    fn whole(found: Vec<T>) -> Self {
        let is_partial = false;
        Self { found, is_partial }
    }

    fn of(found: Vec<T>, asked: &Asked<'_>) -> Self {
        let is_partial = asked.budget.is_partial();
        Self { found, is_partial }
    }
}

impl PrefetchedBoard {
    /// The funnel, if there is one.
    #[must_use]
    pub fn funnel(&self) -> Option<&Funnel> {
        self.funnel.as_ref()
    }
}

impl BoardRequest {
    /// Whether an opportunity is in the requested funnel, and column if one is requested, and archived as requested.
    fn covers(&self, one: &Opportunity) -> bool {
        let is_in_column = self.column.is_none_or(|column| column == one.crm_column);
        is_in_column && one.crm_id == self.funnel && one.archived == self.archived
    }

    /// The key of the cursors of the request's pages.
    fn cursor_key(&self, caller: &CallerId) -> CursorKey {
        CursorKey::new(caller, &format!("opportunities {}", self.query))
    }
}

impl Reader {
    /// Prefetches a page or board according to the hint about the caller. One round trip.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_board(&self, request: &BoardRequest) -> Result<PrefetchedBoard, StoreError> {
        let hint = self.hints.of(&self.caller.credentials);
        let visible = VisibleLists::of(&hint, request);
        let column = async {
            match request.column {
                Some(column) => self
                    .begin_column(request, column, &hint, visible.as_ref())
                    .await
                    .map(Some),
                None => Ok(None),
            }
        };
        let totals = async {
            let Some(visible) = &visible else { return Ok(None) };
            // A single list of a column is read without totals, unless a search compares its cost.
            if request.column.is_some() && visible.lists() <= 1 && !request.searched {
                return Ok(None);
            }
            self.board_totals(request, request.column, visible)
                .await
                .map(Some)
        };
        let (funnel, markers, column, totals) =
            tokio::try_join!(self.funnel(request.funnel), self.stale_markers(), column, totals)?;
        Ok(PrefetchedBoard {
            funnel,
            markers,
            totals,
            column,
        })
    }
}

impl Writer {
    /// A page of one column, newest first.
    ///
    /// # Errors
    /// [`StoreError`] if more must be read and cannot be.
    pub async fn column_page(
        &self,
        viewer: &Viewer,
        request: &BoardRequest,
        filter: &Filter,
        start: PrefetchedBoard,
    ) -> Result<Found<OpportunitySnapshot>, StoreError> {
        let access = self.cache_access(viewer);
        let (Some(sight), Some(column)) = (VisibleLists::of(&access, request), request.column) else {
            return Ok(Found::whole(Vec::new()));
        };
        let asked = Asked::new((viewer, request, filter), sight);
        let found = self.finish_column(&asked, column, &access, start).await?;
        Ok(Found::of(found, &asked))
    }

    /// All columns of the funnel in their order, each with its totals and its newest opportunities (C-45).
    ///
    /// # Errors
    /// [`StoreError`] if more must be read and cannot be.
    pub async fn kanban(
        &self,
        viewer: &Viewer,
        request: &BoardRequest,
        filter: &Filter,
        start: PrefetchedBoard,
    ) -> Result<Found<ColumnSnapshots>, StoreError> {
        let access = self.cache_access(viewer);
        let Some(sight) = VisibleLists::of(&access, request) else {
            return Ok(Found::whole(empty_columns(start.funnel())));
        };
        let asked = Asked::new((viewer, request, filter), sight);
        let found = self.finish_kanban(&asked, start).await?;
        Ok(Found::of(found, &asked))
    }

    /// The viewer's permissions and settings. Caches them as the hint for the caller's next request.
    fn cache_access(&self, viewer: &Viewer) -> PrefetchHint {
        let access = PrefetchHint::of(viewer);
        self.reader
            .hints
            .cache_caller(&self.reader.caller.credentials, access.clone());
        access
    }
}

/// A request with its viewer, filter, visible lists and read budget.
pub(crate) struct Asked<'a> {
    viewer: &'a Viewer,
    request: &'a BoardRequest,
    filter: &'a Filter,
    sight: VisibleLists,
    budget: ReadBudget,
}

impl<'a> Asked<'a> {
    fn new(
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
    fn takes(&self, class: &BoardClass) -> bool {
        self.sight.covers(class.user, class.status)
            && self
                .viewer
                .sees_opportunity(class.user, class.status, &class.restriction)
    }

    /// Maximum number of visible opportunities of a column, before filters that need the records: those that are surely
    /// visible, and the restricted ones.
    fn most(&self, column: ColumnId, totals: &Totals) -> u64 {
        let TotalsSeen { sum, unclear } = totals.seen(self, column);
        u64::try_from(sum.count + unclear).unwrap_or_default()
    }

    /// Whether an opportunity is requested, visible and passes the filter.
    fn admits(&self, opportunity: &Opportunity, lead: Option<&Lead>) -> bool {
        self.takes(&BoardClass::of(opportunity)) && self.filter.admits(opportunity, lead)
    }

    /// Whether the filter compares the copy of the lead.
    fn compares_leads(&self) -> bool {
        let search = self.filter.search.as_ref();
        search.is_some_and(|search| search.by == SearchBy::Lead)
    }
}
