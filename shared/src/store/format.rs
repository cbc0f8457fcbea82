//! Which form the table's items have, as its item `#format` says (C-88).
//!
//! A build reads two formats, [`Format::CURRENT`] and the one before, whatever the item says, because a migration goes on
//! concurrently with requests. It writes the format that the item names, so that the former build can run next to it, and again
//! after it, until the operator runs `funil migrate`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::Store;
use super::error::StoreError;
use super::item::{self, Item};
use super::key;
use super::table::{Span, Table};
use crate::time::Timestamp;

/// For so many seconds a process that writes a former format does not look whether the table was migrated.
pub(super) const LOOK_EVERY: u32 = 60;

/// The form of the stored items, numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Format(u32);

impl Format {
    /// The form before there were formats: that of a table with instances and without the item.
    pub const FIRST: Self = Self(1);
    /// Totals and ranks of a board count restricted opportunities apart.
    pub const RESTRICTED_APART: Self = Self(2);
    /// The directory's item has nothing of users.
    pub const SPLIT: Self = Self(2);
    /// The format that this build migrates to.
    pub const CURRENT: Self = Self::SPLIT;

    /// The oldest format that this build reads, and writes until `funil migrate`.
    pub const OLDEST: Self = Self(if Self::CURRENT.0 > 1 {
        Self::CURRENT.0 - 1
    } else {
        1
    });

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// Refuses a format that this build does not read.
    fn judged(self) -> Result<Self, StoreError> {
        if (Self::OLDEST..=Self::CURRENT).contains(&self) {
            return Ok(self);
        }
        Err(StoreError::Format(self))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The item `#format`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableFormat {
    /// The format of every item, except for those that a migration under way has reached.
    pub format: Format,
    /// The format to which a migration under way brings the table; writers write it already.
    #[serde(default)]
    pub next: Option<Format>,
    /// When the migration began.
    #[serde(default)]
    pub since: Option<Timestamp>,
}

impl TableFormat {
    /// The item of a table whose items all have one format.
    pub fn settled(format: Format) -> Self {
        Self {
            format,
            next: None,
            since: None,
        }
    }

    /// The format that writers write.
    pub fn written(&self) -> Format {
        self.next.unwrap_or(self.format)
    }

    pub fn encode(&self) -> Result<Item, StoreError> {
        item::encode("format", self)
    }

    /// The format to write, if this build reads all that the table holds.
    fn judged(&self) -> Result<Format, StoreError> {
        let format = self.format.judged()?;
        self.next.map_or(Ok(format), Format::judged)
    }
}

/// The format to write as a process last found it, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownFormat(Arc<Mutex<Option<(Format, Timestamp)>>>);

impl KnownFormat {
    /// A table is never brought back to a former format, so the current one needs no further look.
    fn get(&self, now: Timestamp) -> Option<Format> {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (format, looked) = known?;
        (format == Format::CURRENT || now < looked.plus_seconds(LOOK_EVERY)).then_some(format)
    }

    fn set(&self, format: Format, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((format, now));
    }
}

impl Table {
    /// The format to write: one get a minute for as long as the table has a former format, none afterwards.
    #[expect(dead_code, reason = "formats do not differ yet in what a request writes")]
    pub(super) async fn write_format(&self) -> Result<Format, StoreError> {
        match self.format.get(self.ambient.now()) {
            Some(format) => Ok(format),
            None => self.look_at_format().await,
        }
    }

    /// Reads the format in one get. A table without the item has the first format, or no instance: then either format will do.
    async fn look_at_format(&self) -> Result<Format, StoreError> {
        let now = self.ambient.now();
        let found = self.format_item().await?;
        let format = found.map_or(Ok(Format::OLDEST), |found| found.judged())?;
        self.format.set(format, now);
        Ok(format)
    }

    pub(super) async fn format_item(&self) -> Result<Option<TableFormat>, StoreError> {
        let item = self.get(&key::format()).await?;
        item.map(|item| item::decode("format", item)).transpose()
    }

    /// The item, or what a table without it has; `None` where it has no instance either.
    pub(super) async fn found_format(&self) -> Result<Option<TableFormat>, StoreError> {
        if let Some(found) = self.format_item().await? {
            return Ok(Some(found));
        }
        let instances = self.query(Span::head(key::instances(), 1)).await?;
        let any = !instances.items.is_empty();
        Ok(any.then(|| TableFormat::settled(Format::FIRST)))
    }
}

impl Store {
    /// What a function does before its first request: one get, which also brings the connection up.
    pub(super) async fn check_start(&self) -> Result<(), StoreError> {
        self.table.look_at_format().await.map(drop)
    }

    /// Refuses a table that this build cannot read.
    ///
    /// # Errors
    /// [`StoreError::Format`] where the table's format is another, or the table cannot be reached.
    pub async fn check_format(&self) -> Result<(), StoreError> {
        let found = self.table.found_format().await?;
        found.map_or(Ok(()), |found| found.judged().map(drop))
    }
}
