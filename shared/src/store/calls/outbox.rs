//! Outbox entries of calls, which automations process.

use crate::ids::CallId;
use crate::store::key::Keys;
use crate::traceparent;
use table::item::{Item, n};
use table::{Condition, Transaction};

/// Adds a call to the outbox, in the transaction that records it.
pub fn enqueue(transaction: &mut Transaction, keys: Keys<'_>, call: CallId) {
    let mut item = Item::from([("v".to_owned(), n(1))]);
    item.extend(traceparent::attribute(
        traceparent::Traceparent::current().as_ref(),
    ));
    transaction.put(keys.trigger(call.into()), item, Condition::Always);
}
