//! Notifications that failed and are not retried (C-102). They leave the outbox and are kept for 30 days, or until the
//! operator puts them back. Like outbox entries, they contain ids and no personal data.

use super::Reader;
use super::key::{self, Cause, Key};
use super::quarantine::as_read;
use crate::ids::AutomationId;
use crate::time::Timestamp;
use crate::traceparent::{self, TRACE, Traceparent};
use table::item::{self, Item, n, s};
use table::{Condition, KeyRange, StoreError, Transaction, key_of};

const KIND: &str = "undelivered notification";
/// Time of the fact.
pub const AT: &str = "at";
/// Number of tries.
pub const TRIED: &str = "tries";
const REASON: &str = "reason";
const SINCE: &str = "since";
/// Lifetime of an item in days.
const DAYS: u32 = 30;

/// A failed notification that is not retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// The event's record.
    pub cause: Cause,
    /// The automation.
    pub automation: AutomationId,
    /// Index of the automation's action.
    pub action: usize,
    /// Number of tries.
    pub tries: u64,
    /// Time of the last try.
    pub since: Timestamp,
    /// Outcome of the last try.
    pub reason: String,
}

/// Adds the writes that move a notification out of the outbox to `transaction`, on condition that it has this version.
/// `at` is the time of the fact, and `reason` the outcome of the last of `tries`.
pub fn set_aside(
    transaction: &mut Transaction,
    reader: &Reader,
    (key, version): (&Key, u64),
    (at, trace): (Timestamp, Option<&Traceparent>),
    tries: u64,
    reason: &str,
) {
    let now = reader.environment.now();
    let mut item = Item::from([
        (TRIED.to_owned(), n(tries)),
        (SINCE.to_owned(), s(now.to_string())),
        (REASON.to_owned(), s(reason)),
        (AT.to_owned(), s(at.to_string())),
        ("ttl".to_owned(), n(now.plus_days(DAYS).unix_seconds())),
    ]);
    item.extend(traceparent::attribute(trace));
    transaction.delete(key.clone(), Condition::Version(version));
    transaction.put(reader.keys().undelivered_of(key), item, Condition::Always);
}

/// A time attribute of an item.
pub fn time(kind: &'static str, item: &Item, name: &str) -> Result<Timestamp, StoreError> {
    let text = item.get(name).and_then(|value| value.as_s().ok());
    let time = text.and_then(|text| Timestamp::parse(text));
    time.ok_or_else(|| item::corrupt(kind, format_args!("{name} is no time")))
}

impl Reader {
    /// The items of all failed notifications that are not retried. One query per MB.
    pub async fn undelivered(&self) -> Result<Vec<Item>, StoreError> {
        let span = KeyRange::whole(self.keys().undelivered());
        self.table.query_all(span).await
    }
}

impl Undelivered {
    /// Decodes a notification.
    pub fn decode(item: &Item) -> Result<Self, StoreError> {
        let named = key::notified(&key_of(item)?.sk);
        let (cause, automation, action) =
            named.ok_or_else(|| item::corrupt(KIND, "its key names no action"))?;
        let reason = item.get(REASON).and_then(|reason| reason.as_s().ok());
        Ok(Self {
            cause,
            automation,
            action,
            tries: item::number(KIND, item, TRIED)?,
            since: time(KIND, item, SINCE)?,
            reason: reason.cloned().unwrap_or_default(),
        })
    }
}

/// The writes that put a notification back into the outbox, with no tries yet.
pub fn back(reader: &Reader, aside: &Item) -> Result<Transaction, StoreError> {
    let key = key_of(aside)?;
    let mut item = item::part(aside, AT);
    item.extend(item::part(aside, TRACE));
    item.insert("v".to_owned(), n(1));
    let mut transaction = Transaction::default();
    transaction.delete(key.clone(), as_read(aside));
    transaction.put(reader.keys().outbox_of(&key), item, Condition::Absent);
    Ok(transaction)
}
