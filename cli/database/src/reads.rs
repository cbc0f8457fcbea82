//! Reads: items by key, ranges of a partition, and pages of the whole table.

use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Row};
use table::{AttributeValue, Item, Key, KeyRange, Order, PAGE, Page, Scanned, Selection, read_units};

use crate::codec::decode;
use crate::connection::Span;

/// Maximum bytes of a page.
const MAX_PAGE: usize = 1 << 20;
/// SQLite orders every text before every blob.
const AFTER_TEXTS: ToSqlOutput<'_> = ToSqlOutput::Borrowed(ValueRef::Blob(&[]));

pub const READ: &str = "SELECT size, body, pk, sk FROM items WHERE pk = ?1 AND sk = ?2";

/// Items by key, and their read units. Absent ones are missing.
pub fn get(connection: &Connection, keys: &[Key]) -> rusqlite::Result<(Vec<Item>, f64)> {
    // SQLite then locks the file once.
    let _span = (keys.len() > 1).then(|| Span::reading(connection)).transpose()?;
    let mut statement = connection.prepare_cached(READ)?;
    let (mut items, mut units) = (Vec::with_capacity(keys.len()), 0.0);
    for key in keys {
        let mut rows = statement.query([&key.pk, &key.sk])?;
        let mut size = 0;
        if let Some(row) = rows.next()? {
            size = row.get(0)?;
            items.push(item(row)?);
        }
        units += read_units(size);
    }
    Ok((items, units))
}

/// A page of a range, and its read units.
pub fn query(connection: &Connection, range: &KeyRange, order: Order) -> rusqlite::Result<(Page, f64)> {
    let mut statement = connection.prepare_cached(match order {
        Order::Ascending => {
            "SELECT size, body, pk, sk FROM items WHERE pk = ?1 AND sk > ?2 AND sk <= ?3 ORDER BY sk LIMIT ?4"
        }
        Order::Descending => {
            "SELECT size, body, pk, sk FROM items WHERE pk = ?1 AND sk > ?2 AND sk <= ?3 ORDER BY sk DESC LIMIT ?4"
        }
    })?;
    let through = range.through.as_deref().map_or(AFTER_TEXTS, ToSqlOutput::from);
    let after = range.after.as_deref().unwrap_or_default();
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((&range.partition, after, through, limit))?;
    let (mut items, mut bytes, mut is_full) = (Vec::new(), 0, false);
    while let Some(row) = rows.next()? {
        let size: usize = row.get(0)?;
        is_full = !items.is_empty() && bytes + size > MAX_PAGE;
        if is_full {
            break;
        }
        bytes += size;
        items.push(item(row)?);
    }
    let more = is_full || items.len() >= range.limit;
    Ok((Page { items, more }, read_units(bytes)))
}

/// The selected items of a page of the table in the order of the keys, and the units of all its items.
pub fn scan(
    connection: &Connection,
    wanted: &Selection<'_>,
    after: Option<&Key>,
) -> rusqlite::Result<(Scanned, f64)> {
    let mut statement = connection.prepare_cached(
        "SELECT size, body, pk, sk FROM items WHERE (pk, sk) > (?1, ?2) ORDER BY pk, sk LIMIT ?3",
    )?;
    let (pk, sk) = after.map_or(("", ""), |key| (&key.pk, &key.sk));
    let mut rows = statement.query((pk, sk, i64::try_from(PAGE).unwrap_or(i64::MAX)))?;
    let (mut items, mut bytes, mut count, mut last) = (Vec::new(), 0, 0, None);
    while let Some(row) = rows.next()? {
        let (size, pk): (usize, _) = (row.get(0)?, row.get_ref(2)?.as_str()?);
        (bytes, count) = (bytes + size, count + 1);
        if pk.starts_with(&wanted.prefix) || pk.starts_with(wanted.other_prefix) {
            let read = item(row)?;
            items.extend(wanted.contains(pk, &read).then_some(read));
        }
        if count == PAGE || bytes >= MAX_PAGE {
            last = Some(Key::new(pk, row.get::<_, String>(3)?));
            break;
        }
    }
    Ok((Scanned { items, next: last }, read_units(bytes)))
}

/// All items in the order of their keys.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Item>> {
    let mut statement = connection.prepare_cached("SELECT size, body, pk, sk FROM items ORDER BY pk, sk")?;
    let mut rows = statement.query([])?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push(item(row)?);
    }
    Ok(items)
}

/// The item of a row that ends with its body and key.
pub fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let mut item = decode(row.get_ref(1)?.as_blob()?).ok_or_else(|| {
        let cause = "an item's bytes are damaged".into();
        rusqlite::Error::FromSqlConversionFailure(1, Type::Blob, cause)
    })?;
    item.insert("pk".to_owned(), AttributeValue::S(row.get(2)?));
    item.insert("sk".to_owned(), AttributeValue::S(row.get(3)?));
    Ok(item)
}
