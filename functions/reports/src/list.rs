//! `GET /advancedreports`: endpoint 14.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{KeyInQuery, Keyed, SeeReports};
use shared::http::RequestError;
use shared::report::Definition;

/// The reports by id (C-60, C-61). One round trip.
pub async fn list(request: Keyed<KeyInQuery, SeeReports>) -> Result<Json<Value>, RequestError> {
    let (reader, check) = request.without_query().await?;
    let (_, found) = check.join(reader.reports()).await?;
    let reports: Vec<_> = found.iter().map(view).collect();
    Ok(Json(json!({ "data": { "reports": reports } })))
}

fn view(report: &Definition) -> Value {
    json!({ "id": report.id, "name": report.name, "type": report.chart, "updateDate": report.update_date })
}
