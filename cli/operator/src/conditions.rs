//! Stored records that have no version: reading calls, and conditions on the content that was read.

use shared::ids::EventId;
use shared::store::unscoped::calls::{self, CallRecord};
use table::item::Item;
use table::{Condition, StoreError};

/// The call of an item, if there is one.
pub fn record(item: Option<Item>) -> Result<Option<CallRecord>, StoreError> {
    item.map(calls::decode_record).transpose()
}

/// The call still has the event that was read. Calls are never deleted.
pub fn same_event(stored: &CallRecord) -> Condition {
    Condition::Number {
        name: "event",
        value: stored.event.map_or(0, EventId::get),
    }
}
