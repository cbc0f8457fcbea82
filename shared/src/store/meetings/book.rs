//! Booking and rescheduling: meeting, derived items, lead, ids and the request's claim are one transaction, on
//! condition that the checked days are unchanged (C-53 to C-55).
//!
//! A conflict returns the current day item, so the retry needs no further read. A rejected booking writes nothing.
//!
//! A public request reads no meeting, except the one that it names to move it, and the one that an equal request booked.
//! It changes the first only with the meeting's reschedule key.

mod attempt;
mod start;

use serde_json::{Map, Value};

use crate::calendar::{Calendar, Unavailable};
use crate::ids::{LeadId, MeetingId, OpportunityId};
use crate::meeting::{Closed, Meeting, MeetingStatus, NewContact};
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::time::Timestamp;

pub use start::{Bookable, BookingReads, BookingRequest, BookingSubject, PrefetchedBooking};

/// The person of a booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attendee {
    /// An existing lead.
    Known(LeadId),
    /// A new lead, created with the booking.
    New(Box<NewContact>),
}

/// A meeting to book.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMeeting {
    /// The person.
    pub guest: Attendee,
    /// The opportunity of that lead.
    pub opportunity: Option<OpportunityId>,
    /// Form fields that are not fields of the lead.
    pub form_data: Map<String, Value>,
    /// Properties to store with the meeting.
    pub properties: Map<String, Value>,
}

/// Outcome of a booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Booked {
    /// Written: the meeting and its reschedule key.
    Made(Box<Meeting>, String),
    /// The time is not available; nothing is written.
    Unavailable(Unavailable),
    /// The lead was deleted; nothing is written.
    LeadGone,
    /// The meeting belongs to another calendar now; nothing is written.
    Elsewhere,
    /// The meeting was cancelled or has begun; nothing is written.
    Closed(Closed),
    /// The meeting to cancel starts at another time; nothing is written.
    OtherDate,
    /// The meeting was moved the maximum number of times; nothing is written.
    MovedOut,
    /// Another request with the same key was first; nothing is written.
    Claimed(Claimed),
}

/// The booking to write.
#[derive(Debug, Clone)]
struct Booking<'a> {
    calendar: &'a Calendar,
    date: Timestamp,
    now: Timestamp,
    claim: Option<&'a IdempotencyKey>,
}

impl Booking<'_> {
    fn meeting(&self, id: MeetingId, lead: LeadId, new: &NewMeeting) -> Meeting {
        Meeting {
            id,
            calendar_id: self.calendar.id,
            date: self.date,
            end_date: self.calendar.meeting_end(self.date),
            lead_id: Some(lead),
            opportunity_id: new.opportunity,
            user_id: Some(self.calendar.user_id),
            status: MeetingStatus::Scheduled,
            form_data: Some(new.form_data.clone()),
            properties: new.properties.clone(),
            moves: 0,
            create_date: self.now,
            update_date: self.now,
        }
    }
}
