//! Occupancy of a calendar by UTC days: one item per day with a count for each busy time span, and a version.
//!
//! Two starts can exclude each other without being equal (changed duration, imported meeting), so an item per start
//! would not prevent double bookings. A booking's transaction instead requires the versions of the days that it
//! checked. A read of several items is no consistent snapshot, but the version and the spans of a day are one item. The
//! items contain no personal data, so public requests may read them.

use std::collections::BTreeMap;

use super::{day_of, days};
use crate::calendar::Busy;
use crate::ids::CalendarId;
use crate::store::Reader;
use crate::store::key::{Key, Keys};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item};
use table::{Condition, Transaction};
use table::{KeyRange, PAGE, Pages, key_of};

const KIND: &str = "agenda";
/// Maximum days of the first read for the next meeting. Two, because today's meetings may be over.
const FIRST_DAYS: usize = 2;
/// Maximum days of each further read.
const FURTHER_DAYS: usize = 100;

/// Busy times of a calendar on some days, by the days' sort keys. A day without an item is free.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agenda(BTreeMap<String, AgendaDay>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct AgendaDay {
    version: u64,
    /// Number of meetings in each time span; imported ones may overlap.
    busy: BTreeMap<Busy, u64>,
}

/// Attribute that counts a time span in a day's item: `n.` and the start and end in Unix milliseconds.
pub fn name(busy: Busy) -> String {
    format!("n.{}_{}", busy.start_millis(), busy.end_millis())
}

impl AgendaDay {
    /// Decodes a day's item. Spans with a count of 0 are free.
    fn read(item: &Item) -> Result<Self, StoreError> {
        let mut day = Self {
            version: item::number(KIND, item, "v")?,
            busy: BTreeMap::new(),
        };
        for name in item.keys() {
            let Some(span) = name.strip_prefix("n.") else {
                continue;
            };
            let ends = span
                .split_once('_')
                .map(|(start, end)| (start.parse(), end.parse()));
            let Some((Ok(start), Ok(end))) = ends else {
                return Err(item::corrupt(KIND, format_args!("{name} is not a time range")));
            };
            let count = item::number(KIND, item, name)?;
            if count > 0 {
                day.busy.insert(Busy::of_millis(start, end), count);
            }
        }
        Ok(day)
    }
}

impl Agenda {
    /// Reads the items of days.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if an item cannot be read.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i Item>) -> Result<Self, StoreError> {
        let mut agenda = Self::default();
        for item in items {
            agenda.renew(&key_of(item)?, item)?;
        }
        Ok(agenda)
    }

    /// Replaces a day by its current item.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if an item cannot be read.
    pub fn renew(&mut self, key: &Key, item: &Item) -> Result<(), StoreError> {
        self.0.insert(key.sk.clone(), AgendaDay::read(item)?);
        Ok(())
    }

    /// The busy times of all meetings except one at `except`. If several meetings have this time, it stays busy.
    #[must_use]
    pub fn busy_times(&self, except: Option<Busy>) -> Vec<Busy> {
        let mut times = Vec::new();
        for (busy, count) in self.0.values().flat_map(|day| &day.busy) {
            let excepted = u64::from(Some(*busy) == except);
            if *count > excepted {
                times.push(*busy);
            }
        }
        times
    }

    /// Adds the conditions to `transaction` that the days of a checked time span have the versions that were read, or
    /// do not exist.
    pub fn require(&self, transaction: &mut Transaction, keys: Keys<'_>, calendar: CalendarId, span: Busy) {
        for day in days(span) {
            let key = keys.agenda_day(calendar, day);
            let value = self.0.get(&key.sk).map_or(0, |day| day.version);
            transaction.require(key, Condition::Number { name: "v", value });
        }
    }

    /// The first start of a meeting after `now`.
    fn next_start(&self, now: Timestamp) -> Option<Timestamp> {
        let starts = self.0.values().flat_map(|day| day.busy.keys());
        let millis = starts.map(|busy| busy.start_millis());
        let next = millis.filter(|start| *start > now.unix_millis()).min();
        next.and_then(Timestamp::from_unix_millis)
    }
}

/// Keys of a time span's days.
pub fn day_keys(keys: Keys<'_>, calendar: CalendarId, busy: Busy) -> impl Iterator<Item = Key> {
    days(busy).map(move |day| keys.agenda_day(calendar, day))
}

impl Reader {
    /// Busy times of a calendar on each UTC day of an interval. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn agenda(
        &self,
        calendar: CalendarId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        let span = KeyRange {
            through: Some(day_of(to).to_string()),
            ..self.agenda_from(calendar, from, PAGE)
        };
        Agenda::of(&self.table.query_all(span).await?)
    }

    /// Start of the next meeting of a calendar that is not cancelled. One small query; more only if no meeting of the
    /// days read starts after `now`, such as after cancellations.
    pub(in crate::store) async fn next_meeting(
        &self,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut pages = Pages::of(self.agenda_from(calendar, now, FIRST_DAYS));
        while let Some(items) = pages.next(&self.table).await? {
            let next = Agenda::of(&items)?.next_start(now);
            if next.is_some() {
                return Ok(next);
            }
            pages.limit(FURTHER_DAYS);
        }
        Ok(None)
    }

    /// The key range of the days from a moment's day on. A page has at most `limit` days.
    fn agenda_from(&self, calendar: CalendarId, from: Timestamp, limit: usize) -> KeyRange {
        KeyRange {
            after: day_of(from).previous().map(|day| day.to_string()),
            ..KeyRange::head(self.keys().agenda(calendar), limit)
        }
    }
}
