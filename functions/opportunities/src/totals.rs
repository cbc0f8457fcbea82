//! `GET /crmfastloadv2/{id}` (C-96).

use axum::response::Response;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::http::{RawRequest, RequestError, json};
use shared::ids::FunnelId;

use crate::error::ListError;
use crate::view::TotalsView;

/// Advice if restricted totals take too long to read (C-86).
const OVER_BUDGET: &str = "funnel_id: reading its totals took longer than 15 s; try again later";

/// The totals of a funnel.
#[derive(Debug)]
pub struct ListTotals {
    funnel: FunnelId,
}

impl ListTotals {
    fn parse(request: &RawRequest) -> Result<Self, ListError> {
        let funnel = request.id("funnel_id", FunnelId::parse)?;
        Ok(Self { funnel })
    }
}

/// The columns of a funnel with the totals of endpoint 10's board, with the same errors for an unknown or hidden
/// funnel. One round trip. One more for a viewer from whom service permissions may hide opportunities, and for the
/// first request of a viewer who does not see all opportunities.
pub async fn list(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, ListError> {
    let (query, reader, check) = request.parse(ListTotals::parse).await?;
    let (scope, found) = check.join(reader.begin_column_totals(query.funnel)).await?;
    let funnel = found.funnel.as_ref().ok_or(ListError::Funnel(query.funnel))?;
    if !scope.viewer.sees_funnel(&funnel.access) {
        return Err(RequestError::Unauthorized.into());
    }
    let columns = scope.store.column_totals(&scope.viewer, funnel, &found).await;
    let columns = columns.map_err(RequestError::over_budget(OVER_BUDGET))?;
    let views: Vec<_> = columns
        .iter()
        .map(|column| TotalsView::of(column, funnel.id))
        .collect();
    Ok(json(&views))
}
