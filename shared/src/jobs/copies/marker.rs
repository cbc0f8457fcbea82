//! Stale markers as background work reads them. A stale marker records that the copies of a lead may be stale.

use crate::ids::LeadId;
use crate::jobs::counters;
use crate::store::key::{self, Key};
use crate::store::leads::stale_markers::{DELETED, MARKED_AT, SET};
use crate::store::quarantine::UNREADABLE;
use crate::time::Timestamp;
use table::item::{self, Item, n};
use table::{AttributeValue, Condition, StoreError, Transaction, key_of};

/// The kind in errors. The partition of the markers has the same name.
const KIND: &str = "notice";
/// Version of the marker whose copies are written, and the time in Unix seconds.
pub(super) const WRITTEN: &str = "written";
pub(super) const SINCE: &str = "since";
/// Version of the marker at which a record was unreadable.
pub(super) const STUCK: &str = "stuck";

/// A marker as read.
#[derive(Debug, Clone)]
pub(super) struct StaleMarker {
    pub key: Key,
    pub lead: LeadId,
    pub version: u64,
    /// Version whose copies are written; 0 for none.
    pub written: u64,
    /// Time at which they were written, in Unix seconds.
    pub since: u64,
    /// Version at which a record was unreadable; 0 for none.
    pub stuck: u64,
    /// Whether the lead was deleted.
    pub deleted: bool,
    /// Identifies the last change that set it.
    pub set: Option<AttributeValue>,
}

impl StaleMarker {
    /// Decodes a marker. Every marker has a lead and a version; other numbers are 0 if absent.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the lead or the version is absent, or an attribute is not a number.
    pub fn read(item: &Item) -> Result<Self, StoreError> {
        let key = key_of(item)?;
        let lead =
            key::stale_marker_lead(&key).ok_or_else(|| item::corrupt(KIND, "its key names no lead"))?;
        let number_or_zero = |name| item::number(KIND, item, name);
        let version = number_or_zero("v")?;
        if version == 0 {
            return Err(item::corrupt(KIND, "it has no version"));
        }
        Ok(Self {
            lead,
            version,
            written: number_or_zero(WRITTEN)?,
            since: number_or_zero(SINCE)?,
            stuck: number_or_zero(STUCK)?,
            deleted: item.contains_key(DELETED),
            set: item.get(SET).cloned(),
            key,
        })
    }

    /// Whether a record was unreadable since the marker was last set.
    pub fn is_stuck(&self) -> bool {
        self.stuck > 0 && self.stuck == self.version
    }

    /// The condition that it was not set again.
    pub fn if_unchanged(&self) -> Condition {
        let (name, value) = ("v", self.version);
        Condition::Number { name, value }
    }
}

/// Whether a marker can be decoded, so that the refresh of its lead can proceed.
#[must_use]
pub fn is_readable(item: &Item) -> bool {
    StaleMarker::read(item).is_ok()
}

/// Whether the copies of a marker's lead are written, so that it only outlives them.
#[must_use]
pub fn is_written(item: &Item) -> bool {
    StaleMarker::read(item).is_ok_and(|marker| marker.version == marker.written)
}

/// The kind of item that was unreadable, if a marker is stuck.
#[must_use]
pub fn stuck(item: &Item) -> Option<&str> {
    let marker = StaleMarker::read(item).ok()?;
    let kind = item.get(UNREADABLE).and_then(|kind| kind.as_s().ok());
    marker.is_stuck().then(|| kind.map_or("lead", String::as_str))
}

/// The write that makes a stuck marker retry.
///
/// # Errors
/// [`StoreError::Corrupt`] if the marker cannot be decoded.
pub fn unstick(item: &Item) -> Result<Transaction, StoreError> {
    let marker = StaleMarker::read(item)?;
    let mut transaction = Transaction::default();
    let not_stuck = Item::from([(STUCK.to_owned(), n(0))]);
    transaction.update(marker.key.clone(), "v", 0, not_stuck, marker.if_unchanged());
    Ok(transaction)
}

/// Notes in the job's counters how long the oldest deleted lead of these markers has been waiting for its erasure.
pub(super) fn note_age(markers: &[Item], now: Timestamp) {
    let deleted = markers.iter().filter(|marker| marker.contains_key(DELETED));
    let marked = deleted.filter_map(|marker| item::number(KIND, marker, MARKED_AT).ok());
    let Some(oldest) = marked.filter(|at| *at > 0).min() else {
        return;
    };
    let now = u64::try_from(now.unix_seconds()).unwrap_or_default();
    let age = now.saturating_sub(oldest);
    counters::count(|counters| counters.oldest_erasure_seconds = counters.oldest_erasure_seconds.max(age));
}
