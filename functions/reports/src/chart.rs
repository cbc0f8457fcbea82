//! `GET /reportchart/{id}`: endpoint 15.

use axum::Json;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use serde_json::{Value, json};
use shared::report::Range;
use shared::scope::{Access, KeyInQuery};
use shared::store::{Reader, Report, ReportRequest};

use crate::error::ReportsError;
use crate::wire::{permitted, request};

/// A report of some days, ready to plot (C-60). One round trip where it has a stored result; a report that is new or was
/// changed is computed.
pub async fn chart(
    access: Access<KeyInQuery>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, ReportsError> {
    let now = access.now();
    let wanted = request(access.params(), id.ok());
    let (scope, wanted, start) = access
        .without_colleagues()
        .open_for(wanted, async |reader: &Reader, wanted: &ReportRequest| {
            reader.begin_report(wanted, now).await
        })
        .await?;
    permitted(&scope.viewer)?;
    let zone = scope.viewer.directory().settings.zone();
    let today = zone.day_of(now);
    let range = Range::asked(wanted.from, wanted.to, today)?;
    match scope.store.finish_report(start?, range, zone).await? {
        None => Err(ReportsError::NotFound),
        Some(Report::Preparing) => Err(ReportsError::Preparing),
        Some(Report::TooLarge) => Err(ReportsError::TooLarge),
        Some(Report::Ready {
            definition,
            generated_at,
            plot,
        }) => Ok(Json(json!({ "data": { "report": {
            "id": definition.id,
            "name": definition.name,
            "type": definition.chart,
            "from": range.from,
            "to": range.to,
            "generatedAt": generated_at,
            "labels": plot.labels,
            "series": [{ "name": definition.name, "data": plot.data }],
            "total": plot.total,
        } } }))),
    }
}
