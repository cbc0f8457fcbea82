//! A meeting's record, and everything that is derived from it: its entry in the list of its calendar, the link from its
//! lead, what it takes of the calendar's days, and its count in a month.
//!
//! What is taken of a day is one item with a version of its own. A booking depends on the versions of the days that it
//! judged, so of any number of bookings that exclude each other exactly one happens, whatever their starts are.

mod agenda;
mod book;
mod list;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Reader;
use super::derived::{Derived, Share};
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::Keys;
use super::transaction::{Condition, Transaction};
use super::unknown::Raw;
use crate::calendar::Busy;
use crate::id::MeetingId;
use crate::meeting::Meeting;
use crate::time::{Day, Timestamp, Zone};

pub use agenda::Agenda;
pub use book::{Booked, BookingRequest, BookingStart, Guest, NewMeeting};
pub use list::{MeetingPage, MeetingRequest, MeetingStart};

const KIND: &str = "meeting";
/// Record and entry hold the meeting as text, so that free-form JSON stays as it was sent.
const TEXT: &str = "meeting";
/// In an entry, that the record has a form that is too large for it.
const WITHOUT_FORM: &str = "cut";
/// The most bytes of a form in an entry.
const MAX_LISTED_FORM: usize = 1024;

/// A meeting as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingRecord {
    /// The meeting.
    pub meeting: Meeting,
    /// Rises with every write of the record.
    pub version: u64,
    /// Made or moved through the interface since it was last imported (C-81).
    pub edited: bool,
    /// By which the request that wrote it recognises it; imported ones have none.
    pub nonce: Option<String>,
    /// How often it was moved through the interface (C-54).
    pub moves: u64,
    pub(super) raw: Raw,
}

impl MeetingRecord {
    /// A meeting that the request with this nonce books.
    fn booked(meeting: Meeting, nonce: &str) -> Self {
        Self {
            meeting,
            version: 1,
            edited: true,
            nonce: Some(nonce.to_owned()),
            moves: 0,
            raw: Raw::default(),
        }
    }

    /// The record once the request with this nonce has moved the meeting to what it is then.
    fn moved(&self, meeting: Meeting, nonce: &str) -> Self {
        Self {
            version: self.version + 1,
            moves: self.moves + 1,
            raw: self.raw.clone(),
            ..Self::booked(meeting, nonce)
        }
    }

    /// Whether it can be moved once more (C-54).
    #[must_use]
    pub fn can_move(&self) -> bool {
        self.moves < Meeting::MAX_MOVES
    }
}

impl Reader {
    /// A meeting's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn meeting(&self, id: MeetingId) -> Result<Option<MeetingRecord>, StoreError> {
        let item = self.table.get(&self.keys().meeting(id)).await?;
        item.as_ref().map(decode).transpose()
    }

    /// Puts a record in the place of what is stored, or where nothing is, and changes what is derived, on condition that
    /// it still is so.
    pub(super) fn put_meeting(&self, stored: Option<&MeetingRecord>, record: &MeetingRecord) -> Transaction {
        let keys = self.keys();
        let condition = stored.map_or(Condition::Absent, |stored| Condition::Version(stored.version));
        let mut transaction = Transaction::default();
        transaction.put(keys.meeting(record.meeting.id), encode(record), condition);
        let old = stored.map(|stored| derived(keys, stored));
        Derived::change(&mut transaction, &old.unwrap_or_default(), derived(keys, record));
        transaction
    }
}

/// The record of a meeting as an item.
pub fn encode(record: &MeetingRecord) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode_known(raw).ok()?));
    record.raw.carry(encode_known(record), recode)
}

fn encode_known(record: &MeetingRecord) -> Item {
    let mut item = Item::from([
        ("id".to_owned(), n(record.meeting.id)),
        (TEXT.to_owned(), s(text(&record.meeting))),
        ("v".to_owned(), n(record.version)),
    ]);
    if record.edited {
        item.insert("edited".to_owned(), n(1));
    }
    if let Some(nonce) = &record.nonce {
        item.insert("nonce".to_owned(), s(nonce));
    }
    if record.moves > 0 {
        item.insert("moves".to_owned(), n(record.moves));
    }
    item
}

