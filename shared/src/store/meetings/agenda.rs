//! What is taken of a calendar, day by day (UTC).
//!
//! A day's item counts each stretch of time that meetings take of it. It says nothing of the meetings themselves, so what
//! the public reads to book holds nothing of anybody.

use std::collections::BTreeMap;

use super::{day_of, days};
use crate::calendar::Busy;
use crate::id::CalendarId;
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{Key, Keys};
use crate::store::table::{PAGE, Page, Span, key_of};
use crate::store::transaction::{Condition, Transaction};
use crate::time::Timestamp;

const KIND: &str = "agenda";
/// Days that are read at first for the next meeting: today's may be over.
const FIRST: usize = 2;
/// Days that are read at a time behind those.
const MORE: usize = 100;

/// What is taken of a calendar on some days, by the days' sort keys. A day without an item has nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agenda(BTreeMap<String, AgendaDay>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct AgendaDay {
    version: u64,
    /// How many meetings take each stretch of time; imported ones may share one.
    taken: BTreeMap<Busy, u64>,
}

/// The name under which a day's item counts a stretch of time.
pub fn name(busy: Busy) -> String {
    format!("n.{}_{}", busy.start_millis(), busy.end_millis())
}

impl AgendaDay {
    fn read(item: &Item) -> Result<Self, StoreError> {
        let mut day = Self {
            version: item::number(KIND, item, "v")?,
            taken: BTreeMap::new(),
        };
        for name in item.keys() {
            let Some(stretch) = name.strip_prefix("n.") else {
                continue;
            };
            let ends = stretch
                .split_once('_')
                .map(|(start, end)| (start.parse(), end.parse()));
            let Some((Ok(start), Ok(end))) = ends else {
                return Err(item::corrupt(KIND, format_args!("{name} is no stretch of time")));
            };
            let count = item::number(KIND, item, name)?;
            if count > 0 {
                day.taken.insert(Busy::of_millis(start, end), count);
            }
        }
        Ok(day)
    }
}

impl Agenda {
    /// Of the items of days that were read.
    ///
    /// # Errors
    /// [`StoreError`] for an item that this program cannot have written.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i Item>) -> Result<Self, StoreError> {
        let mut agenda = Self::default();
        for item in items {
            agenda.renew(&key_of(item)?, item)?;
        }
        Ok(agenda)
    }

    /// Takes a day as it is now.
    ///
    /// # Errors
    /// [`StoreError`] for an item that this program cannot have written.
    pub fn renew(&mut self, key: &Key, item: &Item) -> Result<(), StoreError> {
        self.0.insert(key.sk.clone(), AgendaDay::read(item)?);
        Ok(())
    }

    /// What is taken, without one meeting's own time.
    #[must_use]
    pub fn taken(&self, except: Option<Busy>) -> Vec<Busy> {
        let others = |(busy, count): (&Busy, &u64)| {
            let own = u64::from(Some(*busy) == except);
            (*count > own).then_some(*busy)
        };
        let days = self.0.values();
        days.flat_map(|day| day.taken.iter().filter_map(others)).collect()
    }

    /// Has `transaction` depend on the days of a stretch of time being as they were read.
    pub fn require(&self, transaction: &mut Transaction, keys: Keys<'_>, calendar: CalendarId, judged: Busy) {
        for day in days(judged) {
            let key = keys.agenda_day(calendar, day);
            let value = self.0.get(&key.sk).map_or(0, |day| day.version);
            transaction.require(key, Condition::Number { name: "v", value });
        }
    }

    /// The first start behind a moment.
    fn next_start(&self, now: Timestamp) -> Option<Timestamp> {
        let starts = self.0.values().flat_map(|day| day.taken.keys());
        let ahead = starts.map(|busy| busy.start_millis());
        let next = ahead.filter(|start| *start > now.unix_millis()).min();
        next.and_then(Timestamp::from_unix_millis)
    }
}

/// The keys of the days of a stretch of time.
pub fn day_keys(keys: Keys<'_>, calendar: CalendarId, busy: Busy) -> impl Iterator<Item = Key> {
    days(busy).map(move |day| keys.agenda_day(calendar, day))
}

impl Reader {
    /// What is taken of a calendar on every day that a stretch of time touches. One query for each 1 MB.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn agenda(
        &self,
        calendar: CalendarId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Agenda, StoreError> {
        let span = Span {
            through: Some(day_of(to).to_string()),
            ..self.agenda_from(calendar, from, PAGE)
        };
        Agenda::of(&self.table.query_all(span).await?)
    }

    /// The start of the next meeting of a calendar that is not cancelled. One query of next to nothing; more only where
    /// meetings were cancelled on all days that it found.
    pub(in crate::store) async fn next_meeting(
        &self,
        calendar: CalendarId,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut span = self.agenda_from(calendar, now, FIRST);
        loop {
            let Page { items, more } = self.table.query(span.clone()).await?;
            let next = Agenda::of(&items)?.next_start(now);
            if next.is_some() || !more {
                return Ok(next);
            }
            span.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
            span.limit = MORE;
        }
    }

    /// The days from that of a moment on.
    fn agenda_from(&self, calendar: CalendarId, from: Timestamp, limit: usize) -> Span {
        Span {
            after: day_of(from).previous().map(|day| day.to_string()),
            ..Span::head(self.keys().agenda(calendar), limit)
        }
    }
}
