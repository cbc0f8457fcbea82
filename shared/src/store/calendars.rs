//! Calendars, which only the operator changes, with their look-ups by link name and `publicId`.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::Reader;
use super::derived::{Contribution, Derived};
use super::entity::{Entity, Stored};
use super::key::{Key, Keys};
use super::meetings::{Occupancy, Proof, shared_buffer};
use crate::calendar::{Calendar, LinkName};
use crate::ids::{CalendarId, MeetingId};
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

/// A request for a calendar's free times.
#[derive(Debug, Clone)]
pub struct SlotsRequest {
    /// The calendar's link.
    pub link: LinkName,
    /// Earliest start.
    pub from: Timestamp,
    /// End of the starts (exclusive).
    pub to: Timestamp,
    /// The meeting to show (C-55): `Some(None)` if it cannot be one.
    pub meeting: Option<Option<MeetingId>>,
}

/// Prefetched reads of a calendar's free times.
#[derive(Debug)]
pub struct PrefetchedSlots {
    /// The proof for the meeting to show.
    pub proof: Proof,
    /// The busy times of the calendar that this process knew by the link.
    expected: Option<(Calendar, Occupancy)>,
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

    /// Prefetches the meeting to show with the secret of its key and, if this process knows the link's calendar, the busy
    /// times. A batch of gets, in parallel with those of [`occupancy`](Self::occupancy).
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_slots(&self, request: &SlotsRequest) -> Result<PrefetchedSlots, StoreError> {
        let keys = self.keys();
        let may_be_inactive = request.meeting.is_some();
        let expected = self.expected_calendar(&request.link, may_be_inactive).await?;
        let occupancy = async {
            match &expected {
                Some(calendar) => self.occupancy(calendar, request.from, request.to).await.map(Some),
                None => Ok(None),
            }
        };
        let proof = async {
            let Some(meeting) = request.meeting else {
                return Ok(Proof::default());
            };
            let found = self.table.get_many(Proof::keys(keys, meeting)).await?;
            Proof::of(keys, meeting, &found)
        };
        let (proof, occupancy) = tokio::try_join!(proof, occupancy)?;
        let expected = expected.zip(occupancy);
        Ok(PrefetchedSlots { proof, expected })
    }

    /// The cached calendar of a link. If there is none, waits until the request's check has passed, because that caches an
    /// active one; unless the request can be answered without it and may read ahead.
    pub(in crate::store) async fn expected_calendar(
        &self,
        link: &LinkName,
        may_be_inactive: bool,
    ) -> Result<Option<Calendar>, StoreError> {
        let cached = || self.hints.links.get(&(self.instance.clone(), link.clone()));
        if let Some(calendar) = cached() {
            return Ok(Some(calendar));
        }
        if may_be_inactive && self.table.may_read_ahead() {
            return Ok(None);
        }
        self.table.after_check().await?;
        Ok(cached())
    }

    /// Whether this process has a calendar for a link.
    pub(crate) fn knows_link(&self, link: &LinkName) -> bool {
        let link = (self.instance.clone(), link.clone());
        self.hints.links.get(&link).is_some()
    }

    /// Caches the calendar of a link; `None` clears the cache.
    pub(crate) fn cache_link(&self, link: &LinkName, calendar: Option<&Calendar>) {
        let link = (self.instance.clone(), link.clone());
        self.hints.links.set(link, calendar.cloned());
    }

    /// Busy times of the calendar in the interval of [`Self::begin_slots`], without a call if that prefetched them; `None`
    /// if the calendar is not active.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn finish_slots(
        &self,
        prefetched: PrefetchedSlots,
        calendar: &Calendar,
        request: &SlotsRequest,
    ) -> Result<Option<Occupancy>, StoreError> {
        if !calendar.is_published {
            return Ok(None);
        }
        // The times of another or outdated calendar may be too few.
        let expected = prefetched.expected.filter(|(expected, _)| expected == calendar);
        let occupancy = match expected {
            Some((_, occupancy)) => occupancy,
            None => self.occupancy(calendar, request.from, request.to).await?,
        };
        let is_active = occupancy.is_active(calendar);
        Ok(is_active.then_some(occupancy))
    }

    /// The calendar named by a link. One get.
    pub(crate) async fn calendar_by_link(&self, link: &LinkName) -> Result<Option<Calendar>, StoreError> {
        let item = self.table.get(&self.keys().calendar_link(link)).await?;
        item.as_ref().map(calendar).transpose()
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
        if let Some((name, buffer)) = shared_buffer(record) {
            let numbers = BTreeMap::from([(name, buffer)]);
            let contribution = Contribution {
                numbers,
                ..Contribution::default()
            };
            derived.totals.insert(keys.calendar_buffers(), contribution);
        }
        Ok(derived)
    }
}

/// The calendar in a record or in a look-up by link name.
pub fn calendar(item: &Item) -> Result<Calendar, StoreError> {
    item::need_json(KIND, item, TEXT)
}

/// The name of the time zone of a record, which may not exist.
pub fn zone_name(item: &Item) -> Result<String, StoreError> {
    #[derive(serde::Deserialize)]
    struct Named {
        timezone: String,
    }
    item::need_json(KIND, item, TEXT).map(|Named { timezone }| timezone)
}

/// The calendar's id in a look-up.
pub fn linked(item: &Item) -> Option<CalendarId> {
    CalendarId::parse(item.get("id")?.as_s().ok()?)
}
