//! `GET /calendarmeeting/slots`: when a meeting can be booked.

use axum::Json;
use serde_json::{Value, json};
use shared::calendar::LinkName;
use shared::http::Params;
use shared::scope::PublicAccess;
use shared::store::{PublicRoute, Reader};
use shared::time::Timestamp;

use crate::error::BookingError;
use crate::wire::time;

/// The most days that are told at once, and the days that are told where nothing else is asked for.
const MOST_DAYS: u32 = 62;

/// What a request asks for.
struct Wanted {
    link: LinkName,
    from: Timestamp,
    to: Timestamp,
}

/// The starts from `from` until before `to` that can be booked, in order: exactly those that endpoint 13 accepts while
/// nothing else has changed. One round trip where this process knows the link, else two.
pub async fn slots(access: PublicAccess) -> Result<Json<Value>, BookingError> {
    let now = access.now();
    let wanted = Wanted::read(access.params(), now);
    let (scope, Wanted { from, to, .. }, start) = access
        .open_for(
            PublicRoute::Slots,
            wanted,
            async |reader: &Reader, wanted: &Wanted| {
                reader.begin_slots(&wanted.link, wanted.from, wanted.to).await
            },
        )
        .await?;
    let (calendar, agenda) = start?.published().ok_or(BookingError::NoCalendar)?;
    scope.show_limit();
    let agenda = scope.store.finish_slots(agenda, &calendar, from, to).await?;
    let slots = calendar.starts(from..to, now, &agenda.taken(None));
    Ok(Json(
        json!({ "data": { "slots": slots, "timezone": calendar.timezone } }),
    ))
}

impl Wanted {
    /// Reads `keyName`, `from` (now) and `to` (as late as can be).
    fn read(params: &Params, now: Timestamp) -> Result<Self, BookingError> {
        let link = params.one("keyName")?.filter(|link| !link.trim().is_empty());
        let link = link.ok_or_else(|| {
            BookingError::field("keyName", "must be the last segment of the calendar's link")
        })?;
        let from = time(params, "from")?.unwrap_or(now);
        let latest = from.plus_days(MOST_DAYS);
        let to = time(params, "to")?.unwrap_or(latest);
        if to < from {
            return Err(BookingError::field("from", "must not be after to"));
        }
        if to > latest {
            return Err(BookingError::field("to", "must be at most 62 days after from"));
        }
        // What is past cannot be booked, so nothing is read for it.
        let (from, to) = (from.max(now), to.max(now));
        let link = LinkName::parse(link).ok_or(BookingError::NoCalendar)?;
        Ok(Self { link, from, to })
    }
}
