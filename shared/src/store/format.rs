//! Which form the table's items have, as its item `#format` says (C-88).
//!
//! A build reads two formats, [`Format::CURRENT`] and the one before, whatever the item says, because a migration goes on
//! concurrently with requests. It writes the format that the item names, so that the former build can run next to it, and again
//! after it, until the operator runs `funil migrate`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Store;
use super::key;
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, Table};

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
        let remedy = if self > Self::CURRENT {
            "use a newer build"
        } else {
            "first run `funil migrate` of a build that reads it"
        };
        let readable = readable();
        Err(StoreError::Format(format!(
            "the table has format {self}, and this build reads {readable}; {remedy}"
        )))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The item `#format`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFormat {
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

/// The formats that this build reads, in words.
fn readable() -> String {
    match (Format::OLDEST, Format::CURRENT) {
        (oldest, current) if oldest == current => format!("format {current}"),
        (oldest, current) => format!("formats {oldest} and {current}"),
    }
}

async fn format_item(table: &Table) -> Result<Option<TableFormat>, StoreError> {
    let item = table.get(&key::format()).await?;
    item.map(|item| item::decode("format", item)).transpose()
}

/// The item `#format`, or what a table without it has; `None` where it has no instance either.
pub async fn found_format(table: &Table) -> Result<Option<TableFormat>, StoreError> {
    if let Some(found) = format_item(table).await? {
        return Ok(Some(found));
    }
    let instances = table.query(KeyRange::head(key::instances(), 1)).await?;
    let any = !instances.items.is_empty();
    Ok(any.then(|| TableFormat::settled(Format::FIRST)))
}

impl Store {
    /// The check before a function's first request: one get, which also opens the connection.
    pub(crate) async fn check_start(&self) -> Result<(), StoreError> {
        let found = format_item(&self.table).await?;
        found.map_or(Ok(()), |found| found.judged().map(drop))
    }

    /// Refuses a table that this build cannot read.
    ///
    /// # Errors
    /// [`StoreError::Format`] where the table's format is another, or the table cannot be reached.
    pub async fn check_format(&self) -> Result<(), StoreError> {
        let found = found_format(&self.table).await?;
        found.map_or(Ok(()), |found| found.judged().map(drop))
    }
}
