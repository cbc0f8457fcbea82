//! `GET /calendarmeeting/slots`: the free times of a calendar.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{Prefetch, Public, SlotsEndpoint};
use shared::calendar::LinkName;
use shared::http::{InvalidField, RawRequest};
use shared::store::{PrefetchedSlots, Reader, StoreError};
use shared::time::Timestamp;

use crate::error::BookingError;
use crate::wire::{MUST_BE_LINK, time};

/// Maximum span of a request in days, and the span if `to` is absent.
const MAX_DAYS: u32 = 62;

/// Start times from `from` until before `to`.
#[derive(Debug)]
pub struct ListSlots {
    link: LinkName,
    from: Timestamp,
    to: Timestamp,
    now: Timestamp,
}

impl Prefetch for ListSlots {
    type Found = PrefetchedSlots;
    type Error = BookingError;

    /// Parses `keyName`, `from` (default: now) and `to` (default: the maximum).
    fn parse(request: &RawRequest) -> Result<Self, BookingError> {
        let (params, now) = (&request.params, request.now);
        let link = params.one("keyName")?.filter(|link| !link.trim().is_empty());
        let link = link.ok_or(InvalidField::new("keyName", MUST_BE_LINK))?;
        let from = time(params, "from")?.unwrap_or(now);
        let latest = from.plus_days(MAX_DAYS);
        let to = time(params, "to")?.unwrap_or(latest);
        if to < from {
            return Err(InvalidField::new("from", "must not be after to").into());
        }
        if to > latest {
            return Err(InvalidField::new("to", "must be at most 62 days after from").into());
        }
        Ok(Self {
            link: LinkName::parse(link).ok_or(BookingError::NoCalendar)?,
            // Past times cannot be booked, so they are not read.
            from: from.max(now),
            to: to.max(now),
            now,
        })
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_slots(&self.link, self.from, self.to).await
    }
}

/// The bookable start times in order: exactly those that endpoint 13 accepts until something changes. One round trip
/// if this process knows the link, otherwise two.
pub async fn slots(request: Public<SlotsEndpoint, ListSlots>) -> Result<Json<Value>, BookingError> {
    let (scope, query, found) = request.into_parts();
    let ListSlots { from, to, now, .. } = query;
    let (calendar, agenda) = found.published().ok_or(BookingError::NoCalendar)?;
    scope.show_limit();
    let agenda = scope
        .store
        .reader()
        .finish_slots(agenda, &calendar, from, to)
        .await?;
    let slots = calendar.starts(from..to, now, &agenda.busy_times(None));
    let shown = json!({
        "name": calendar.name, "company": calendar.company, "host": calendar.host,
        "durationMinutes": calendar.duration_minutes,
    });
    let data = json!({ "slots": slots, "timezone": calendar.timezone, "calendar": shown });
    Ok(Json(json!({ "data": data })))
}
