//! The format of the table's items, stored in the item `#format` (C-88).
//!
//! A build reads the formats from [`Format::OLDEST`] to [`Format::CURRENT`], regardless of the item, because migrations
//! run concurrently with requests. It writes the format named by the item, so the previous build can run
//! concurrently, or again, until the operator runs `funil migrate`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

use super::key::{self, BoardForm};
use super::{Reader, Store};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, ReadTable};

/// Format of the stored items, numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Format(u32);

impl Format {
    /// The first format: tables with instances and without the item.
    pub const FIRST: Self = Self(1);
    /// Board totals and ranks count restricted opportunities separately.
    pub const RESTRICTED_APART: Self = Self(2);
    /// The directory's item contains no users.
    pub const SPLIT: Self = Self(2);
    /// Leads note whether an opportunity was ever linked to them.
    pub const UNLINKED: Self = Self(3);
    /// Leads and opportunities have items for their words.
    pub const WORDS: Self = Self(3);
    /// Totals of boards are by column, and by user.
    pub const BY_COLUMN: Self = Self(4);
    /// Ranks of leads may be counted: every writer changes them.
    pub const LEAD_RANKS: Self = Self(5);
    /// Daily counts of boards contain cents.
    pub const DAY_VALUES: Self = Self(5);
    /// New calls are in several partitions.
    pub const SPREAD_CALLS: Self = Self(6);
    /// The directory's head is compact, and names of departments and groups are items of their own.
    pub const COMPACT_DIRECTORY: Self = Self(6);
    /// The custom fields of large leads are items of their own.
    pub const LEAD_DETAILS: Self = Self(7);
    /// The format that this build migrates to.
    pub const CURRENT: Self = Self(7);

    /// The oldest format that this build reads, and writes until `funil migrate`. No release wrote format 2.
    pub const OLDEST: Self = Self::FIRST;

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// This format.
    ///
    /// # Errors
    /// [`StoreError::Format`] if this build does not read it.
    fn checked(self) -> Result<Self, StoreError> {
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
    /// Format of all items, except those already migrated.
    pub format: Format,
    /// Target of a running migration; writers already use it.
    #[serde(default)]
    pub next: Option<Format>,
    /// Start of the migration.
    #[serde(default)]
    pub since: Option<Timestamp>,
}

impl TableFormat {
    /// The item of a table without a running migration.
    pub fn settled(format: Format) -> Self {
        Self {
            format,
            next: None,
            since: None,
        }
    }

    /// The format to write.
    pub fn written(&self) -> Format {
        self.next.unwrap_or(self.format)
    }

    pub fn encode(&self) -> Result<Item, StoreError> {
        item::encode("format", self)
    }

    /// The format to write.
    ///
    /// # Errors
    /// [`StoreError::Format`] if this build does not read the whole table.
    fn checked(&self) -> Result<Format, StoreError> {
        let format = self.format.checked()?;
        self.next.map_or(Ok(format), Format::checked)
    }
}

/// The format of the table as this process last read it. Shared by all readers of the process.
#[derive(Debug, Clone, Default)]
pub struct KnownFormat(Arc<FormatNumbers>);

/// The numbers of two formats; 0 before the first read.
#[derive(Debug, Default)]
struct FormatNumbers {
    /// The format of all items.
    format: AtomicU32,
    /// The format that writers use: the target of a running migration, else the same.
    written: AtomicU32,
}

impl KnownFormat {
    /// Remembers the format that was read. A format never decreases, so an outdated read has no effect.
    pub fn note(&self, found: &TableFormat) {
        let numbers = &self.0;
        numbers.format.fetch_max(found.format.number(), Ordering::Relaxed);
        numbers
            .written
            .fetch_max(found.written().number(), Ordering::Relaxed);
    }

    /// Whether all items of the table have at least this format, so that all writers know it. A migration in progress
    /// does not count, because writers of the former format may still be running.
    pub fn has(&self, format: Format) -> bool {
        self.0.format.load(Ordering::Relaxed) >= format.number()
    }

    /// Whether writers use at least this format. They do so once the migration to it has started.
    fn writes(&self, format: Format) -> bool {
        self.0.written.load(Ordering::Relaxed) >= format.number()
    }

    /// Whether new calls are written into several partitions.
    pub fn spreads_calls(&self) -> bool {
        self.writes(Format::SPREAD_CALLS)
    }

    /// Whether the custom fields of large leads are written as items of their own.
    pub fn splits_lead_details(&self) -> bool {
        self.writes(Format::LEAD_DETAILS)
    }

    /// The form in which totals of boards are written.
    pub fn board_form(&self) -> BoardForm {
        if self.writes(Format::DAY_VALUES) {
            BoardForm::DayValues
        } else if self.writes(Format::BY_COLUMN) {
            BoardForm::ByColumn
        } else {
            BoardForm::ByClass
        }
    }
}

/// The readable formats as text.
fn readable() -> String {
    match (Format::OLDEST, Format::CURRENT) {
        (oldest, current) if oldest == current => format!("format {current}"),
        (oldest, current) => format!("formats {oldest} to {current}"),
    }
}

/// The item `#format`.
async fn format_item(table: &ReadTable) -> Result<Option<TableFormat>, StoreError> {
    let item = table.get(&key::format()).await?;
    item.map(|item| item::decode("format", item)).transpose()
}

/// The item `#format`, or the first format for a table without it; `None` if it has no instance either.
pub async fn found_format(table: &ReadTable) -> Result<Option<TableFormat>, StoreError> {
    if let Some(found) = format_item(table).await? {
        return Ok(Some(found));
    }
    let instances = table.query(KeyRange::head(key::instances(), 1)).await?;
    let has_instance = !instances.items.is_empty();
    Ok(has_instance.then(|| TableFormat::settled(Format::FIRST)))
}

impl Store {
    /// The check before a function's first request: one get, which also opens the connection.
    pub(crate) async fn check_start(&self) -> Result<(), StoreError> {
        self.accept_format(format_item(self.table.reads()).await?.as_ref())
    }

    /// Rejects a table that this build cannot read.
    ///
    /// # Errors
    /// [`StoreError::Format`] for another format; other errors if the table cannot be reached.
    pub async fn check_format(&self) -> Result<(), StoreError> {
        self.accept_format(found_format(self.table.reads()).await?.as_ref())
    }

    /// Rejects a format that this build cannot read, otherwise remembers it. A table without a format is accepted.
    fn accept_format(&self, found: Option<&TableFormat>) -> Result<(), StoreError> {
        let Some(found) = found else { return Ok(()) };
        found.checked()?;
        self.known_format.note(found);
        Ok(())
    }
}

impl Reader {
    /// Learns the format that a request has to write, and may read, in parallel with its other reads. One get; none in a
    /// process that has seen the current format.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn learn_format(&self) -> Result<(), StoreError> {
        if !self.known_format.has(Format::CURRENT)
            && let Some(found) = format_item(&self.table).await?
        {
            self.known_format.note(&found);
        }
        Ok(())
    }
}
