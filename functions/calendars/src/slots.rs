//! `GET /calendarmeeting/slots`: the free times of a calendar.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{LinkQuery, Public, PublicLink, SlotsEndpoint};
use shared::calendar::LinkName;
use shared::http::{InvalidField, RawRequest, RequestError};
use shared::ids::MeetingId;
use shared::store::SlotsRequest;
use shared::time::Timestamp;

use crate::error::BookingError;
use crate::wire::{MUST_BE_LINK, time};

/// Maximum span of a request in days, and the span if `to` is absent.
const MAX_DAYS: u32 = 62;

/// Start times from `from` until before `to`, and the meeting that the caller can move.
#[derive(Debug)]
pub struct ListSlots {
    request: SlotsRequest,
    /// The key of the meeting; blank if it was not sent.
    reschedule_key: String,
    now: Timestamp,
}

impl LinkQuery for ListSlots {
    type Error = BookingError;

    fn link(&self) -> PublicLink {
        PublicLink {
            name: self.request.link.clone(),
            may_be_inactive: self.shows_meeting(),
        }
    }

    fn refused(&self, error: RequestError) -> BookingError {
        BookingError::refused(error, self.shows_meeting())
    }

    /// Parses `keyName`, `from` (default: now), `to` (default: the maximum), `meetingId` and `rescheduleKey`.
    fn parse(request: &RawRequest) -> Result<Self, BookingError> {
        let (params, now) = (&request.params, request.now);
        let link = params
            .filled("keyName")?
            .ok_or(InvalidField::new("keyName", MUST_BE_LINK))?;
        let from = time(params, "from")?.unwrap_or(now);
        let latest = from.plus_days(MAX_DAYS);
        let to = time(params, "to")?.unwrap_or(latest);
        if to < from {
            return Err(InvalidField::new("from", "must not be after to").into());
        }
        if to > latest {
            return Err(InvalidField::new("to", "must be at most 62 days after from").into());
        }
        let (meeting, key) = (params.filled("meetingId")?, params.filled("rescheduleKey")?);
        let shows_meeting = meeting.is_some() || key.is_some();
        let meeting = meeting.and_then(|id| MeetingId::new(id.parse().ok()?));
        Ok(Self {
            request: SlotsRequest {
                link: LinkName::parse(link).ok_or(BookingError::unknown(shows_meeting))?,
                // Past times cannot be booked, so they are not read.
                from: from.max(now),
                to: to.max(now),
                meeting: shows_meeting.then_some(meeting),
            },
            reschedule_key: key.unwrap_or_default().to_owned(),
            now,
        })
    }
}

impl ListSlots {
    fn shows_meeting(&self) -> bool {
        self.request.meeting.is_some()
    }
}

/// The bookable start times in order: exactly those that endpoint 13 accepts until something changes. With the key of a
/// meeting also the meeting, for an inactive calendar without times (C-55). One round trip if this process knows the
/// link, otherwise two.
pub async fn slots(request: Public<SlotsEndpoint>) -> Result<Json<Value>, BookingError> {
    let (query, reader, check) = request.parse_link::<ListSlots>().await?;
    let checked = check.join(reader.begin_slots(&query.request)).await;
    let (mut scope, found) = checked.map_err(|refused| query.refused(refused))?;
    let ListSlots { request, now, .. } = &query;
    let calendar = scope.calendar.take();
    let calendar = calendar.ok_or(BookingError::unknown(query.shows_meeting()))?;
    let meeting = if query.shows_meeting() {
        let admitted = found.proof.admits(&calendar, &query.reschedule_key);
        Some(admitted.ok_or(BookingError::RescheduleKey)?.value.clone())
    } else {
        None
    };
    let reader = scope.store.reader();
    let occupancy = reader.finish_slots(found, &calendar, request).await?;
    if occupancy.is_none() && meeting.is_none() {
        return Err(BookingError::NoCalendar);
    }
    scope.show_limit();
    let slots = occupancy.map_or_else(Vec::new, |occupancy| {
        let taken = occupancy.busy_times(&calendar, None);
        calendar.starts(request.from..request.to, *now, &taken)
    });
    let shown = json!({
        "name": calendar.name, "company": calendar.company, "host": calendar.host,
        "durationMinutes": calendar.duration_minutes,
    });
    let mut data = json!({ "slots": slots, "timezone": calendar.timezone, "calendar": shown });
    if let Some(meeting) = meeting {
        data["meeting"] = json!({ "date": meeting.date, "status": meeting.status, "moves": meeting.moves });
    }
    Ok(Json(json!({ "data": data })))
}
