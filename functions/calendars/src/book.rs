//! `POST /calendarmeeting`: endpoint 13.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{BookingEndpoint, Prefetch, Public, PublicScope};
use shared::http::{Idempotent, InvalidField, RawRequest, replayed};
use shared::meeting::Meeting;
use shared::store::{Attendee, Bookable, Booked, Claimed, NewMeeting, PrefetchedBooking, Reader, StoreError};

use crate::error::BookingError;
use crate::wire::{BookMeeting, Guest};

impl Prefetch for BookMeeting {
    type Found = PrefetchedBooking;
    type Error = BookingError;

    fn parse(request: &RawRequest) -> Result<Self, BookingError> {
        Self::read(request.idempotency_key()?, &request.body)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        reader.begin_booking(&self.request).await
    }
}

/// Books a meeting, or moves or cancels one for the holder of its key (C-53 to C-55). Two round trips if this process
/// knows the link, one for reads and one for the write; otherwise three.
pub async fn book(
    request: Public<BookingEndpoint, BookMeeting>,
) -> Result<Idempotent<Json<Value>>, BookingError> {
    let (scope, query, found) = request.into_parts();
    // The rate-limit headers show that the instance exists, so they need an existing link or idempotency key (C-1).
    if found.claimed != Claimed::New || found.is_published() {
        scope.show_limit();
    }
    if let Some(id) = replayed(found.claimed)? {
        return replay(&scope, &query, &found, id).await;
    }
    let bookable = found.published().ok_or(BookingError::NoCalendar)?;
    match write(&scope, &query, bookable).await? {
        Booked::Made(meeting, key) => Ok(Idempotent::Made(query.view(&meeting, &key))),
        Booked::Unavailable(reason) => Err(BookingError::Slot(reason)),
        Booked::LeadGone => Err(BookingError::NoLead),
        Booked::Canceled => Err(BookingError::RescheduleKey),
        Booked::OtherDate => {
            Err(InvalidField::new("date", "must be the start of the meeting to cancel").into())
        }
        Booked::MovedOut => Err(moved_out()),
        // A concurrent equal request has created the meeting.
        Booked::Claimed(claimed) => {
            let found = scope.store.reader().begin_booking(&query.request).await?;
            let id = replayed(claimed)?.ok_or(StoreError::Contention("claiming a key"))?;
            replay(&scope, &query, &found, id).await
        }
    }
}

/// Checks lead and opportunity, then the reschedule key, and books, moves or cancels the meeting.
async fn write(scope: &PublicScope, query: &BookMeeting, bookable: Bookable) -> Result<Booked, BookingError> {
    let new = new_meeting(query, &bookable)?;
    let Some(key) = &query.reschedule_key else {
        return Ok(scope.store.book(bookable, &new).await?);
    };
    let stored = bookable.admits(key).ok_or(BookingError::RescheduleKey)?.clone();
    if query.cancels {
        return Ok(scope.store.cancel(bookable, stored).await?);
    }
    Ok(scope.store.reschedule(bookable, stored).await?)
}

/// The meeting to book, if its lead exists and its opportunity is one of the lead's.
fn new_meeting(query: &BookMeeting, bookable: &Bookable) -> Result<NewMeeting, BookingError> {
    let (guest, lead) = match &query.guest {
        Guest::New(contact) => (Attendee::New(contact.clone()), None),
        Guest::Lead => {
            let lead = bookable.references.lead.ok_or(BookingError::NoLead)?;
            (Attendee::Known(lead), Some(lead))
        }
    };
    if query.names_opportunity && (lead.is_none() || bookable.references.opportunity_of != lead) {
        let rule = "must be an opportunity of the lead, and null for a new one";
        return Err(InvalidField::new("opportunityId", rule).into());
    }
    Ok(NewMeeting {
        guest,
        opportunity: query.request.opportunity,
        form_data: query.form_data.clone(),
        properties: query.properties.clone(),
    })
}

fn moved_out() -> BookingError {
    InvalidField::new("rescheduleMeetingId", "a meeting can be moved 20 times").into()
}

/// The response to a repeated request, rebuilt from the meeting of the first one (C-10).
async fn replay(
    scope: &PublicScope,
    query: &BookMeeting,
    found: &PrefetchedBooking,
    id: u64,
) -> Result<Idempotent<Json<Value>>, BookingError> {
    let (meeting, key) = scope.store.reader().replayed_booking(found, id).await?;
    Ok(Idempotent::Replayed(query.view(&meeting, &key)))
}

impl BookMeeting {
    /// The meeting and its reschedule key.
    fn view(&self, meeting: &Meeting, key: &str) -> Json<Value> {
        let mut data = json!(meeting);
        data["rescheduleKey"] = key.into();
        let msg = if self.cancels { "canceled" } else { "created" };
        Json(json!({ "msg": msg, "data": data }))
    }
}