/// The record that an item holds.
pub fn decode(item: &Item) -> Result<MeetingRecord, StoreError> {
    let raw = Raw::of(item);
    Ok(MeetingRecord {
        raw,
        ..decode_known(item)?
    })
}

fn decode_known(item: &Item) -> Result<MeetingRecord, StoreError> {
    Ok(MeetingRecord {
        meeting: read(item)?,
        version: item::number(KIND, item, "v")?,
        edited: item.contains_key("edited"),
        nonce: item.get("nonce").and_then(|nonce| nonce.as_s().ok()).cloned(),
        moves: item::number(KIND, item, "moves")?,
        raw: Raw::default(),
    })
}

fn text(meeting: &Meeting) -> String {
    serde_json::Value::Object(meeting.sparse()).to_string()
}

/// The meeting that a record or an entry holds.
fn read(item: &Item) -> Result<Meeting, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))
}

/// The entry of a meeting in its calendar's list. What a stranger wrote into a form is in it up to [`MAX_LISTED_FORM`], so that
/// a page of the list stays small.
fn entry(record: &MeetingRecord) -> Item {
    let mut entry = item::part(&encode(record), TEXT);
    let form = record.meeting.form_data.as_ref();
    let bytes = form.map_or(0, |form| serde_json::json!(form).to_string().len());
    if bytes > MAX_LISTED_FORM {
        let text = entry.get(TEXT).and_then(|text| text.as_s().ok());
        let fields = text.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let mut fields = fields.unwrap_or_default();
        fields.shift_remove("formData");
        entry.insert(TEXT.to_owned(), s(Value::Object(fields).to_string()));
        entry.insert(WITHOUT_FORM.to_owned(), n(1));
    }
    entry
}

/// Everything that is derived from a meeting: a pure function of its record.
pub fn derived(keys: Keys<'_>, record: &MeetingRecord) -> Derived {
    let meeting = &record.meeting;
    let (calendar, date) = (meeting.calendar_id, meeting.date);
    let mut derived = Derived::default();
    derived
        .items
        .insert(keys.listed_meeting(calendar, date, meeting.id), entry(record));
    if let Some(lead) = meeting.lead_id {
        derived
            .items
            .insert(keys.lead_meeting(lead, meeting.id), Item::new());
    }
    let mut count = |key, name| {
        let share = Share {
            numbers: BTreeMap::from([(name, 1)]),
            attributes: Item::new(),
        };
        derived.totals.insert(key, share);
    };
    if let Some(busy) = meeting.takes() {
        for day in days(busy) {
            count(keys.agenda_day(calendar, day), agenda::name(busy));
        }
    }
    let (month, day) = month_and_day(date);
    count(keys.meeting_month(calendar, &month), format!("n.{day}"));
    derived
}

/// The days (UTC) that a stretch of time touches.
fn days(busy: Busy) -> impl Iterator<Item = Day> {
    let day = |millis| Timestamp::from_unix_millis(millis).map(day_of);
    let last = day(busy.end_millis() - 1);
    let first = day(busy.start_millis());
    std::iter::successors(first, |day| day.next()).take_while(move |day| Some(*day) <= last)
}

/// The day (UTC) of a moment.
fn day_of(time: Timestamp) -> Day {
    Zone::UTC.day_of(time)
}

/// The month and the day in it (UTC) of a moment, as the count of a month names them.
fn month_and_day(time: Timestamp) -> (String, String) {
    let day = day_of(time).to_string();
    let (month, day) = day.split_at_checked(7).unwrap_or((&day, ""));
    (month.to_owned(), day.trim_start_matches('-').to_owned())
}

#[cfg(test)]
mod tests;
