//! `POST /calendarmeeting`: endpoint 13.

use axum::Json;
use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use serde_json::{Value, json};
use shared::calendar::Calendar;
use shared::id::MeetingId;
use shared::meeting::{Meeting, MeetingStatus};
use shared::scope::{PublicAccess, PublicScope};
use shared::store::{
    Booked, BookingStart, Claimed, Guest, MeetingRecord, NewMeeting, PublicRoute, Reader, StoreError,
};

use crate::error::BookingError;
use crate::wire::{NewBooking, Proof, Sent};

/// Books a meeting, or moves one for whoever has its key (C-53 to C-55). Two round trips where this process knows the link:
/// what the booking rests on is read, then it is written; else three.
pub async fn book(access: PublicAccess, headers: HeaderMap, body: Bytes) -> Result<Response, BookingError> {
    let wanted = NewBooking::read(&headers, &body);
    let (scope, wanted, start) = access
        .open_for(
            PublicRoute::Booking,
            wanted,
            async |reader: &Reader, wanted: &NewBooking| reader.begin_booking(&wanted.request).await,
        )
        .await?;
    let start = start?;
    if start.claimed != Claimed::Free || is_open(&start) {
        scope.show_limit();
    }
    if let Some(answer) = answered(&scope, &start, start.claimed).await? {
        return Ok(answer);
    }
    let calendar = start.calendar.clone().filter(|_| is_open(&start));
    let calendar = calendar.ok_or(BookingError::NoCalendar)?;
    let new = judge(&wanted, &start)?;
    match write(&scope, &wanted, start, &calendar, &new).await? {
        Booked::Made(meeting, key) => Ok(Json(view(&meeting, &key)).into_response()),
        Booked::Unavailable(reason) => Err(reason.into()),
        Booked::LeadGone => Err(BookingError::NoLead),
        Booked::Canceled => Err(BookingError::RescheduleKey),
        Booked::MovedOut => Err(BookingError::MovedOut),
        Booked::Claimed(claimed) => {
            let start = scope.store.begin_booking(&wanted.request).await?;
            let answer = answered(&scope, &start, claimed).await?;
            answer.ok_or(StoreError::Contention("claiming a key").into())
        }
    }
}

/// Whether the link leads to a calendar that can be booked.
fn is_open(start: &BookingStart) -> bool {
    let calendar = start.calendar.as_ref();
    calendar.is_some_and(|calendar| calendar.is_published)
}

/// The meeting that is wanted, if its lead and opportunity are what they must be.
fn judge(wanted: &NewBooking, start: &BookingStart) -> Result<NewMeeting, BookingError> {
    let (guest, lead) = match &wanted.lead {
        Sent::New(visitor) => (Guest::New(visitor.clone()), None),
        Sent::Known(lead) => {
            let lead = lead.filter(|_| start.lead_exists).ok_or(BookingError::NoLead)?;
            (Guest::Known(lead), Some(lead))
        }
    };
    if wanted.names_opportunity && (lead.is_none() || start.opportunity_of != lead) {
        return Err(BookingError::Opportunity);
    }
    Ok(NewMeeting {
        guest,
        opportunity: wanted.request.opportunity,
        form_data: wanted.form_data.clone(),
        properties: wanted.properties.clone(),
    })
}

async fn write(
    scope: &PublicScope,
    wanted: &NewBooking,
    start: BookingStart,
    calendar: &Calendar,
    new: &NewMeeting,
) -> Result<Booked, BookingError> {
    let (date, claim) = (wanted.request.date, wanted.request.claim.as_ref());
    let booked = match &wanted.proof {
        None => scope.store.book(start, calendar, date, claim, new).await?,
        Some(proof) => {
            let stored = proven(proof, &start, calendar)?;
            let moved = scope.store.reschedule(start, calendar, date, claim, stored);
            moved.await?
        }
    };
    Ok(booked)
}

/// The meeting whose key was sent, where it can be moved on this calendar (C-55).
fn proven(proof: &Proof, start: &BookingStart, calendar: &Calendar) -> Result<MeetingRecord, BookingError> {
    let good = proof
        .meeting
        .is_some_and(|meeting| start.admits(meeting, &proof.key));
    let movable = |record: &&MeetingRecord| {
        record.meeting.calendar_id == calendar.id && record.meeting.status != MeetingStatus::Canceled
    };
    let stored = start.meeting.as_ref().filter(|_| good).filter(movable);
    let stored = stored.ok_or(BookingError::RescheduleKey)?;
    if !stored.can_move() {
        return Err(BookingError::MovedOut);
    }
    Ok(stored.clone())
}

/// The answer to a request that came before, built again from the meeting that it made (C-10); `None` for a new one.
async fn answered(
    scope: &PublicScope,
    start: &BookingStart,
    claimed: Claimed,
) -> Result<Option<Response>, BookingError> {
    let gone = || StoreError::Contention("finding what a key stands for");
    let made = match claimed {
        Claimed::Free => return Ok(None),
        Claimed::Other => return Err(BookingError::OtherBody),
        Claimed::Done(made) => MeetingId::new(made).ok_or_else(gone)?,
    };
    // Meetings are never deleted, and whoever booked one had the secret made.
    let meeting = scope.store.shown_meeting(made).await?.ok_or_else(gone)?;
    let key = start.key_of(made).ok_or_else(gone)?;
    let replayed = [("idempotent-replayed", "true")];
    Ok(Some((replayed, Json(view(&meeting, &key))).into_response()))
}

/// The answer: the meeting, and the key with which it can be moved.
fn view(meeting: &Meeting, key: &str) -> Value {
    let mut data = json!(meeting);
    data["rescheduleKey"] = key.into();
    json!({ "msg": "created", "data": data })
}
