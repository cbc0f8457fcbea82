//! `GET /pcalendar`: endpoint 11.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{KeyAnywhere, Keyed, SeeCalendars};
use shared::calendar::Calendar;
use shared::http::query::selection::{Field, FieldShape, Selection};
use shared::http::{RawRequest, RequestError};
use shared::time::Timestamp;

/// Fields that `query` can select (spec.md, Calendar).
const ROOTS: &[Field] = &[Field {
    name: "calendars",
    shape: FieldShape::Object(&[
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

/// The calendars, with all fields or those selected by `query`.
#[derive(Debug)]
pub struct ListCalendars {
    selection: Option<Selection>,
    now: Timestamp,
}

impl ListCalendars {
    /// Whether next meetings are needed.
    fn shows_next(&self) -> bool {
        let Some(selection) = &self.selection else {
            return true;
        };
        let calendars = selection.get("calendars");
        calendars.is_some_and(|fields| fields.contains(NEXT))
    }

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        let selection = request.params.selection(ROOTS)?;
        Ok(Self {
            selection,
            now: request.now,
        })
    }
}

/// The calendars by id (C-50). One round trip if this process knows the calendars, or if their next meetings are not
/// selected; otherwise two.
pub async fn list(request: Keyed<KeyAnywhere, SeeCalendars>) -> Result<Json<Value>, RequestError> {
    let (query, reader, check) = request.parse(ListCalendars::parse).await?;
    let (scope, found) = check
        .join(reader.begin_calendars(query.shows_next(), query.now))
        .await?;
    let calendars = scope
        .store
        .reader()
        .finish_calendars(found, query.shows_next(), query.now)
        .await?;
    let calendars: Vec<_> = calendars
        .iter()
        .map(|(calendar, next)| view(calendar, *next))
        .collect();
    let mut data = json!({ "calendars": calendars });
    if let Some(selection) = query.selection {
        data = selection.project(&data);
    }
    Ok(Json(json!({ "data": data })))
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
