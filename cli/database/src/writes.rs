//! Writes: transactions, and updates of single items. Each is one transaction of SQLite, begun by the caller.

use std::collections::BTreeMap;

use rusqlite::Connection;
use table::{AttributeValue, Change, Condition, Item, Key, Transaction, Update};

use crate::codec::{Encoded, encode};
use crate::reads::{READ, item};
use crate::rules::{changed, holds, updated};

/// Maximum number of writes in one transaction.
pub const MAX_WRITES: usize = 5000;
/// Maximum bytes of an item: 400 KB.
const MAX_SIZE: usize = 400 << 10;
/// Bytes of one write unit.
const UNIT: usize = 1024;
/// Maximum bytes of partition keys and of sort keys.
const MAX_KEY: (usize, usize) = (2048, 1024);

/// Error of a write. Nothing was written.
#[derive(Debug)]
pub enum WriteError {
    /// These items fail conditions.
    Refused(BTreeMap<Key, Item>),
    /// The write is invalid.
    Invalid(&'static str),
    /// SQLite's error.
    Engine(rusqlite::Error),
    /// The thread of the write panicked.
    Panic,
}

impl From<rusqlite::Error> for WriteError {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Engine(cause)
    }
}

impl From<&'static str> for WriteError {
    fn from(reason: &'static str) -> Self {
        Self::Invalid(reason)
    }
}

/// Executes a transaction. Returns its write units.
pub fn transact(connection: &Connection, transaction: &Transaction) -> Result<f64, WriteError> {
    if transaction.len() > MAX_WRITES {
        return Err("a transaction has too many writes".into());
    }
    let mut rows = Vec::with_capacity(transaction.len());
    let (mut refused, mut invalid, mut units) = (BTreeMap::new(), None, 0.0);
    for (key, change, condition) in transaction.writes() {
        match judge(connection, key, change, condition) {
            Ok(row) => {
                units += 2.0 * row.units;
                rows.push((key, row));
            }
            Err(WriteError::Refused(item)) => refused.extend(item),
            Err(WriteError::Invalid(reason)) => invalid = Some(reason),
            Err(error) => return Err(error),
        }
    }
    if !refused.is_empty() {
        return Err(WriteError::Refused(refused));
    }
    if let Some(reason) = invalid {
        return Err(reason.into());
    }
    for (key, row) in rows {
        row.write(connection, key)?;
    }
    Ok(units)
}

/// Updates one item. Returns the numbers that the update names, or `None` if its condition fails, and the write units.
pub fn update(
    connection: &Connection,
    key: &Key,
    update: &Update<'_>,
) -> Result<(Option<Vec<u64>>, f64), WriteError> {
    check(key)?;
    let current = read(connection, key, !matches!(update, Update::Put(_)))?;
    let (before, item) = current.map_or((None, None), |(size, item)| (Some(size), item));
    let Some(item) = updated(update, item.unwrap_or_default())? else {
        return Ok((None, 0.0));
    };
    let row = Row::of(key, before, After::Item(encode(&item)?))?;
    row.write(connection, key)?;
    let names = match update {
        Update::Put(_) => &[][..],
        Update::Add { names, .. } => names,
        Update::AddBelow { name, .. } | Update::Raise { name, .. } => std::slice::from_ref(name),
    };
    let numbers = names.iter().map(|name| match item.get(*name) {
        Some(AttributeValue::N(digits)) => digits.parse().map_err(|_| "a counter is negative or too large"),
        _ => Err("a counter is no number"),
    });
    Ok((Some(numbers.collect::<Result<_, _>>()?), row.units))
}

/// Deletes up to 100 items that expired before Unix second `now`. Returns their number.
pub fn sweep(connection: &Connection, now: i64) -> rusqlite::Result<usize> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM items WHERE (pk, sk) IN (SELECT pk, sk FROM items WHERE expiry < ?1 LIMIT 100)",
    )?;
    statement.execute([now])
}

/// The item after a write.
enum After {
    Unchanged,
    Nothing,
    Item(Encoded),
}

