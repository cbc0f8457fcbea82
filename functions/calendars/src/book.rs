//! `POST /calendarmeeting`: endpoint 13.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{BookingEndpoint, LinkQuery, Public, PublicLink, PublicScope};
use shared::http::{Idempotent, InvalidField, RawRequest, RequestError, replayed};
use shared::ids::OpportunityId;
use shared::meeting::Meeting;
use shared::store::{
    Attendee, Bookable, Booked, BookingReads, BookingSubject, Claimed, NewMeeting, PrefetchedBooking,
    StoreError,
};

use crate::error::BookingError;
use crate::wire::{BookMeeting, Guest};

impl LinkQuery for BookMeeting {
    type Error = BookingError;

    fn link(&self) -> PublicLink {
        PublicLink {
            name: self.request.link.clone(),
            may_be_inactive: self.is_change() || self.request.claim.is_some(),
        }
    }

    fn refused(&self, error: RequestError) -> BookingError {
        BookingError::refused(error, self.is_change())
    }

    fn parse(request: &RawRequest) -> Result<Self, BookingError> {
        Self::read(request.idempotency_key()?, &request.body)
    }
}

/// Books a meeting, or moves or cancels one for the holder of its key (C-53 to C-55). Two round trips if this process
/// knows the link, one for reads and one for the write; otherwise three.
pub async fn book(request: Public<BookingEndpoint>) -> Result<Idempotent<Json<Value>>, BookingError> {
    let (query, reader, check) = request.parse_link::<BookMeeting>().await?;
    let checked = check.join(reader.begin_booking(&query.request)).await;
    let (mut scope, found) = checked.map_err(|refused| query.refused(refused))?;
    if found.claimed != Claimed::New {
        scope.show_limit();
    }
    if let Some(id) = replayed(found.claimed)? {
        return replay(&scope, &query, &found, id).await;
    }
    let calendar = scope.calendar.take();
    let calendar = calendar.ok_or(BookingError::unknown(query.is_change()))?;
    match write(&scope, &query, found.on(calendar)).await? {
        Booked::Made(meeting, key) => Ok(Idempotent::Made(query.view(&meeting, &key))),
        Booked::Unavailable(reason) => Err(BookingError::Slot(reason)),
        Booked::LeadGone => Err(BookingError::NoLead),
        Booked::Elsewhere => Err(BookingError::RescheduleKey),
        Booked::Closed(reason) => Err(BookingError::Closed(reason)),
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

/// Checks the request in the order of C-53, and books, moves or cancels the meeting. Headers of the rate limit show that
/// the link exists, so CL006 and a wrong key have none (C-9).
async fn write(
    scope: &PublicScope,
    query: &BookMeeting,
    mut bookable: Bookable,
) -> Result<Booked, BookingError> {
    let (store, subject) = (&scope.store, &query.request.subject);
    let mut stored = None;
    if subject.is_change() {
        let admitted = bookable.admits(&query.reschedule_key);
        let meeting = admitted.ok_or(BookingError::RescheduleKey)?.clone();
        if let Err(closed) = meeting.check_open(scope.now()) {
            scope.show_limit();
            return Err(BookingError::Closed(closed));
        }
        if matches!(subject, BookingSubject::Cancel(_)) {
            scope.show_limit();
            return Ok(store.cancel(bookable, meeting).await?);
        }
        stored = Some(meeting);
    }
    let reads = store.reader().finish_booking(&mut bookable).await?;
    let reads = reads.ok_or(BookingError::NoCalendar)?;
    scope.show_limit();
    if let Some(meeting) = stored {
        return Ok(store.reschedule(bookable, reads, meeting).await?);
    }
    let new = new_meeting(query, &reads)?;
    Ok(store.book(bookable, reads, &new).await?)
}

/// The meeting to book, if its lead exists and its opportunity is one of the lead's.
fn new_meeting(query: &BookMeeting, reads: &BookingReads) -> Result<NewMeeting, BookingError> {
    let (guest, lead) = match &query.guest {
        Guest::New(contact) => (Attendee::New(contact.clone()), None),
        Guest::Lead => {
            let lead = reads.lead.ok_or(BookingError::NoLead)?;
            (Attendee::Known(lead), Some(lead))
        }
    };
    if query.names_opportunity && (lead.is_none() || reads.opportunity_of != lead) {
        let rule = "must be an opportunity of the lead, and null for a new one";
        return Err(InvalidField::new("opportunityId", rule).into());
    }
    Ok(NewMeeting {
        guest,
        opportunity: query.opportunity(),
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
    fn is_change(&self) -> bool {
        self.request.subject.is_change()
    }

    /// The opportunity of a new meeting.
    fn opportunity(&self) -> Option<OpportunityId> {
        match self.request.subject {
            BookingSubject::New { opportunity, .. } => opportunity,
            BookingSubject::Move(_) | BookingSubject::Cancel(_) => None,
        }
    }

    /// The meeting and its reschedule key.
    fn view(&self, meeting: &Meeting, key: &str) -> Json<Value> {
        let mut data = json!(meeting);
        data["rescheduleKey"] = key.into();
        let is_cancellation = matches!(self.request.subject, BookingSubject::Cancel(_));
        let msg = if is_cancellation { "canceled" } else { "created" };
        Json(json!({ "msg": msg, "data": data }))
    }
}
