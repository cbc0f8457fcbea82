//! `POST /crm/opportunities/{id}`: endpoint 10.

use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use serde::Serialize;
use shared::http::{Refusal, Shape};
use shared::id::FunnelId;
use shared::scope::{Access, KeyInQuery, Scope};
use shared::store::{BoardStart, Reader, StoreError};

use crate::error::ListError;
use crate::view::{ColumnView, censor};
use crate::wire::{Asked, NewList};

/// The opportunities of a funnel that the key may see: a page of the column that `columnId` names, else every column with
/// its totals and its newest ones. Two round trips; what the first needs of the table is read beside the credential.
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
    let shown: Vec<_> = cards.iter().map(|card| card.view(scope.instance())).collect();
    Ok(json(&shown))
}

async fn board(scope: &Scope, asked: &Asked, start: BoardStart) -> Result<Response, StoreError> {
    let mut columns = scope
        .store
        .kanban(&scope.viewer, &asked.request, &asked.filter, start)
        .await?;
    censor(columns.iter_mut().flat_map(|column| &mut column.cards), scope);
    let shown = columns
        .iter()
        .map(|column| ColumnView::of(column, asked.request.funnel, scope.instance()));
    Ok(json(&shown.collect::<Vec<_>>()))
}

/// An answer of JSON. A board is written in some hundred thousand pieces, for which the buffer of `axum::Json` is slow.
fn json(shown: &impl Serialize) -> Response {
    match serde_json::to_vec(shown) {
        Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(cause) => {
            tracing::error!(%cause, "opportunities could not be written");
            Shape::Fixed.answer(&Refusal::Internal)
        }
    }
}