/// A write whose condition is fulfilled.
struct Row {
    exists: bool,
    after: After,
    units: f64,
}

impl Row {
    /// The write of an item that had `before` bytes.
    fn of(key: &Key, before: Option<usize>, mut after: After) -> Result<Self, &'static str> {
        let size = match &mut after {
            After::Item(item) => {
                item.size += "pk".len() + key.pk.len() + "sk".len() + key.sk.len();
                item.size
            }
            After::Unchanged | After::Nothing => 0,
        };
        if size > MAX_SIZE {
            return Err("the size of an item exceeds 400 KB");
        }
        let units = size.max(before.unwrap_or_default()).div_ceil(UNIT).max(1);
        Ok(Self {
            exists: before.is_some(),
            after,
            units: u32::try_from(units).map_or(f64::MAX, f64::from),
        })
    }

    fn write(&self, connection: &Connection, key: &Key) -> rusqlite::Result<()> {
        let statement = match (&self.after, self.exists) {
            (After::Item(_), false) => {
                "INSERT INTO items (pk, sk, size, expiry, body) VALUES (?1, ?2, ?3, ?4, ?5)"
            }
            (After::Item(_), true) => {
                "UPDATE items SET size = ?3, expiry = ?4, body = ?5 WHERE pk = ?1 AND sk = ?2"
            }
            (After::Nothing, true) => "DELETE FROM items WHERE pk = ?1 AND sk = ?2",
            (After::Nothing, false) | (After::Unchanged, _) => return Ok(()),
        };
        let mut statement = connection.prepare_cached(statement)?;
        match &self.after {
            After::Item(item) => {
                let values = (&key.pk, &key.sk, item.size, item.expiry, &item.body);
                statement.execute(values)
            }
            After::Unchanged | After::Nothing => statement.execute((&key.pk, &key.sk)),
        }
        .map(drop)
    }
}

/// Decides a write of a transaction. [`WriteError::Refused`] contains its item if the condition fails.
fn judge(
    connection: &Connection,
    key: &Key,
    change: &Change,
    condition: &Condition,
) -> Result<Row, WriteError> {
    check(key)?;
    let needs_attributes = matches!(change, Change::Set { .. } | Change::Update { .. })
        || !matches!(
            condition,
            Condition::Always | Condition::Absent | Condition::Present
        );
    let current = read(connection, key, needs_attributes)?;
    let before = current.as_ref().map(|(size, _)| *size);
    // Conditions that need no attributes only ask whether there is an item.
    let item = current.map(|(_, item)| item.unwrap_or_default());
    if !holds(condition, item.as_ref()) {
        let item = read(connection, key, before.is_some())?.and_then(|(_, item)| item);
        return Err(WriteError::Refused(
            [(key.clone(), item.unwrap_or_default())].into(),
        ));
    }
    let after = match change {
        Change::Check => After::Unchanged,
        Change::Delete => After::Nothing,
        Change::Put(item) => After::Item(encode(item)?),
        Change::Set { .. } | Change::Update { .. } => After::Item(encode(&changed(change, item)?)?),
    };
    Ok(Row::of(key, before, after)?)
}

/// The size of a stored item, and the item itself if it is wanted.
fn read(
    connection: &Connection,
    key: &Key,
    is_wanted: bool,
) -> rusqlite::Result<Option<(usize, Option<Item>)>> {
    let mut statement = connection.prepare_cached(READ)?;
    let mut rows = statement.query([&key.pk, &key.sk])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let item = is_wanted.then(|| item(row)).transpose()?;
    Ok(Some((row.get(0)?, item)))
}

fn check(key: &Key) -> Result<(), &'static str> {
    let (pk, sk) = (key.pk.len(), key.sk.len());
    let is_valid = (1..=MAX_KEY.0).contains(&pk) && (1..=MAX_KEY.1).contains(&sk);
    if is_valid {
        Ok(())
    } else {
        Err("a key is empty or too long")
    }
}
