//! Booking a meeting and moving one: the record, all that is derived from it, the lead, the numbers they take and the
//! request's claim are one transaction, on condition that the days which were judged are as they were (C-53 to C-55).
//!
//! A refused attempt returns the current day item, which the retry checks, so a lost time is known without another
//! read. A booking that is refused leaves nothing behind: no meeting, no lead.

mod attempt;
mod start;

use serde_json::{Map, Value};

use crate::calendar::{Calendar, Unavailable};
use crate::ids::{LeadId, MeetingId, OpportunityId};
use crate::meeting::{Meeting, MeetingStatus, NewContact};
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::time::Timestamp;

pub use start::{Bookable, BookingRequest, PrefetchedBooking};

/// For whom a meeting is booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attendee {
    /// A lead that exists.
    Known(LeadId),
    /// Somebody who becomes a lead with the booking.
    New(Box<NewContact>),
}

/// A meeting as it is booked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMeeting {
    /// For whom.
    pub guest: Attendee,
    /// About which opportunity of that lead.
    pub opportunity: Option<OpportunityId>,
    /// Form fields other than the lead's own.
    pub form_data: Map<String, Value>,
    /// Properties to store with the meeting.
    pub properties: Map<String, Value>,
}

/// Outcome of a booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Booked {
    /// It is written: the meeting, and the key that proves to have booked it.
    Made(Box<Meeting>, String),
    /// There can be no meeting then; nothing is written.
    Unavailable(Unavailable),
    /// The lead is gone; nothing is written.
    LeadGone,
    /// The meeting that was to be moved was cancelled, or taken to another calendar; nothing is written.
    Canceled,
    /// The meeting was moved as often as one can be; nothing is written.
    MovedOut,
    /// Another request with the same key came first; nothing is written.
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
            create_date: self.now,
            update_date: self.now,
        }
    }
}
