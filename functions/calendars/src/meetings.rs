//! `GET /calendarmeeting/{id}`: endpoint 12.

use axum::response::Response;
use serde_json::json;
use shared::auth::{KeyAnywhere, Keyed, SeeCalendars};
use shared::calendar::LinkName;
use shared::http::{InvalidField, RawRequest, RequestError, bytes_of, json_that_fits};
use shared::store::MeetingRequest;

use crate::wire::time;

const MUST_BE_CALENDAR: &str = "must be an id or a publicId: 1 to 64 characters of A-Z, a-z, 0-9, _ and -";

/// A page of a calendar's meetings.
fn page(request: &RawRequest) -> Result<MeetingRequest, RequestError> {
    let (params, calendar) = (&request.params, request.path.as_deref());
    let calendar = calendar.and_then(LinkName::parse);
    Ok(MeetingRequest {
        calendar: calendar.ok_or(InvalidField::new("calendar_id", MUST_BE_CALENDAR))?,
        from: time(params, "from")?.unwrap_or(request.now),
        page: params.whole("page")?.unwrap_or(0),
        limit: params
            .limit(100, "must be a whole number from 1 to 100")?
            .unwrap_or(50),
    })
}

/// The meetings of a calendar from a time on, ordered by start, and their number (C-51). One round trip for the first
/// page of a calendar named by its id, two for a later page; one more for a `publicId`, and one for forms over 1 KB.
/// A page that exceeds the response limit is cut.
pub async fn meetings(request: Keyed<KeyAnywhere, SeeCalendars>) -> Result<Response, RequestError> {
    let (query, reader, check) = request.parse(page).await?;
    let (scope, found) = check.join(reader.begin_meetings(&query)).await?;
    let page = scope.store.reader().finish_meetings(found, &query).await?;
    let page = page.ok_or(RequestError::NotFound)?;
    let shown = |max: usize| {
        let meetings = page.meetings.get(..max).unwrap_or(&page.meetings);
        json!({ "data": { "total": page.total, "meetings": meetings } })
    };
    let sizes = || vec![page.meetings.iter().map(bytes_of).collect()];
    Ok(json_that_fits(shown, sizes))
}
