//! `GET /pcalendar`: endpoint 11.

use axum::Json;
use serde_json::{Value, json};
use shared::calendar::Calendar;
use shared::http::Params;
use shared::scope::{Access, KeyAnywhere};
use shared::selection::{Field, Selection, Shape};
use shared::store::Reader;
use shared::time::Timestamp;

use crate::error::CalendarError;

/// What `query` can select (spec.md, Calendar).
const ROOTS: &[Field] = &[Field {
    name: "calendars",
    shape: Shape::Object(&[
        Field::leaf("id"),
        Field::leaf("name"),
        Field::leaf("isPublished"),
        Field::leaf("createDate"),
        Field::leaf("userId"),
        Field::leaf("updateDate"),
        Field::leaf("publicId"),
        Field::leaf(NEXT),
    ]),
}];
const NEXT: &str = "nextMeeting";

/// The calendars by id, with all fields or those that `query` selects (C-50). One round trip where this process knows the
/// calendars, or where their next meetings are not asked for; else two.
pub async fn list(access: Access<KeyAnywhere>) -> Result<Json<Value>, CalendarError> {
    let (now, wanted) = (access.now(), selection(access.params()));
    let (scope, selection, start) = access
        .without_colleagues()
        .open_for(wanted, async |reader: &Reader, wanted: &Option<Selection>| {
            reader.begin_calendars(wants_next(wanted.as_ref()), now).await
        })
        .await?;
    let start = start?;
    if !scope.viewer.permissions().calendars {
        return Err(CalendarError::Permission);
    }
    let calendars = scope
        .store
        .finish_calendars(start, wants_next(selection.as_ref()), now)
        .await?;
    let calendars: Vec<_> = calendars
        .iter()
        .map(|(calendar, next)| view(calendar, *next))
        .collect();
    let data = json!({ "calendars": calendars });
    let data = selection.map_or(data.clone(), |selection| selection.project(&data));
    Ok(Json(json!({ "data": data })))
}

/// A blank `query` is absent (C-22).
fn selection(params: &Params) -> Result<Option<Selection>, CalendarError> {
    let query = params.one("query")?.filter(|query| !query.trim().is_empty());
    Ok(query.map(|query| Selection::parse(query, ROOTS)).transpose()?)
}

/// Whether next meetings have to be looked for.
fn wants_next(selection: Option<&Selection>) -> bool {
    let calendars = selection.map(|selection| selection.get("calendars"));
    calendars.is_none_or(|fields| fields.is_some_and(|fields| fields.contains(NEXT)))
}

fn view(calendar: &Calendar, next: Option<Timestamp>) -> Value {
    json!({
        "id": calendar.id,
        "name": calendar.name,
        "isPublished": calendar.is_published,
        "createDate": calendar.create_date,
        "userId": calendar.user_id,
        "updateDate": calendar.update_date,
        "publicId": calendar.public_id,
        NEXT: next,
    })
}
