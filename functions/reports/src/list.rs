//! `GET /advancedreports`: endpoint 14.

use axum::Json;
use serde_json::{Value, json};
use shared::report::Definition;
use shared::scope::{Access, KeyInQuery};
use shared::store::Reader;

use crate::error::ReportsError;
use crate::wire::permitted;

/// The reports by id (C-60, C-61). One round trip: they are read beside the credential.
pub async fn list(access: Access<KeyInQuery>) -> Result<Json<Value>, ReportsError> {
    let read = async |reader: &Reader, (): &()| reader.reports().await;
    let (scope, (), reports) = access
        .without_colleagues()
        .open_for(Ok::<_, ReportsError>(()), read)
        .await?;
    permitted(&scope.viewer)?;
    let reports: Vec<_> = reports?.iter().map(view).collect();
    Ok(Json(json!({ "data": { "reports": reports } })))
}

fn view(report: &Definition) -> Value {
    json!({ "id": report.id, "name": report.name, "type": report.chart, "updateDate": report.update_date })
}
