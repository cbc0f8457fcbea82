//! Records with times of creation and change that a line may omit.

use std::borrow::Borrow;

use serde::de::DeserializeOwned;
use shared::calendar::Calendar;
use shared::lead::Lead;
use shared::meeting::Meeting;
use shared::opportunity::Opportunity;
use shared::report::Definition;
use shared::ticket::Ticket;
use shared::time::Timestamp;

use super::fields::read;
use super::kind::{LineOf, RecordKind};
use crate::line::{self, Fields};

/// A record of a line. Its times are `create_date` and `update_date`, not the record's own fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated<T> {
    /// Everything but the times.
    pub record: T,
    /// The time of creation [default: the stored record's, or now].
    pub create_date: Option<Timestamp>,
    /// The time of the last change, or of a lead's last activity [default: the stored record's, or the time of
    /// creation].
    pub update_date: Option<Timestamp>,
    /// Of a lead: whether an opportunity of the same import refers to it. A lead that is stored as linked needs no
    /// second write for its opportunities.
    pub is_linked: bool,
}

/// A record with a time of creation and one of change.
pub trait Times: Clone + DeserializeOwned {
    /// The names of the two fields.
    const FIELDS: [&'static str; 2];
    /// The two times.
    fn times(&self) -> [Timestamp; 2];
    /// Sets the two times.
    fn set_times(&mut self, times: [Timestamp; 2]);
}

macro_rules! times {
    ($($record:ty: $update:ident $name:literal;)*) => {$(
        impl Times for $record {
            const FIELDS: [&'static str; 2] = ["createDate", $name];

            fn times(&self) -> [Timestamp; 2] {
                [self.create_date, self.$update]
            }

            fn set_times(&mut self, times: [Timestamp; 2]) {
                [self.create_date, self.$update] = times;
            }
        }
    )*};
}

times! {
    Lead: last_active "lastActive";
    Opportunity: update_date "updateDate";
    Calendar: update_date "updateDate";
    Meeting: update_date "updateDate";
    Ticket: update_date "updateDate";
    Definition: update_date "updateDate";
}

impl<T: Times> Dated<T> {
    /// Reads a line with the fields of the record and optional times.
    ///
    /// # Errors
    /// The field at fault with the reason.
    pub fn read<K: RecordKind>(mut fields: Fields) -> Result<Self, String> {
        let times = Self::take_times(&mut fields)?;
        Ok(Self::new(read(K::FIELDS, fields)?, times))
    }

    /// Takes the times out of a line. Leaves placeholders, without which the record cannot be read.
    ///
    /// # Errors
    /// The field that is not a time.
    pub fn take_times(fields: &mut Fields) -> Result<[Option<Timestamp>; 2], String> {
        let [create_date, update_date] = T::FIELDS;
        Ok([
            line::take_time(fields, create_date)?,
            line::take_time(fields, update_date)?,
        ])
    }

    /// A record with the times of its line.
    pub fn new(record: T, [create_date, update_date]: [Option<Timestamp>; 2]) -> Self {
        Self {
            record,
            create_date,
            update_date,
            is_linked: false,
        }
    }

    /// The record to store in place of `stored`. A time that the line omits is the stored one; of a new record `now`,
    /// or for the change the time of creation.
    pub fn onto(&self, stored: Option<&T>, now: Timestamp) -> T {
        self.changed_at(self.update_date, stored, now)
    }

    /// As [`onto`](Self::onto), with another time of change.
    pub fn changed_at(&self, update_date: Option<Timestamp>, stored: Option<&T>, now: Timestamp) -> T {
        let [created, updated] = stored.map_or([None; 2], |stored| stored.times().map(Some));
        let create_date = self.create_date.or(created).unwrap_or(now);
        let mut record = self.record.clone();
        record.set_times([create_date, update_date.or(updated).unwrap_or(create_date)]);
        record
    }
}

impl<T: Times> From<T> for Dated<T> {
    fn from(record: T) -> Self {
        let times = record.times().map(Some);
        Self::new(record, times)
    }
}

impl<T: Times> LineOf<T> for Dated<T> {
    fn dated(self, now: Timestamp) -> Self {
        self.onto(None, now).into()
    }
}

impl<T> Borrow<T> for Dated<T> {
    fn borrow(&self) -> &T {
        &self.record
    }
}
