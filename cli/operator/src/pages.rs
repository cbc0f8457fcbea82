//! Reading the records of an instance in pages, for exports (C-81).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::kinds::ExportKind;
use super::{Operator, UnreadableRecords};
use shared::call::CallEvent;
use shared::ids::CallId;
use shared::store::Reader;
use shared::store::unscoped::calls::{self, CallRecord};
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::key::Counter;
use shared::store::unscoped::opportunities::OpportunityRecord;
use table::StoreError;
use table::item::{self, Item};
use table::{Key, KeyRange, MergeScan, PAGE, Table, key_of};

/// The most keys of unreadable records that are kept.
const MAX_NOTED: usize = 1000;

/// Partitions that are read concurrently.
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
            unreadable: operator.1.clone(),
            details: None,
        }
    }

    /// The next page, which may be empty; `None` after the last. One query of a partition, of at most 1 MB, and a batch of gets
    /// for large leads. A lenient operator leaves out records that cannot be read and notes them in [`Operator::unreadable`].
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
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

/// Decodes items; those that cannot be read are noted and left out, if there is a place to note them.
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

/// The timeline's events in the order of their calls, a page of calls at a time.
#[derive(Debug)]
pub struct EventPages<'a> {
    operator: &'a Operator,
    calls: RecordPages<CallRecord>,
}

impl EventPages<'_> {
    /// The next page, which may be empty; `None` after the last. One query of a partition and a batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<CallEvent>>, StoreError> {
        let Some(records) = self.calls.next().await? else {
            return Ok(None);
        };
        let keys = records
            .iter()
            .filter_map(|record| Some(self.operator.keys().event(record.call.lead?, record.event?)));
        let keys: Vec<_> = keys.collect();
        let mut found = self.operator.reads().get_many(keys.clone()).await?;
        let events = keys.iter().filter_map(|key| found.remove(key));
        let decode = |item| item::decode("event", item);
        readable(events, decode, self.calls.unreadable.as_deref()).map(Some)
    }
}

impl Operator {
    /// Notes items that cannot be read, if there is a place to note them; else the first is the error.
    pub(super) fn note_unreadable(&self, items: BTreeMap<Key, StoreError>) -> Result<(), StoreError> {
        for (key, cause) in items {
            match (&self.1, cause) {
                (Some(unreadable), StoreError::Corrupt { cause, .. }) => note(unreadable, &key, &cause),
                (_, error) => return Err(error),
            }
        }
        Ok(())
    }

    /// All records of a kind in the order of their keys.
    #[must_use]
    pub fn records<K: ExportKind>(&self) -> RecordPages<K::Record> {
        let ranges = KeyRange::of_each(K::partitions(self.keys()), None, None);
        let details = K::HAS_DETAILS.then(|| self.0.reader().clone());
        RecordPages {
            details,
            ..RecordPages::new(self, ranges, K::decode)
        }
    }

    /// All opportunities' records by id, with the copies in them, which may be stale.
    #[must_use]
    pub fn opportunities(&self) -> RecordPages<OpportunityRecord> {
        let span = KeyRange::head(self.keys().opportunities(), PAGE);
        RecordPages::new(self, vec![span], OpportunityRecord::decode)
    }

    /// The events of all calls, or of those up to one of them.
    #[must_use]
    pub fn events(&self, last: Option<CallId>) -> EventPages<'_> {
        let last = last.map(CallId::padded);
        let ranges = KeyRange::of_each(self.keys().calls(), None, last.as_ref());
        EventPages {
            operator: self,
            calls: RecordPages::new(self, ranges, calls::decode_record),
        }
    }

    /// The deleted leads of which data may be left, which no response may show (C-24).
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn erasures(&self) -> Result<PendingErasures, StoreError> {
        self.0.reader().erasures().await
    }

    /// The last value of a sequence, 0 before the first.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn last(&self, counter: Counter, name: &str) -> Result<u64, StoreError> {
        let counter = self.reads().get(&self.keys().counter(counter)).await?;
        item::number("counter", &counter.unwrap_or_default(), name)
    }
}
