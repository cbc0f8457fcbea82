//! Notifications that are not delivered yet: they wait in the outbox for their next attempt or, after the last one, are
//! [set aside](key::aside_key) (C-102). Those are kept for 30 days, or until the operator puts them back. Like outbox
//! entries, both contain ids and no personal data.

use super::Reader;
use super::key::{self, Cause, Key};
use super::quarantine::as_read;
use crate::ids::AutomationId;
use crate::time::Timestamp;
use crate::traceparent::{self, TRACE, Traceparent};
use table::item::{self, Item, n, s};
use table::{Condition, StoreError, Transaction, key_of};

const KIND: &str = "undelivered notification";
/// Time of the fact.
pub const AT: &str = "at";
/// Number of tries.
pub const TRIED: &str = "tries";
/// Due time in Unix seconds.
pub const DUE: &str = "due";
/// Whether a process delivers it until it is due again: 1 or 0.
pub const CLAIMED: &str = "claimed";
const REASON: &str = "reason";
const SINCE: &str = "since";
/// Version; only notifications in the outbox have one.
const VERSION: &str = "v";
/// Lifetime of an item in days.
const DAYS: u32 = 30;

/// A notification that is not delivered yet.
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
    /// Time of the last failure; `None` before the first.
    pub since: Option<Timestamp>,
    /// Time of the next try; `None` if it is set aside.
    pub next: Option<Timestamp>,
    /// Outcome of the last try; empty before the first.
    pub reason: String,
}

/// The attributes of a failure now, with its reason.
pub fn failure(now: Timestamp, tries: u64, reason: &str) -> Item {
    Item::from([
        (TRIED.to_owned(), n(tries)),
        (SINCE.to_owned(), s(now.to_string())),
        (REASON.to_owned(), s(reason)),
    ])
}

/// Adds the writes that move a notification out of the outbox to `transaction`, on condition that it has this version.
/// `at` is the time of the fact, and `failure` the attributes of the last try.
pub fn set_aside(
    transaction: &mut Transaction,
    reader: &Reader,
    (key, version): (&Key, u64),
    (at, trace): (Timestamp, Option<&Traceparent>),
    failure: Item,
) {
    let expiry = reader.environment.now().plus_days(DAYS).unix_seconds();
    let mut item = failure;
    item.insert(AT.to_owned(), s(at.to_string()));
    item.insert("ttl".to_owned(), n(expiry));
    item.extend(traceparent::attribute(trace));
    transaction.delete(key.clone(), Condition::Version(version));
    transaction.put(key::aside_key(key), item, Condition::Always);
}

/// A time attribute of an item.
pub fn time(kind: &'static str, item: &Item, name: &str) -> Result<Timestamp, StoreError> {
    let text = item.get(name).and_then(|value| value.as_s().ok());
    let time = text.and_then(|text| Timestamp::parse(text));
    time.ok_or_else(|| item::corrupt(kind, format_args!("{name} is no time")))
}

impl Undelivered {
    /// Decodes a notification in the outbox or set aside.
    pub fn decode(item: &Item) -> Result<Self, StoreError> {
        let key = key_of(item)?;
        let named = key::notified(&key::original_key(&key).unwrap_or(key).sk);
        let (cause, automation, action) =
            named.ok_or_else(|| item::corrupt(KIND, "its key names no action"))?;
        let reason = item.get(REASON).and_then(|reason| reason.as_s().ok());
        let since = item.contains_key(SINCE).then(|| time(KIND, item, SINCE));
        let next = item.contains_key(VERSION).then(|| next_try(item));
        Ok(Self {
            cause,
            automation,
            action,
            tries: item::number(KIND, item, TRIED)?,
            since: since.transpose()?,
            next: next.transpose()?,
            reason: reason.cloned().unwrap_or_default(),
        })
    }
}

/// The time of the next try of a notification in the outbox: that of the fact before the first.
fn next_try(item: &Item) -> Result<Timestamp, StoreError> {
    let due = item::number(KIND, item, DUE)?;
    let due = i64::try_from(due).ok().filter(|due| *due > 0);
    let due = due.and_then(|due| Timestamp::from_unix_millis(due.checked_mul(1000)?));
    due.map_or_else(|| time(KIND, item, AT), Ok)
}

/// The writes that make a notification due at `now`, in Unix seconds, with no tries yet; `None` if a process delivers it.
pub fn again(stored: &Item, now: u64) -> Result<Option<Transaction>, StoreError> {
    let key = key_of(stored)?;
    let number = |name| item::number(KIND, stored, name);
    if number(CLAIMED)? > 0 && number(DUE)? > now {
        return Ok(None);
    }
    let mut item = item::part(stored, AT);
    item.extend(item::part(stored, TRACE));
    item.insert(VERSION.to_owned(), n(number(VERSION)? + 1));
    let mut transaction = Transaction::default();
    match key::original_key(&key) {
        None => transaction.put(key, item, as_read(stored)),
        Some(outbox) => {
            transaction.put(outbox, item, Condition::Absent);
            transaction.delete(key, as_read(stored));
        }
    }
    Ok(Some(transaction))
}

/// The writes that drop a notification.
pub fn dropped(stored: &Item) -> Result<Transaction, StoreError> {
    let mut transaction = Transaction::default();
    transaction.delete(key_of(stored)?, as_read(stored));
    Ok(transaction)
}
