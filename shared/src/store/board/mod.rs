//! The opportunities of a funnel (endpoint 10): pages of a column, and the board of all columns.
//!
//! Each opportunity has an entry in four lists of its column, newest first (C-42): of all, of its status, of its user,
//! and of both. So a request for at most one user and one status is one query of exactly the requested entries. For
//! more users or statuses the lists are merged, or a wider list is filtered if many of its entries are requested.
//! Totals and daily counts determine the numbers of columns. For filters that need the record, such as expected closing
//! dates and custom fields, each entry is read once. Items of words answer a search.
//!
//! Reads begin in parallel with authentication, with a [hint](super::prefetch_cache) of the caller's permissions.

mod asked;
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
mod request;
mod search;
mod start;
mod totals;
mod walk;

use super::opportunities::OpportunitySnapshot;
use super::{Reader, Writer};
use crate::opportunity::Filter;
use crate::viewer::Viewer;
use table::StoreError;

pub use column_totals::PrefetchedTotals;
pub use request::{BoardRequest, ColumnSnapshots};
pub use start::PrefetchedBoard;

use asked::Asked;
use kanban::empty_columns;
use lists::VisibleLists;

/// The result of a request.
#[derive(Debug)]
pub struct Found<T> {
    /// The opportunities, or the columns.
    pub found: Vec<T>,
    /// Whether a search answers only the hits that its budget allowed, so that numbers are lower bounds (C-43).
    pub is_partial: bool,
}

impl<T> Found<T> {
    /// The result of a request that read all that it was to read.
    fn whole(found: Vec<T>) -> Self {
        let is_partial = false;
        Self { found, is_partial }
    }

    /// The result of a request whose reads have ended.
    fn of(found: Vec<T>, asked: &Asked<'_>) -> Self {
        let is_partial = asked.budget.is_partial();
        Self { found, is_partial }
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
}
