//! The times that take the starts of a calendar (C-52): its own meetings and, if it shares time, the meetings of its user
//! on other calendars that share time.
//!
//! A meeting's buffer is the present one of its calendar, so it is not part of an agenda. The buffers of the calendars
//! that share time are one item of the instance, a total of its calendars. So a changed buffer, user or `sharesTime`
//! applies from the next request and rewrites no meeting.

use std::collections::BTreeMap;

use super::agenda::Agenda;
use super::days;
use crate::calendar::{Busy, Calendar, Minutes};
use crate::ids::CalendarId;
use crate::people::User;
use crate::store::Reader;
use crate::store::key::{AgendaOf, Key, Keys};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item};
use table::{Condition, Transaction};

const KIND: &str = "calendar buffers";

/// A buffer. Its maximum is a day, so the day before a start is read too.
type Buffer = Minutes<0, 1440>;

/// The times that take the starts of a calendar, and the state of its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupancy {
    own: Agenda,
    /// `None` if the calendar shares no time.
    of_user: Option<UserTimes>,
    /// Whether the calendar's user exists and is active.
    is_user_active: bool,
}

/// The times of a user's meetings, and the buffers of the calendars that share time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UserTimes {
    agenda: Agenda,
    buffers: BTreeMap<CalendarId, Buffer>,
}

/// Attribute with a calendar's contribution to the buffers of an instance, and the contribution: its buffer plus one, so
/// that a calendar without a buffer differs from one that shares no time. `None` if it shares no time.
pub fn shared_buffer(calendar: &Calendar) -> Option<(String, i64)> {
    let buffer = i64::from(calendar.buffer_minutes.get()) + 1;
    calendar
        .shares_time
        .then(|| (format!("n.{}", calendar.id), buffer))
}

/// The buffers in the item of an instance.
fn shared_buffers(item: &Item) -> Result<BTreeMap<CalendarId, Buffer>, StoreError> {
    let mut buffers = BTreeMap::new();
    for name in item.keys() {
        let Some(id) = name.strip_prefix("n.") else {
            continue;
        };
        let Some(minutes) = item::number(KIND, item, name)?.checked_sub(1) else {
            continue;
        };
        let (Some(id), Ok(buffer)) = (CalendarId::parse(id), Buffer::try_from(minutes)) else {
            return Err(item::corrupt(
                KIND,
                format_args!("{name} is no buffer of a calendar"),
            ));
        };
        buffers.insert(id, buffer);
    }
    Ok(buffers)
}

impl UserTimes {
    /// Times of meetings on other calendars, with their buffers.
    fn on_others(&self, calendar: CalendarId) -> impl Iterator<Item = Busy> {
        self.agenda.times().filter_map(move |(on, busy, _)| {
            let buffer = self.buffers.get(&on).filter(|_| on != calendar)?;
            Some(busy.extended(*buffer))
        })
    }

    /// The time in which a meeting can take a start.
    fn checked_span(&self, calendar: &Calendar, date: Timestamp) -> Busy {
        let longest = self.buffers.values().max().copied().unwrap_or_default();
        span_after(longest, calendar, date)
    }
}

impl Occupancy {
    /// Whether the calendar can be booked, or its times shown (CL006).
    pub fn is_active(&self, calendar: &Calendar) -> bool {
        calendar.is_published && self.is_user_active
    }

    /// The times of meetings with their buffers, except one of the calendar at `except`. If several meetings of the
    /// calendar have this time, it stays busy.
    #[must_use]
    pub fn busy_times(&self, calendar: &Calendar, except: Option<Busy>) -> Vec<Busy> {
        let own = self.own.times().filter_map(|(_, busy, count)| {
            let excepted = u64::from(Some(busy) == except);
            (count > excepted).then(|| calendar.with_buffer(busy))
        });
        let of_user = self.of_user.iter();
        own.chain(of_user.flat_map(|times| times.on_others(calendar.id)))
            .collect()
    }

    /// Adds the conditions to `transaction` that the days checked for a start have the versions that were read, or do not
    /// exist.
    pub fn require(
        &self,
        transaction: &mut Transaction,
        keys: Keys<'_>,
        calendar: &Calendar,
        date: Timestamp,
    ) {
        let mut require = |agenda: &Agenda, span| {
            for day in days(span) {
                let (key, value) = agenda.version(keys, day);
                transaction.require(key, Condition::Number { name: "v", value });
            }
        };
        require(&self.own, span_after(calendar.buffer_minutes, calendar, date));
        if let Some(times) = &self.of_user {
            require(&times.agenda, times.checked_span(calendar, date));
        }
    }

    /// Replaces the days that `current` contains.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if an item cannot be read.
    pub fn renew(&mut self, keys: Keys<'_>, current: &BTreeMap<Key, Item>) -> Result<(), StoreError> {
        for (key, item) in current {
            self.own.renew(keys, key, item)?;
            if let Some(times) = &mut self.of_user {
                times.agenda.renew(keys, key, item)?;
            }
        }
        Ok(())
    }
}

/// The time from the earliest end of a meeting whose buffer can reach `date` until the end of a meeting that begins then,
/// with its buffer.
fn span_after(buffer: Buffer, calendar: &Calendar, date: Timestamp) -> Busy {
    Busy::new(before(buffer, date), calendar.buffer_end(date))
}

/// The time a buffer before `date`.
fn before(buffer: Buffer, date: Timestamp) -> Timestamp {
    let millis = i64::from(buffer.get()) * 60_000;
    Timestamp::from_unix_millis(date.unix_millis() - millis).unwrap_or(date)
}

impl Reader {
    /// The times that take a calendar's starts from `from` until `to`. A batch of gets and one or two queries, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn occupancy(
        &self,
        calendar: &Calendar,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Occupancy, StoreError> {
        let keys = self.keys();
        let (user, buffers) = (keys.user(calendar.user_id), keys.calendar_buffers());
        let mut named = vec![user.clone()];
        named.extend(calendar.shares_time.then(|| buffers.clone()));
        let end = calendar.buffer_end(to);
        let own = self.agenda(
            AgendaOf::Calendar(calendar.id),
            before(calendar.buffer_minutes, from),
            end,
        );
        let of_user = async {
            if !calendar.shares_time {
                return Ok(None);
            }
            let of = AgendaOf::User(calendar.user_id);
            self.agenda(of, before(Buffer::MAXIMUM, from), end)
                .await
                .map(Some)
        };
        let (own, of_user, found) = tokio::try_join!(own, of_user, self.table.get_many(named))?;
        let buffers = found.get(&buffers).map(shared_buffers).transpose()?;
        let user = found.get(&user).map(|item| item::decode("user", item.clone()));
        let user: Option<User> = user.transpose()?;
        Ok(Occupancy {
            own,
            of_user: of_user.map(|agenda| UserTimes {
                agenda,
                buffers: buffers.unwrap_or_default(),
            }),
            is_user_active: user.is_some_and(|user| user.active),
        })
    }
}

#[cfg(test)]
mod tests;
