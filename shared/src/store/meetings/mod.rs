//! A meeting's record and its derived items: list entry, link from its lead, busy time spans of the calendar's and of the
//! user's days, and count per month.
//!
//! The busy times of a day are one item with its own version. A booking requires the versions of the days that it
//! checked, so exactly one of several conflicting bookings succeeds.

mod agenda;
mod book;
mod list;
mod occupancy;
mod of_lead;
mod proof;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Reader;
use super::derived::{Contribution, Derived};
use super::entity::{Entity, Stored};
use super::key::{AgendaOf, Key, Keys};
use crate::calendar::Busy;
use crate::ids::MeetingId;
use crate::meeting::Meeting;
use crate::time::{Day, Timestamp};
use agenda::day_of;
use table::StoreError;
use table::item::{self, Item, n, s};

pub use book::{
    Attendee, Bookable, Booked, BookingReads, BookingRequest, BookingSubject, NewMeeting, PrefetchedBooking,
};
pub use list::{MeetingPage, MeetingRequest, PrefetchedMeetings};
pub use occupancy::{Occupancy, shared_buffer};
pub use of_lead::PrefetchedLeadMeetings;
pub use proof::Proof;

const KIND: &str = "meeting";
/// Attribute with the meeting as JSON, in records and entries. JSON text keeps free-form fields as sent.
const TEXT: &str = "meeting";
/// Marks an entry whose record has a form that is too large for it.
const WITHOUT_FORM: &str = "cut";
/// Maximum bytes of a form in an entry.
const MAX_LISTED_FORM: usize = 1024;

/// A stored meeting.
pub type MeetingRecord = Stored<Meeting>;

impl MeetingRecord {
    /// A meeting booked by the request with this nonce.
    fn booked(meeting: Meeting, nonce: &str) -> Self {
        Self::made(meeting, Some(nonce))
    }

    /// The record after a move or a cancellation by the request with this nonce.
    fn changed(&self, meeting: Meeting, nonce: &str) -> Self {
        Self {
            edited: true,
            nonce: Some(nonce.to_owned()),
            ..self.next(meeting)
        }
    }
}

impl Reader {
    /// A meeting's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn meeting(&self, id: MeetingId) -> Result<Option<MeetingRecord>, StoreError> {
        let item = self.table.get(&self.keys().meeting(id)).await?;
        item.map(Stored::decode).transpose()
    }
}

impl Entity for Meeting {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.meeting(self.id)
    }

    fn encode(&self) -> Result<Item, StoreError> {
        Ok(Item::from([
            ("id".to_owned(), n(self.id)),
            (TEXT.to_owned(), s(text(self))),
        ]))
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        read(item)
    }

    fn derived(record: &Stored<Self>, _: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let meeting = &record.value;
        let (calendar, date) = (meeting.calendar_id, meeting.date);
        let mut derived = Derived::default();
        derived
            .items
            .insert(keys.listed_meeting(calendar, date, meeting.id), entry(record)?);
        if let Some(lead) = meeting.lead_id {
            derived
                .items
                .insert(keys.lead_meeting(lead, meeting.id), Item::new());
        }
        let mut count = |key, name| {
            let share = Contribution {
                numbers: BTreeMap::from([(name, 1)]),
                ..Contribution::default()
            };
            derived.totals.insert(key, share);
        };
        if let Some(busy) = meeting.busy_time() {
            for day in days(busy) {
                let of_user = meeting.user_id.map(AgendaOf::User);
                for of in [Some(AgendaOf::Calendar(calendar)), of_user]
                    .into_iter()
                    .flatten()
                {
                    count(keys.agenda_day(of, day), agenda::name(calendar, busy));
                }
            }
        }
        let (month, day) = month_and_day(date);
        count(keys.meeting_month(calendar, &month), format!("n.{day}"));
        Ok(derived)
    }
}

fn text(meeting: &Meeting) -> String {
    serde_json::Value::Object(meeting.sparse()).to_string()
}

/// The meeting in a record or an entry.
fn read(item: &Item) -> Result<Meeting, StoreError> {
    item::need_json(KIND, item, TEXT)
}

/// The entry of a meeting in its calendar's list. It contains forms only up to [`MAX_LISTED_FORM`], because callers
/// without credentials write them and a page must stay small.
fn entry(record: &MeetingRecord) -> Result<Item, StoreError> {
    let mut entry = item::part(&record.encode()?, TEXT);
    let form = record.form_data.as_ref();
    let bytes = form.map_or(0, |form| serde_json::json!(form).to_string().len());
    if bytes > MAX_LISTED_FORM {
        let text = entry.get(TEXT).and_then(|text| text.as_s().ok());
        let fields = text.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let mut fields = fields.unwrap_or_default();
        fields.shift_remove("formData");
        entry.insert(TEXT.to_owned(), s(Value::Object(fields).to_string()));
        entry.insert(WITHOUT_FORM.to_owned(), n(1));
    }
    Ok(entry)
}

/// The UTC days of a time span.
fn days(busy: Busy) -> impl Iterator<Item = Day> {
    let day = |millis| Timestamp::from_unix_millis(millis).map(day_of);
    let last = day(busy.end_millis() - 1);
    let first = day(busy.start_millis());
    std::iter::successors(first, |day| day.next()).take_while(move |day| Some(*day) <= last)
}

/// The UTC month of a moment, as `YYYY-MM`, and its day of the month, as `DD`.
fn month_and_day(time: Timestamp) -> (String, String) {
    let date = day_of(time).to_string();
    let (month, day) = date.rsplit_once('-').unwrap_or((&date, ""));
    (month.to_owned(), day.to_owned())
}

#[cfg(test)]
mod tests;
