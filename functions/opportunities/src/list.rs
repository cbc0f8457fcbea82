//! `POST /crm/opportunities/{id}`: endpoint 10.

use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::{IntoResponse as _, Response};
use shared::http::{bytes_of, json, json_that_fits};
use shared::id::FunnelId;
use shared::scope::{Access, KeyInQuery, Scope};
use shared::store::{BoardStart, Card, CardList, Reader, StoreError};

use crate::error::ListError;
use crate::view::{ColumnView, censor};
use crate::wire::{Asked, NewList};

/// The opportunities of a funnel that the key may see: a page of the column that `columnId` names, else every column with
/// its totals and its newest ones, as many as an answer has room for. Two round trips; what the first needs of the table is read
/// beside the credential.
pub async fn list(
    access: Access<KeyInQuery>,
    id: Result<Path<String>, PathRejection>,
    body: Bytes,
) -> Result<Response, ListError> {
    let id = id.ok().and_then(|Path(id)| FunnelId::parse(&id));
    let wanted = NewList::read(&body, id, access.walker(), access.client());
    let (scope, wanted, start) = access.open_for(wanted, begin).await?;
    let start = start?;
    let funnel = start.funnel().ok_or(ListError::Funnel(wanted.request.funnel))?;
    if !scope.viewer.sees_funnel(&funnel.access) {
        return Err(ListError::Permission);
    }
    let asked = wanted.of_funnel(funnel, scope.viewer.directory().settings.zone())?;
    let answer = if asked.request.column.is_some() {
        column(&scope, &asked, start).await?
    } else {
        board(&scope, &asked, start).await?
    };
    Ok(([("x-filters-ignored", asked.ignored.to_string())], answer).into_response())
}

async fn begin(reader: &Reader, wanted: &NewList) -> Result<BoardStart, StoreError> {
    reader.begin_board(&wanted.request).await
}

async fn column(scope: &Scope, asked: &Asked, start: BoardStart) -> Result<Response, StoreError> {
    let mut cards = scope
        .store
        .column_page(&scope.viewer, &asked.request, &asked.filter, start)
        .await?;
    censor(&mut cards, scope);
    Ok(json(&CardList::of(&cards, scope.instance())))
}

async fn board(scope: &Scope, asked: &Asked, start: BoardStart) -> Result<Response, StoreError> {
    let mut columns = scope
        .store
        .kanban(&scope.viewer, &asked.request, &asked.filter, start)
        .await?;
    censor(columns.iter_mut().flat_map(|column| &mut column.cards), scope);
    let shown = |most: usize| {
        let columns = columns.iter();
        let shown =
            columns.map(|column| ColumnView::of(column, most, asked.request.funnel, scope.instance()));
        shown.collect::<Vec<_>>()
    };
    let size = |card: &Card| bytes_of(&CardList::of(std::slice::from_ref(card), scope.instance()));
    let sizes = || {
        columns
            .iter()
            .map(|column| column.cards.iter().map(size).collect())
    };
    Ok(json_that_fits(shown, || sizes().collect()))
}
