//! Calendars, which only the operator changes, and what leads to them: the name in the public link and the `publicId`.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::Reader;
use super::derived::Derived;
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::Keys;
use super::meetings::Agenda;
use super::table::{PAGE, Span};
use super::unknown::Raw;
use crate::calendar::{Calendar, LinkName};
use crate::id::CalendarId;
use crate::time::Timestamp;

const KIND: &str = "calendar";
/// The calendar as text, in its record and under the name in its link.
const TEXT: &str = "calendar";
/// Next meetings that are read at a time.
const TOGETHER: usize = 100;

/// A calendar as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct CalendarRecord {
    /// The calendar.
    pub calendar: Calendar,
    /// Rises with every write of the record.
    pub version: u64,
    pub(super) raw: Raw,
}

/// The start of each calendar's next meeting.
type NextMeetings = BTreeMap<CalendarId, Option<Timestamp>>;

/// What was read for the list of calendars before it was known who asks.
#[derive(Debug)]
pub struct CalendarsStart {
    calendars: Vec<Calendar>,
    next: NextMeetings,
}

/// What was read for the free times of a calendar before all was known of it.
#[derive(Debug)]
pub struct SlotsStart {
    /// The calendar that the link names, if there is one.
    pub calendar: Option<Calendar>,
    /// What is taken, where it was guessed right which days and which calendar that would be.
    guessed: Option<Agenda>,
}

impl Reader {
    /// All calendars by id. One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn calendars(&self) -> Result<Vec<Calendar>, StoreError> {
        let span = Span::head(self.keys().calendars(), PAGE);
        let items = self.table.query_all(span).await?;
        items.iter().map(calendar).collect()
    }

    /// Reads all calendars and, where they are wanted, the next meetings of those that this process knows.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn begin_calendars(&self, next: bool, now: Timestamp) -> Result<CalendarsStart, StoreError> {
        let known = if next {
            self.guesses.calendars(&self.instance)
        } else {
            Vec::new()
        };
        let (calendars, next) = tokio::try_join!(self.calendars(), self.next_meetings(known, now))?;
        Ok(CalendarsStart { calendars, next })
    }

    /// All calendars by id, each with the start of its next meeting. No call where this process knew them all.
    ///
    /// # Errors
    /// [`StoreError`] where the meetings cannot be read.
    pub async fn finish_calendars(
        &self,
        start: CalendarsStart,
        next: bool,
        now: Timestamp,
    ) -> Result<Vec<(Calendar, Option<Timestamp>)>, StoreError> {
        let CalendarsStart {
            calendars,
            next: mut known,
        } = start;
        if next {
            let ids: Vec<_> = calendars.iter().map(|calendar| calendar.id).collect();
            let unknown = ids.iter().copied().filter(|id| !known.contains_key(id)).collect();
            known.extend(self.next_meetings(unknown, now).await?);
            self.guesses.learn_calendars(&self.instance, ids);
        }
        let with_next = |calendar: Calendar| {
            let next = known.get(&calendar.id).copied().flatten();
            (calendar, next)
        };
        Ok(calendars.into_iter().map(with_next).collect())
    }

    /// The starts of some calendars' next meetings. One query each, side by side.
    async fn next_meetings(&self, ids: Vec<CalendarId>, now: Timestamp) -> Result<NextMeetings, StoreError> {
        let mut found = NextMeetings::new();
        for ids in ids.chunks(TOGETHER) {
            let starts = ids
                .iter()
                .map(async |id| Ok((*id, self.next_meeting(*id, now).await?)));
            found.extend(try_join_all(starts).await?);
        }
        Ok(found)
    }

    /// Reads the calendar that a link names and, where this process knows it, what is taken of it.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn begin_slots(
        &self,
        link: &LinkName,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<SlotsStart, StoreError> {
        let known = self.guesses.link(&self.instance, link);
        let agenda = async {
            match &known {
                Some(calendar) => self.agenda_around(calendar, from, to).await.map(Some),
                None => Ok(None),
            }
        };
        let (calendar, guessed) = tokio::try_join!(self.calendar_by_link(link), agenda)?;
        let guessed = guessed.filter(|_| known == calendar);
        Ok(SlotsStart { calendar, guessed })
    }

    /// What is taken of the calendar that was found. No call where that was read already.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn finish_slots(
        &self,
        guessed: Option<Agenda>,
        calendar: &Calendar,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        self.guesses.learn_link(&self.instance, calendar);
        match guessed {
            Some(agenda) => Ok(agenda),
            None => self.agenda_around(calendar, from, to).await,
        }
    }

    /// What is taken of a calendar that may be in the way of a start in a stretch of time.
    async fn agenda_around(
        &self,
        calendar: &Calendar,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        let (from, to) = (calendar.buffer_start(from), calendar.buffer_end(to));
        self.agenda(calendar.id, from, to).await
    }

    /// The calendar that a link names. One get.
    async fn calendar_by_link(&self, link: &LinkName) -> Result<Option<Calendar>, StoreError> {
        let item = self.table.get(&self.keys().calendar_link(link)).await?;
        item.as_ref().map(calendar).transpose()
    }
}

impl SlotsStart {
    /// The calendar and what was read of it, if there is one that can be booked.
    #[must_use]
    pub fn published(self) -> Option<(Calendar, Option<Agenda>)> {
        let calendar = self.calendar.filter(|calendar| calendar.is_published)?;
        Some((calendar, self.guessed))
    }
}

/// The record of a calendar as an item.
pub fn encode(record: &CalendarRecord) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode_known(raw).ok()?));
    record.raw.carry(encode_known(record), recode)
}

fn encode_known(record: &CalendarRecord) -> Item {
    Item::from([
        ("id".to_owned(), n(record.calendar.id)),
        (TEXT.to_owned(), s(text(&record.calendar))),
        ("v".to_owned(), n(record.version)),
    ])
}

/// The record that an item holds.
pub fn decode(item: &Item) -> Result<CalendarRecord, StoreError> {
    let raw = Raw::of(item);
    Ok(CalendarRecord {
        raw,
        ..decode_known(item)?
    })
}

fn decode_known(item: &Item) -> Result<CalendarRecord, StoreError> {
    Ok(CalendarRecord {
        calendar: calendar(item)?,
        version: item::number(KIND, item, "v")?,
        raw: Raw::default(),
    })
}

fn text(calendar: &Calendar) -> String {
    serde_json::json!(calendar).to_string()
}

/// The calendar that a record holds, or what leads to it by the name in its link.
pub fn calendar(item: &Item) -> Result<Calendar, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))
}

/// The id in an item that leads to a calendar.
pub fn linked(item: &Item) -> Option<CalendarId> {
    CalendarId::parse(item.get("id")?.as_s().ok()?)
}

/// Everything that is derived from a calendar: a pure function of its record.
pub fn derived(keys: Keys<'_>, record: &CalendarRecord) -> Derived {
    let calendar = &record.calendar;
    let id = ("id".to_owned(), s(calendar.id.to_string()));
    let mut link = item::part(&encode(record), TEXT);
    link.extend([id.clone()]);
    let mut derived = Derived::default();
    derived.items.insert(keys.calendar_link(&calendar.key_name), link);
    derived
        .items
        .insert(keys.calendar_public(&calendar.public_id), Item::from([id]));
    derived
}
