//! What requests for reports hold, and whom they may be answered.

use axum::extract::Path;
use shared::directory::Viewer;
use shared::http::{BadParameter, Params};
use shared::id::ReportId;
use shared::report::Range;
use shared::store::ReportRequest;
use shared::time::Day;

use crate::error::ReportsError;

/// The report and the days that are asked for. Where both days are given they are judged at once; where one is not, it
/// depends on the instance's zone. A path that is not UTF-8 names no report either.
pub fn request(params: &Params, id: Option<Path<String>>) -> Result<ReportRequest, ReportsError> {
    let id = id.and_then(|Path(id)| ReportId::parse(&id));
    let id = id.ok_or(ReportsError::Id)?;
    let (from, to) = (day(params, "from")?, day(params, "to")?);
    if let Some((from, to)) = from.zip(to) {
        Range::new(from, to)?;
    }
    Ok(ReportRequest { id, from, to })
}

/// A parameter that is a day; `None` where it is absent or blank.
fn day(params: &Params, name: &'static str) -> Result<Option<Day>, BadParameter> {
    let Some(text) = params.filled(name)? else {
        return Ok(None);
    };
    let must = BadParameter(name, "must be a date such as 2026-11-21");
    Day::parse(text).map(Some).ok_or(must)
}

/// Requires the permission to see reports (C-82).
pub fn permitted(viewer: &Viewer) -> Result<(), ReportsError> {
    let may = viewer.permissions().reports;
    may.then_some(()).ok_or(ReportsError::Permission)
}
