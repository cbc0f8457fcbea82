//! Calendars, which only the operator changes, with their look-ups by link name and `publicId`.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::Reader;
use super::derived::Derived;
use super::entity::{Entity, Stored};
use super::key::{Key, Keys};
use super::meetings::Agenda;
use crate::calendar::{Calendar, LinkName};
use crate::ids::CalendarId;
use crate::time::Timestamp;
use table::KeyRange;
use table::StoreError;
use table::item::{self, Item, n, s};

const KIND: &str = "calendar";
/// Attribute with the calendar as JSON, in its record and in the look-up by link name.
const TEXT: &str = "calendar";
/// Number of calendars whose next meetings are read concurrently.
const CONCURRENCY: usize = 100;

/// A stored calendar.
pub type CalendarRecord = Stored<Calendar>;

/// Start of each calendar's next meeting; `None` for a calendar without one.
type NextMeetings = BTreeMap<CalendarId, Option<Timestamp>>;

/// Prefetched reads of the list of calendars.
#[derive(Debug)]
pub struct PrefetchedCalendars {
    calendars: Vec<Calendar>,
    /// The next meetings of the calendars that the process knew.
    next_meetings: NextMeetings,
}

/// Prefetched reads of a calendar's free times.
#[derive(Debug)]
pub struct PrefetchedSlots {
    /// The calendar named by the link, if any.
    pub calendar: Option<Calendar>,
    /// The busy times, if the cached calendar of the link is the current one.
    agenda: Option<Agenda>,
}

