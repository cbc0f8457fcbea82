//! Reads directly from the SQLite file of the engine (dynoxide, DynamoDB's API on SQLite), by connections of their own.
//!
//! The engine has one connection, which executes one call at a time and prepares each statement anew. These connections
//! read concurrently with each other and with its writes: SQLite's write-ahead log lets each read see the last commit.
//! They never write and never checkpoint. They rely on the engine's tables, so the engine's version is fixed in
//! `Cargo.toml`, and the tests compare all reads with the engine's.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, OpenFlags, Params, Row};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use table::embedded::{DirectRead, DirectlyRead};
use table::{AttributeValue, Item, Key, KeyRange, read_units};

/// Maximum bytes of a page of a query.
const MAX_PAGE: usize = 1 << 20;
/// Maximum bytes of the items of a batch.
const MAX_BATCH: usize = 16 << 20;
/// Kilobytes of pages that a connection keeps in memory.
const CACHE: i64 = 4 << 10;

/// The connections that read the file of an engine.
pub struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub fn of(file: PathBuf) -> Self {
        let idle = Mutex::default();
        Self { file, idle }
    }

    /// Executes a read. `None` if it fails, is incomplete, or contains values that this project does not write; then
    /// the engine executes it.
    pub fn read(&self, table: &str, read: &DirectRead) -> Option<DirectlyRead> {
        let idle = self.idle().pop();
        let connection = idle.or_else(|| self.open().ok())?;
        let found = match read {
            DirectRead::Keys(keys) => get(&connection, table, keys),
            DirectRead::Range { range, is_descending } => query(&connection, table, range, *is_descending),
        };
        // Otherwise the connection is closed.
        let found = found.ok().flatten()?;
        self.idle().push(connection);
        Some(found)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update(None, "cache_size", -CACHE)?;
        Ok(connection)
    }
}

/// The items with these keys. `None` if they are too large for one batch.
fn get(connection: &Connection, table: &str, keys: &[Key]) -> rusqlite::Result<Option<DirectlyRead>> {
    // One transaction locks the file once.
    let _transaction = (keys.len() > 1)
        .then(|| connection.unchecked_transaction())
        .transpose()?;
    let mut statement = prepare(connection, table, "pk = ?1 AND sk = ?2")?;
    let (mut items, mut units, mut bytes) = (Vec::with_capacity(keys.len()), 0.0, 0);
    for key in keys {
        let mut size = 0;
        each_row(&mut statement, [text(&key.pk), text(&key.sk)], |row| {
            size = row.get(1)?;
            items.push(item(row)?);
            Ok(false)
        })?;
        units += read_units(size);
        bytes += size;
    }
    Ok((bytes <= MAX_BATCH).then_some(DirectlyRead {
        items,
        more: false,
        units,
    }))
}

/// The items of a range, up to its limit or [`MAX_PAGE`].
fn query(
    connection: &Connection,
    table: &str,
    range: &KeyRange,
    is_descending: bool,
) -> rusqlite::Result<Option<DirectlyRead>> {
    let order = if is_descending { "DESC" } else { "ASC" };
    let condition = format!("pk = ?1 AND sk > ?2 AND sk <= ?3 ORDER BY sk {order} LIMIT ?4");
    let mut statement = prepare(connection, table, &condition)?;
    let after = text(range.after.as_deref().unwrap_or_default());
    let through = range
        .through
        .as_deref()
        .map_or_else(|| AFTER_TEXTS.to_owned(), text);
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX);
    let (mut items, mut bytes, mut is_full) = (Vec::new(), 0, false);
    let parameters = (text(&range.partition), after, through, limit);
    each_row(&mut statement, parameters, |row| {
        let size: usize = row.get(1)?;
        is_full = !items.is_empty() && bytes + size > MAX_PAGE;
        if !is_full {
            bytes += size;
            items.push(item(row)?);
        }
        Ok(!is_full)
    })?;
    Ok(Some(DirectlyRead {
        more: is_full || items.len() >= range.limit,
        items,
        units: read_units(bytes),
    }))
}

/// A query of the JSON and the size in bytes of items.
fn prepare<'a>(
    connection: &'a Connection,
    table: &str,
    condition: &str,
) -> rusqlite::Result<CachedStatement<'a>> {
    let table = table.replace('"', "\"\"");
    connection.prepare_cached(&format!(
        "SELECT item_json, item_size FROM \"{table}\" WHERE {condition}"
    ))
}

/// Passes rows to `take` until it returns false.
fn each_row(
    statement: &mut CachedStatement<'_>,
    parameters: impl Params,
    mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    let mut rows = statement.query(parameters)?;
    while let Some(row) = rows.next()? {
        if !take(row)? {
            break;
        }
    }
    Ok(())
}

/// A text in the form of the engine's key columns.
fn text(text: &str) -> String {
    ["S:", text].concat()
}

/// A text after all texts in that form.
const AFTER_TEXTS: &str = "S;";

/// The item of a row.
fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let json = row.get_ref(0)?.as_str()?;
    let StoredItem(item) = serde_json::from_str(json).map_err(|cause| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(cause))
    })?;
    Ok(item)
}

/// An item in DynamoDB's JSON.
struct StoredItem(Item);

impl<'de> Deserialize<'de> for StoredItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ItemVisitor).map(Self)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an item of DynamoDB")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        // Most items have at most 7 attributes.
        let mut item = Item::with_capacity(7);
        while let Some((name, StoredValue(value))) = map.next_entry()? {
            item.insert(name, value);
        }
        Ok(item)
    }
}

/// A value in DynamoDB's JSON: an object with its type and content.
struct StoredValue(AttributeValue);

impl<'de> Deserialize<'de> for StoredValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ValueVisitor).map(Self)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = AttributeValue;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value of DynamoDB")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AttributeValue, A::Error> {
        Ok(match map.next_key()?.unwrap_or_default() {
            "S" => AttributeValue::S(map.next_value()?),
            "N" => AttributeValue::N(map.next_value()?),
            "BOOL" => AttributeValue::Bool(map.next_value()?),
            "NULL" => AttributeValue::Null(map.next_value()?),
            "L" => {
                let list: Vec<StoredValue> = map.next_value()?;
                AttributeValue::L(list.into_iter().map(|StoredValue(value)| value).collect())
            }
            "M" => {
                let StoredItem(item) = map.next_value()?;
                AttributeValue::M(item)
            }
            "SS" => AttributeValue::Ss(map.next_value()?),
            "NS" => AttributeValue::Ns(map.next_value()?),
            other => return Err(A::Error::custom(format_args!("a value of type {other}"))),
        })
    }
}
