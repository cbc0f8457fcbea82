//! `GET /advancedreports`: endpoint 14.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{Authorized, KeyInQuery, Prefetch, SeeReports};
use shared::http::{RawRequest, RequestError};
use shared::report::Definition;
use shared::store::{Reader, StoreError};

/// All reports.
#[derive(Debug)]
pub struct ListReports;

impl Prefetch for ListReports {
    type Found = Vec<Definition>;
    type Error = RequestError;
    const NEEDS_COLLEAGUES: bool = false;

    fn parse(_: &RawRequest) -> Result<Self, RequestError> {
        Ok(Self)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.reports().await
    }
}

/// The reports by id (C-60, C-61). One round trip.
pub async fn list(request: Authorized<KeyInQuery, SeeReports, ListReports>) -> Json<Value> {
    let (_, _, found) = request.into_parts();
    let reports: Vec<_> = found.iter().map(view).collect();
    Json(json!({ "data": { "reports": reports } }))
}

fn view(report: &Definition) -> Value {
    json!({ "id": report.id, "name": report.name, "type": report.chart, "updateDate": report.update_date })
}