impl Reader {
    /// All readable calendars by id. One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn calendars(&self) -> Result<Vec<Calendar>, StoreError> {
        let span = KeyRange::whole(self.keys().calendars());
        let items = self.table.query_all(span).await?;
        let calendars = items.into_iter();
        let calendars = calendars.filter_map(|item| table::readable(item, |item| calendar(&item)));
        Ok(calendars.collect())
    }

    /// Prefetches all calendars and, with `with_next`, the next meetings of the calendars that this process knows. One
    /// query per MB of calendars, and one query per known calendar.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_calendars(
        &self,
        with_next: bool,
        now: Timestamp,
    ) -> Result<PrefetchedCalendars, StoreError> {
        let known = if with_next {
            self.hints.calendars.get(&self.instance).unwrap_or_default()
        } else {
            Vec::new()
        };
        let (calendars, next_meetings) = tokio::try_join!(self.calendars(), self.next_meetings(known, now))?;
        Ok(PrefetchedCalendars {
            calendars,
            next_meetings,
        })
    }

    /// All calendars by id and, with `with_next`, the start of the next meeting of each. One query per calendar that
    /// this process did not know.
    ///
    /// # Errors
    /// [`StoreError`] if the meetings cannot be read.
    pub async fn finish_calendars(
        &self,
        prefetched: PrefetchedCalendars,
        with_next: bool,
        now: Timestamp,
    ) -> Result<Vec<(Calendar, Option<Timestamp>)>, StoreError> {
        let PrefetchedCalendars {
            calendars,
            mut next_meetings,
        } = prefetched;
        if with_next {
            let ids: Vec<_> = calendars.iter().map(|calendar| calendar.id).collect();
            let unread = ids.iter().copied().filter(|id| !next_meetings.contains_key(id));
            let unread = unread.collect();
            next_meetings.extend(self.next_meetings(unread, now).await?);
            self.hints.calendars.put(self.instance.clone(), ids);
        }
        let with_meeting = |calendar: Calendar| {
            let next = next_meetings.get(&calendar.id).copied().flatten();
            (calendar, next)
        };
        Ok(calendars.into_iter().map(with_meeting).collect())
    }

    /// Starts of some calendars' next meetings. One query each, concurrently.
    async fn next_meetings(&self, ids: Vec<CalendarId>, now: Timestamp) -> Result<NextMeetings, StoreError> {
        let mut found = NextMeetings::new();
        for ids in ids.chunks(CONCURRENCY) {
            let starts = ids
                .iter()
                .map(async |id| Ok((*id, self.next_meeting(*id, now).await?)));
            found.extend(try_join_all(starts).await?);
        }
        Ok(found)
    }

    /// Prefetches the calendar of a link and, if this process knows the link, its busy times. A get, in parallel with a
    /// query of the days.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_slots(
        &self,
        link: &LinkName,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<PrefetchedSlots, StoreError> {
        let expected = self.expected_calendar(link);
        let agenda = async {
            match &expected {
                Some(calendar) => self.agenda_around(calendar, from, to).await.map(Some),
                None => Ok(None),
            }
        };
        let (calendar, agenda) = tokio::try_join!(self.calendar_by_link(link), agenda)?;
        // The days of another or outdated calendar may be too few.
        let agenda = agenda.filter(|_| expected == calendar);
        Ok(PrefetchedSlots { calendar, agenda })
    }

    /// The cached calendar of a link.
    pub(in crate::store) fn expected_calendar(&self, link: &LinkName) -> Option<Calendar> {
        self.hints.links.get(&(self.instance.clone(), link.clone()))
    }

    /// Caches the calendar of a link.
    pub(in crate::store) fn learn_link(&self, calendar: &Calendar) {
        let link = (self.instance.clone(), calendar.key_name.clone());
        self.hints.links.put(link, calendar.clone());
    }

    /// Busy times of the calendar in the interval of [`Self::begin_slots`], without a call if that prefetched them. Caches
    /// the calendar for its link, so that the next request can prefetch them.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn finish_slots(
        &self,
        prefetched: Option<Agenda>,
        calendar: &Calendar,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        self.learn_link(calendar);
        match prefetched {
            Some(agenda) => Ok(agenda),
            None => self.agenda_around(calendar, from, to).await,
        }
    }

    /// Busy times of a calendar that can conflict with a start in an interval.
    async fn agenda_around(
        &self,
        calendar: &Calendar,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        let (from, to) = (calendar.buffer_start(from), calendar.buffer_end(to));
        self.agenda(calendar.id, from, to).await
    }

    /// The calendar named by a link. One get.
    async fn calendar_by_link(&self, link: &LinkName) -> Result<Option<Calendar>, StoreError> {
        let item = self.table.get(&self.keys().calendar_link(link)).await?;
        item.as_ref().map(calendar).transpose()
    }
}

impl PrefetchedSlots {
    /// The calendar and its prefetched busy times, if it can be booked.
    #[must_use]
    pub fn published(self) -> Option<(Calendar, Option<Agenda>)> {
        let calendar = self.calendar.filter(|calendar| calendar.is_published)?;
        Some((calendar, self.agenda))
    }
}

impl Entity for Calendar {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.calendar(self.id)
    }

    fn encode(&self) -> Result<Item, StoreError> {
        Ok(Item::from([
            ("id".to_owned(), n(self.id)),
            (TEXT.to_owned(), s(serde_json::json!(self).to_string())),
        ]))
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        calendar(item)
    }

    fn derived(record: &Stored<Self>, item: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let id = ("id".to_owned(), s(record.id.to_string()));
        let mut link = item::part(item, TEXT);
        link.extend([id.clone()]);
        let mut derived = Derived::default();
        derived.items.insert(keys.calendar_link(&record.key_name), link);
        derived
            .items
            .insert(keys.calendar_public(&record.public_id), Item::from([id]));
        Ok(derived)
    }
}

/// The calendar in a record or in a look-up by link name.
pub fn calendar(item: &Item) -> Result<Calendar, StoreError> {
    item::need_json(KIND, item, TEXT)
}

/// The calendar's id in a look-up.
pub fn linked(item: &Item) -> Option<CalendarId> {
    CalendarId::parse(item.get("id")?.as_s().ok()?)
}
