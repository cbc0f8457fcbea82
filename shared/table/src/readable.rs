//! Items of lists, which are omitted if they cannot be read.

use crate::error::StoreError;
use crate::item::Item;
use crate::key::key_of;
use crate::meter;

/// Decodes an entry of a list. Omits an unreadable one, because it must not fail the list. Logs an omitted item with
/// its key and counts it in the request's [`Cost`](meter::Cost).
pub fn readable<T>(item: Item, decode: impl FnOnce(Item) -> Result<T, StoreError>) -> Option<T> {
    let key = key_of(&item).ok()?;
    let value = decode(item).ok();
    if value.is_none() {
        tracing::warn!(pk = key.pk, sk = key.sk, "an unreadable item was omitted");
        meter::omitted(key);
    }
    value
}
