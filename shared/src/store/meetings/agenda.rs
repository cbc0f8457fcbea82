//! Agendas: the busy times of a calendar's or a user's meetings by UTC days. A day is one item with a count for each time
//! and calendar, and a version.
//!
//! Two starts can exclude each other without being equal (changed duration, imported meeting, another calendar of the
//! user), so an item per start would not prevent double bookings. A booking's transaction instead requires the versions
//! of the days that it checked. A read of several items is no consistent snapshot, but the version and the times of a
//! day are one item. The items contain no personal data, so public requests may read them.

use std::collections::BTreeMap;

use crate::calendar::Busy;
use crate::ids::CalendarId;
use crate::store::Reader;
use crate::store::key::{AgendaOf, Key, Keys};
use crate::time::{Day, Timestamp, Zone};
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, PAGE, Pages, key_of};

const KIND: &str = "agenda";
/// Maximum days of the first read for the next meeting. Two, because today's meetings may be over.
const FIRST_DAYS: usize = 2;
/// Maximum days of each further read.
const FURTHER_DAYS: usize = 100;

/// The days of an agenda that were read, by their sort keys. A day without an item is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agenda {
    of: AgendaOf,
    days: BTreeMap<String, AgendaDay>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct AgendaDay {
    version: u64,
    /// Number of meetings on each calendar at each time; imported ones may overlap.
    busy: BTreeMap<(CalendarId, Busy), u64>,
}

/// Attribute that counts the meetings of a calendar at a time in a day's item: `n.`, the start and end in Unix
/// milliseconds, and the calendar.
pub fn name(calendar: CalendarId, busy: Busy) -> String {
    format!("n.{}_{}_{calendar}", busy.start_millis(), busy.end_millis())
}

/// Parses the name of an attribute after `n.`.
fn parse_name(name: &str) -> Option<(CalendarId, Busy)> {
    let mut parts = name.split('_');
    let mut millis = || parts.next()?.parse().ok();
    let busy = Busy::of_millis(millis()?, millis()?);
    Some((CalendarId::parse(parts.next()?)?, busy)).filter(|_| parts.next().is_none())
}

/// The UTC day of a moment.
pub fn day_of(time: Timestamp) -> Day {
    Zone::UTC.day_of(time)
}

impl AgendaDay {
    /// Decodes a day's item. Times with a count of 0 are free.
    fn read(item: &Item) -> Result<Self, StoreError> {
        let mut day = Self {
            version: item::number(KIND, item, "v")?,
            busy: BTreeMap::new(),
        };
        for name in item.keys() {
            let Some(part) = name.strip_prefix("n.") else {
                continue;
            };
            let Some(place) = parse_name(part) else {
                return Err(item::corrupt(
                    KIND,
                    format_args!("{name} is no time on a calendar"),
                ));
            };
            let count = item::number(KIND, item, name)?;
            if count > 0 {
                day.busy.insert(place, count);
            }
        }
        Ok(day)
    }
}

impl Agenda {
    /// An agenda of which no day was read.
    pub fn of(of: AgendaOf) -> Self {
        let days = BTreeMap::new();
        Self { of, days }
    }

    /// Reads the items of days.
    fn read(of: AgendaOf, items: &[Item]) -> Result<Self, StoreError> {
        let mut agenda = Self::of(of);
        for item in items {
            agenda.days.insert(key_of(item)?.sk, AgendaDay::read(item)?);
        }
        Ok(agenda)
    }

    /// Replaces a day by its current item, if the item is one of this agenda.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the item cannot be read.
    pub fn renew(&mut self, keys: Keys<'_>, key: &Key, item: &Item) -> Result<(), StoreError> {
        if key.pk == keys.agenda(self.of) {
            self.days.insert(key.sk.clone(), AgendaDay::read(item)?);
        }
        Ok(())
    }

    /// The times of meetings with their calendars and numbers. A time is repeated for each day that it touches.
    pub fn times(&self) -> impl Iterator<Item = (CalendarId, Busy, u64)> {
        let times = self.days.values().flat_map(|day| &day.busy);
        times.map(|((calendar, busy), count)| (*calendar, *busy, *count))
    }

    /// The key of a day, and the version that was read: 0 without an item.
    pub fn version(&self, keys: Keys<'_>, day: Day) -> (Key, u64) {
        let key = keys.agenda_day(self.of, day);
        let version = self.days.get(&key.sk).map_or(0, |day| day.version);
        (key, version)
    }

    /// The first start of a meeting after `now`.
    fn next_start(&self, now: Timestamp) -> Option<Timestamp> {
        let starts = self.times().map(|(_, busy, _)| busy.start_millis());
        let next = starts.filter(|start| *start > now.unix_millis()).min();
        next.and_then(Timestamp::from_unix_millis)
    }
}

impl Reader {
    /// The days of an agenda that an interval touches. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub(super) async fn agenda(
        &self,
        of: AgendaOf,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        let span = KeyRange {
            through: Some(day_of(to).to_string()),
            ..self.agenda_from(of, from, PAGE)
        };
        Agenda::read(of, &self.table.query_all(span).await?)
    }

    /// Start of the next meeting of a calendar that is not cancelled. One small query; more only if no meeting of the
    /// days read starts after `now`, such as after cancellations.
    pub(in crate::store) async fn next_meeting(
        &self,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let of = AgendaOf::Calendar(calendar);
        let mut pages = Pages::of(self.agenda_from(of, now, FIRST_DAYS));
        while let Some(items) = pages.next(&self.table).await? {
            let next = Agenda::read(of, &items)?.next_start(now);
            if next.is_some() {
                return Ok(next);
            }
            pages.limit(FURTHER_DAYS);
        }
        Ok(None)
    }

    /// The key range of the days from a moment's day on. A page has at most `limit` days.
    fn agenda_from(&self, of: AgendaOf, from: Timestamp, limit: usize) -> KeyRange {
        KeyRange {
            after: day_of(from).previous().map(|day| day.to_string()),
            ..KeyRange::head(self.keys().agenda(of), limit)
        }
    }
}
