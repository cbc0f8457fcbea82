//! Totals of a funnel's columns, without opportunities (C-96).

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::kanban::{CONCURRENCY, empty, empty_columns};
use super::lists::VisibleLists;
use super::totals::{Totals, TotalsSeen};
use super::{Asked, BoardRequest, ColumnSnapshots};
use crate::funnel::{Column, Funnel};
use crate::ids::FunnelId;
use crate::opportunity::Filter;
use crate::store::budget::ReadBudget;
use crate::store::{Reader, Writer};
use crate::viewer::Viewer;
use table::StoreError;

/// Prefetched reads of the totals of a funnel.
#[derive(Debug)]
pub struct PrefetchedTotals {
    /// The funnel, if there is one.
    pub funnel: Option<Funnel>,
    totals: Option<Totals>,
}

impl BoardRequest {
    /// A request for all opportunities of a funnel that are not archived.
    fn all_of(funnel: FunnelId) -> Self {
        Self {
            funnel,
            column: None,
            users: None,
            statuses: std::collections::BTreeSet::new(),
            archived: false,
            filtered: false,
            searched: false,
            page: 0,
            limit: 0,
            query: String::new(),
        }
    }
}

impl Reader {
    /// Prefetches a funnel and, in parallel with this get, the totals that the caller probably needs.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_column_totals(&self, funnel: FunnelId) -> Result<PrefetchedTotals, StoreError> {
        let request = BoardRequest::all_of(funnel);
        let hint = self.hints.of(&self.caller.credentials);
        let visible = VisibleLists::of(&hint, &request);
        let totals = async {
            match &visible {
                Some(visible) => self.board_totals(&request, None, visible).await.map(Some),
                None => Ok(None),
            }
        };
        let (funnel, totals) = tokio::try_join!(self.funnel(funnel), totals)?;
        Ok(PrefetchedTotals { funnel, totals })
    }
}

impl Writer {
    /// The columns of a funnel in their order, each with the totals that the viewer sees and without opportunities. No
    /// call if the hint was right and service permissions hide nothing from the viewer. If they may hide opportunities,
    /// a query of the restricted totals for each column, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if more must be read and cannot be.
    pub async fn column_totals(
        &self,
        viewer: &Viewer,
        funnel: &Funnel,
        start: &PrefetchedTotals,
    ) -> Result<Vec<ColumnSnapshots>, StoreError> {
        let request = BoardRequest::all_of(funnel.id);
        let Some(sight) = VisibleLists::of(&self.cache_access(viewer), &request) else {
            return Ok(empty_columns(Some(funnel)));
        };
        let filter = Filter::default();
        let asked = Asked::new((viewer, &request, &filter), sight);
        // The prefetched totals suffice if the hint was right.
        let prefetched = start.totals.as_ref().filter(|totals| totals.serve(&asked.sight));
        let totals = match prefetched {
            Some(totals) => totals,
            None => &self.reader.board_totals(&request, None, &asked.sight).await?,
        };
        let reads = funnel
            .columns_in_order()
            .into_iter()
            .map(|column| self.total_of(&asked, column, totals));
        let reads: Vec<_> = reads.collect();
        let in_order = stream::iter(reads).buffered(CONCURRENCY).try_collect();
        ReadBudget::in_time(in_order).await
    }

    /// A column with its visible total, without opportunities.
    async fn total_of(
        &self,
        asked: &Asked<'_>,
        column: &Column,
        totals: &Totals,
    ) -> Result<ColumnSnapshots, StoreError> {
        let TotalsSeen { mut sum, unclear } = totals.seen(asked, column.id);
        if unclear > 0 {
            sum.add(self.unclear_sum(asked, column).await?);
        }
        Ok(ColumnSnapshots {
            count: u64::try_from(sum.count).unwrap_or_default(),
            cents: sum.cents,
            ..empty(column)
        })
    }
}
