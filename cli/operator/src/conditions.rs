//! Stored calls, which have no version: decoding, and a condition on the event that was read.

use shared::ids::EventId;
use shared::store::unscoped::calls::{self, CallRecord};
use table::item::Item;
use table::{Condition, StoreError};

/// The call of an item, if there is one.
pub fn record(item: Option<Item>) -> Result<Option<CallRecord>, StoreError> {
    item.map(calls::decode_record).transpose()
}

/// The condition that a call still has the event that was read. An absent call meets the condition of a call without an
/// event, but calls are never deleted.
pub fn same_event(stored: &CallRecord) -> Condition {
    Condition::Number {
        name: "event",
        value: stored.event.map_or(0, EventId::get),
    }
}
