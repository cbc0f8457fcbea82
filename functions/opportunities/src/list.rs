//! `POST /crm/opportunities/{id}`: endpoint 10.

use axum::response::{IntoResponse as _, Response};
use shared::auth::{AnyUser, KeyInQuery, Keyed, Scope};
use shared::http::{RawRequest, RequestError, bytes_of, json, json_that_fits, show_lower_bound};
use shared::ids::FunnelId;
use shared::opportunity::Filter;
use shared::store::{Found, OpportunitySnapshot, PrefetchedBoard, SnapshotList, StoreError};

use crate::error::ListError;
use crate::view::{ColumnView, censor};
use crate::wire::ListOpportunities;

/// Advice for a search, filter or far page over the read budget (C-86).
const OVER_BUDGET: &str = "filters: this would read more than read_budget allows, or for too long; narrow it by columnId, filterByStatus, filterByUsers or filterByCreateDate, or read the pages in their order";

impl ListOpportunities {
    fn parse(request: &RawRequest) -> Result<Self, ListError> {
        Self::read(&request.body, || request.id("funnel_id", FunnelId::parse))
    }
}

/// The visible opportunities of a funnel: a page of the column `columnId`, or else every column with its totals and
/// as many of its newest opportunities as fit. Two round trips.
pub async fn list(request: Keyed<KeyInQuery, AnyUser>) -> Result<Response, ListError> {
    let (query, reader, check) = request.parse(ListOpportunities::parse).await?;
    let (scope, found) = check.join(reader.begin_board(&query.request)).await?;
    let funnel = found.funnel().ok_or(ListError::Funnel(query.request.funnel))?;
    if !scope.viewer.sees_funnel(&funnel.access) {
        return Err(RequestError::Unauthorized.into());
    }
    let filter = query.filter(funnel, scope.viewer.directory().settings.zone())?;
    let answer = if query.request.column.is_some() {
        column(&scope, &query, &filter, found).await
    } else {
        board(&scope, &query, &filter, found).await
    };
    let (answer, is_partial) = answer.map_err(RequestError::over_budget(OVER_BUDGET))?;
    let mut answer = ([("x-filters-ignored", query.ignored.to_string())], answer).into_response();
    if is_partial {
        show_lower_bound(answer.headers_mut());
    }
    Ok(answer)
}

/// A page of one column.
async fn column(
    scope: &Scope,
    query: &ListOpportunities,
    filter: &Filter,
    found: PrefetchedBoard,
) -> Result<(Response, bool), StoreError> {
    let page = scope
        .store
        .column_page(&scope.viewer, &query.request, filter, found);
    let mut page = page.await?;
    censor(&mut page.found, scope);
    let answer = json(&SnapshotList::of(&page.found, scope.instance()));
    Ok((answer, page.is_partial))
}

/// All columns, cut to the maximum size of a response.
async fn board(
    scope: &Scope,
    query: &ListOpportunities,
    filter: &Filter,
    found: PrefetchedBoard,
) -> Result<(Response, bool), StoreError> {
    let columns = scope.store.kanban(&scope.viewer, &query.request, filter, found);
    let Found {
        found: mut columns,
        is_partial,
    } = columns.await?;
    censor(columns.iter_mut().flat_map(|column| &mut column.cards), scope);
    let (funnel, instance) = (query.request.funnel, scope.instance());
    let shown = |max_cards: usize| -> Vec<ColumnView<'_>> {
        let columns = columns.iter();
        columns
            .map(|column| ColumnView::of(column, max_cards, funnel, instance))
            .collect()
    };
    let size = |card: &OpportunitySnapshot| bytes_of(&SnapshotList::of(std::slice::from_ref(card), instance));
    let sizes = || {
        let columns = columns.iter();
        columns
            .map(|column| column.cards.iter().map(size).collect())
            .collect()
    };
    Ok((json_that_fits(shown, sizes), is_partial))
}
