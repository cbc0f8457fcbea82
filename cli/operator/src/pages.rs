//! Reads the records of an instance in pages (C-81).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::kinds::StoredKind;
use super::{Operator, UnreadableRecords};
use shared::event::TimelineEvent;
use shared::ids::CallId;
use shared::store::Reader;
use shared::store::unscoped::calls::{self, CallRecord};
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::events;
use shared::store::unscoped::key::Counter;
use shared::store::unscoped::opportunities::OpportunityRecord;
use table::StoreError;
use table::item::{self, Item};
use table::{Key, KeyRange, MergeScan, Table, key_of};

/// Maximum listed keys of unreadable records.
const MAX_NOTED: usize = 1000;

/// Maximum concurrently read partitions.
const CONCURRENCY: usize = 8;

/// The records of one kind in the order of their sort keys, a page at a time.
#[derive(Debug)]
pub struct RecordPages<T> {
    table: Table,
    rest: MergeScan<Item>,
    decode: fn(Item) -> Result<T, StoreError>,
    unreadable: Option<Arc<Mutex<UnreadableRecords>>>,
    /// Reads details of large leads.
    details: Option<Reader>,
}

impl<T> RecordPages<T> {
    pub(super) fn new(
        operator: &Operator,
        ranges: Vec<KeyRange>,
        decode: fn(Item) -> Result<T, StoreError>,
    ) -> Self {
        Self {
            table: operator.table().clone(),
            rest: MergeScan::new(ranges, CONCURRENCY),
            decode,
            unreadable: operator.unreadable.clone(),
            details: None,
        }
    }

    /// The next page, which may be empty; `None` after the last. One query of a partition, of at most 1 MB, and a batch
    /// of gets for large leads. A lenient operator omits unreadable records and notes them in [`Operator::unreadable`].
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<T>>, StoreError> {
        let Some(items) = self.rest.next_page(self.table.reads()).await? else {
            return Ok(None);
        };
        let items = match &self.details {
            Some(reader) => reader.whole_items(items).await?,
            None => items,
        };
        readable(items, self.decode, self.unreadable.as_deref()).map(Some)
    }
}

/// Decodes items. Unreadable items are omitted and noted if there is a place to note them, else the first is the error.
fn readable<T>(
    items: impl IntoIterator<Item = Item>,
    decode: impl Fn(Item) -> Result<T, StoreError>,
    unreadable: Option<&Mutex<UnreadableRecords>>,
) -> Result<Vec<T>, StoreError> {
    let mut records = Vec::new();
    for item in items {
        let key = key_of(&item)?;
        match (decode(item), unreadable) {
            (Ok(record), _) => records.push(record),
            (Err(StoreError::Corrupt { cause, .. }), Some(unreadable)) => note(unreadable, &key, &cause),
            (Err(error), _) => return Err(error),
        }
    }
    Ok(records)
}

fn note(unreadable: &Mutex<UnreadableRecords>, key: &Key, cause: &str) {
    let mut noted = unreadable.lock().unwrap_or_else(PoisonError::into_inner);
    noted.count += 1;
    if noted.items.len() < MAX_NOTED {
        noted.items.push(format!("{key} cannot be read: {cause}"));
    }
}

/// The timelines' events: those of calls in the order of their calls, a page of calls at a time, then those of forms.
#[derive(Debug)]
pub struct EventPages<'a> {
    operator: &'a Operator,
    calls: RecordPages<CallRecord>,
    forms: RecordPages<TimelineEvent>,
}

impl EventPages<'_> {
    /// The next page, which may be empty; `None` after the last. One query of a partition and a batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<TimelineEvent>>, StoreError> {
        let Some(records) = self.calls.next().await? else {
            return self.forms.next().await;
        };
        let keys = records
            .iter()
            .filter_map(|record| Some(self.operator.keys().event(record.call.lead?, record.event?)));
        let keys: Vec<_> = keys.collect();
        let mut found = self.operator.reads().get_many(keys.clone()).await?;
        let events = keys.iter().filter_map(|key| found.remove(key));
        let decode = |item| item::decode("event", item).map(TimelineEvent::Call);
        readable(events, decode, self.calls.unreadable.as_deref()).map(Some)
    }
}

impl Operator {
    /// Notes unreadable items if the operator is lenient; else the first one is the error.
    pub(super) fn note_unreadable(&self, items: BTreeMap<Key, StoreError>) -> Result<(), StoreError> {
        for (key, cause) in items {
            match (&self.unreadable, cause) {
                (Some(unreadable), StoreError::Corrupt { cause, .. }) => note(unreadable, &key, &cause),
                (_, error) => return Err(error),
            }
        }
        Ok(())
    }

    /// All records of a kind in the order of their keys.
    #[must_use]
    pub fn records<K: StoredKind>(&self) -> RecordPages<K::Record> {
        let ranges = KeyRange::of_each((K::STORAGE.partitions)(self.keys()), None, None);
        let details = K::HAS_DETAILS.then(|| self.reader().clone());
        RecordPages {
            details,
            ..RecordPages::new(self, ranges, K::DECODE)
        }
    }

    /// The records of all opportunities by id, with their copies, which may be stale.
    #[must_use]
    pub fn opportunities(&self) -> RecordPages<OpportunityRecord> {
        let span = KeyRange::whole(self.keys().opportunities());
        RecordPages::new(self, vec![span], OpportunityRecord::decode)
    }

    /// The events of all calls, or of the calls up to one of them, and those of all forms.
    #[must_use]
    pub fn events(&self, last: Option<CallId>) -> EventPages<'_> {
        let last = last.map(CallId::padded);
        let ranges = KeyRange::of_each(self.keys().calls(), None, last.as_ref());
        EventPages {
            operator: self,
            calls: RecordPages::new(self, ranges, calls::decode_record),
            forms: RecordPages::new(self, vec![KeyRange::whole(self.keys().form_events())], |item| {
                events::decode(&item).map(TimelineEvent::Form)
            }),
        }
    }

    /// Deleted leads with data that may not be erased yet, which no response may show (C-24).
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn erasures(&self) -> Result<PendingErasures, StoreError> {
        self.reader().erasures().await
    }

    /// The last value of a sequence, 0 if it has none.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn last(&self, counter: Counter, name: &str) -> Result<u64, StoreError> {
        let counter = self.reads().get(&self.keys().counter(counter)).await?;
        item::number("counter", &counter.unwrap_or_default(), name)
    }
}
