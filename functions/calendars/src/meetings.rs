//! `GET /calendarmeeting/{id}`: endpoint 12.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use serde_json::json;
use shared::calendar::LinkName;
use shared::http::{Params, bytes_of, json_that_fits};
use shared::scope::{Access, KeyAnywhere};
use shared::store::{MeetingRequest, Reader};
use shared::time::Timestamp;

use crate::error::CalendarError;
use crate::wire::time;

/// The meetings of a calendar from a time on, by start, and how many there are (C-51). One round trip for the first page of a
/// calendar named by its id, two for a later one; one more for a calendar named by its `publicId`, and one for forms of more than
/// 1 KB. Of a page that is larger than an answer may be the first meetings are shown that fit.
pub async fn meetings(
    access: Access<KeyAnywhere>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, CalendarError> {
    let wanted = read(access.params(), id.ok(), access.now());
    let (scope, wanted, start) = access
        .without_colleagues()
        .open_for(wanted, async |reader: &Reader, wanted: &MeetingRequest| {
            reader.begin_meetings(wanted).await
        })
        .await?;
    let start = start?;
    if !scope.viewer.permissions().calendars {
        return Err(CalendarError::Permission);
    }
    let page = scope.store.finish_meetings(start, &wanted).await?;
    let page = page.ok_or(CalendarError::NotFound)?;
    let shown = |most: usize| {
        let meetings = page.meetings.get(..most).unwrap_or(&page.meetings);
        json!({ "data": { "total": page.total, "meetings": meetings } })
    };
    let sizes = || vec![page.meetings.iter().map(bytes_of).collect()];
    Ok(json_that_fits(shown, sizes))
}

/// A path that is not UTF-8 names no calendar either.
fn read(
    params: &Params,
    calendar: Option<Path<String>>,
    now: Timestamp,
) -> Result<MeetingRequest, CalendarError> {
    let calendar = calendar.and_then(|Path(name)| LinkName::parse(&name));
    Ok(MeetingRequest {
        calendar: calendar.ok_or(CalendarError::Id)?,
        from: time(params, "from")?.unwrap_or(now),
        page: params.whole("page")?.unwrap_or(0),
        limit: params.limit(50, 100, "must be a whole number from 1 to 100")?,
    })
}
