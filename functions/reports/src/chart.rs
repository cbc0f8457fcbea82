//! `GET /reportchart/{id}`: endpoint 15.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{KeyInQuery, Keyed, SeeReports};
use shared::http::{InvalidField, RawRequest, RequestError};
use shared::ids::ReportId;
use shared::report::Range;
use shared::store::{Report, ReportRequest};
use shared::time::{Day, Timestamp};

/// A report and its date range.
#[derive(Debug)]
pub struct PlotReport {
    report: ReportRequest,
    now: Timestamp,
}

impl PlotReport {
    /// Two given days are compared here; an absent one depends on the instance's time zone.
    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        let id = request.id("report_id", ReportId::parse)?;
        let day = |name| {
            let rule = "must be a date such as 2026-11-21";
            request.params.parsed(name, rule, Day::parse)
        };
        let (from, to) = (day("from")?, day("to")?);
        if let Some((from, to)) = from.zip(to) {
            Range::new(from, to).map_err(RequestError::invalid)?;
        }
        let report = ReportRequest { id, from, to };
        Ok(Self {
            report,
            now: request.now,
        })
    }
}

/// A report over a date range, ready to plot (C-60). One round trip if a result is stored; a new or changed report is
/// computed.
pub async fn chart(request: Keyed<KeyInQuery, SeeReports>) -> Result<Json<Value>, RequestError> {
    let (query, reader, check) = request.parse(PlotReport::parse).await?;
    let (scope, found) = check.join(reader.begin_report(&query.report, query.now)).await?;
    let zone = scope.viewer.directory().settings.zone();
    let today = zone.day_of(query.now);
    let range = Range::requested(query.report.from, query.report.to, today);
    let range = range.map_err(RequestError::invalid)?;
    let refused = |rule| Err(InvalidField::new("report_id", rule).into());
    match scope.store.finish_report(found, range, zone).await? {
        None => Err(RequestError::NotFound),
        Some(Report::Preparing) => refused("the report is being prepared; try again in 5 minutes"),
        Some(Report::TooLarge) => refused("the report has too many groups; its definition must filter them"),
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
