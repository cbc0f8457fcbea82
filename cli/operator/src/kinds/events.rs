//! Events of the timeline. An event belongs to a call, and the call contains the event's id.

use shared::call::CallEvent;
use shared::ids::{CallId, EventId};
use shared::phone::digits;
use shared::store::unscoped::calls::CallRecord;
use table::item;
use table::unknown::Raw;

use crate::conditions::{record, same_event};

use super::prelude::*;

/// The events of calls.
#[derive(Debug)]
pub struct Events;

impl RecordKind for Events {
    type Record = CallEvent;
    type Line = CallEvent;
    const KIND: Kind = Kind::Events;

    fn parse(fields: Fields) -> Result<CallEvent, String> {
        let mut event: CallEvent = line::read(fields)?;
        event.phone = event.phone.as_deref().map(digits);
        within("service", Some(&event.service), 32)?;
        within("phone", event.phone.as_deref(), 64)?;
        within("callId", event.call_id.as_deref(), 64)?;
        Ok(event)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<CallEvent>()
    }

    /// The id of the call, because a call has one event.
    fn identity(event: &CallEvent) -> u64 {
        event.call.get()
    }

    fn references(event: &CallEvent, to: &mut References) {
        to.add("operator", Referent::User, [event.operator]);
        to.add("lead", Referent::Lead, [event.lead]);
    }

    fn event(event: &CallEvent) -> Option<(EventId, CallId)> {
        Some((event.id, event.call))
    }

    fn export(event: &CallEvent) -> serde_json::Result<Fields> {
        sparse(event)
    }
}

impl ImportKind for Events {
    /// Writes events, each in place of the event of its call. The event of a call recorded by the webhook is replaced
    /// only with `overwrite`.
    async fn write(operator: &Operator, events: &[&CallEvent], mode: Mode) -> Written {
        if let Some(last) = events.iter().map(|event| event.id).max() {
            operator.reserve_events(last).await?;
        }
        operator.write_each::<Self>(events, mode).await
    }
}

impl Decide for Events {
    fn reads(keys: Keys<'_>, event: &CallEvent, _mode: Mode) -> Vec<Key> {
        vec![keys.call(event.call)]
    }

    /// The keys of the event, and of the event that the call has.
    fn follow(keys: Keys<'_>, event: &CallEvent, found: &FoundItems) -> Result<Vec<Key>, StoreError> {
        let mut further = vec![keys.event(event.lead, event.id)];
        let record = call_of(keys, event, found)?;
        further.extend(record.and_then(|record| former_key(keys, &record)));
        Ok(further)
    }

    fn decide(operator: &Operator, event: &CallEvent, found: &FoundItems, mode: Mode) -> Decision {
        let keys = operator.keys();
        let call = keys.call(event.call);
        found.need(&call, "call", Kind::Calls, event.call)?;
        // Never skipped here, because the call exists.
        let record = call_of(keys, event, found)?.ok_or(Skip::Unchanged)?;
        let key = keys.event(event.lead, event.id);
        let at_key = found.get(&key).cloned();
        let at_key = at_key
            .map(|item| item::decode::<CallEvent>("event", item))
            .transpose()?;
        if let Some(reason) = misplacement(event, &record, at_key.as_ref()) {
            return Err(Skip::Refused(reason));
        }
        let former = former_key(keys, &record);
        if former.as_ref() == Some(&key) && at_key.as_ref() == Some(event) {
            return Err(Skip::Unchanged);
        }
        // Only the webhook gives a call a nonce.
        let is_of_webhook = record.nonce.is_some();
        if is_of_webhook && !mode.overwrite {
            return Err(Skip::Refused(format!(
                "call {} was recorded by the webhook since; use --overwrite to replace its event",
                event.call
            )));
        }
        let presence = if at_key.is_some() {
            Condition::Present
        } else {
            Condition::Absent
        };
        let stored = found.get(&key).map(Raw::of).unwrap_or_default();
        Ok(operator.place_event(event, (call, record), former, (stored, presence))?)
    }
}

/// The record of an event's call.
fn call_of(keys: Keys<'_>, event: &CallEvent, found: &FoundItems) -> Result<Option<CallRecord>, StoreError> {
    record(found.get(&keys.call(event.call)).cloned())
}

/// The key of the event that a call has.
fn former_key(keys: Keys<'_>, record: &CallRecord) -> Option<Key> {
    Some(keys.event(record.call.lead?, record.event?))
}

impl Operator {
    /// Reserves the ids up to `last` for imported events, so that later events have higher ones (C-11).
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails.
    pub async fn reserve_events(&self, last: EventId) -> Result<(), OperatorError> {
        let counter = self.keys().counter(Counter::Call);
        Ok(self.table().raise(&counter, "event", last.get()).await?)
    }

    /// Puts an event in place of its call's former event, on condition that the call still has the event that was read
    /// and that the lead exists. `stored` is the item at the event's own key, and `presence` the condition that it is
    /// still present, or still absent.
    fn place_event(
        &self,
        event: &CallEvent,
        (call, record): (Key, CallRecord),
        former: Option<Key>,
        (stored, presence): (Raw, Condition),
    ) -> Result<Transaction, StoreError> {
        let key = self.keys().event(event.lead, event.id);
        let mut transaction = Transaction::default();
        // The condition of the call guards the deletions too.
        if let Some(former) = former.filter(|former| *former != key) {
            transaction.delete(former, Condition::Always);
        }
        if record.event.is_none() {
            // The event replaces the link from the lead to the call.
            let link = self.keys().lead_call(event.lead, event.call);
            transaction.delete(link, Condition::Always);
        }
        transaction.put(key, stored.carry_typed("event", event)?, presence);
        let unmoved = same_event(&record);
        let record = CallRecord {
            event: Some(event.id),
            ..record
        };
        transaction.put(call, record.encode()?, unmoved);
        transaction.check(self.keys().lead(event.lead), Condition::Present);
        Ok(transaction)
    }
}

/// The reason why an event cannot be on its lead's timeline. `at_key` is the stored event with its id.
fn misplacement(event: &CallEvent, record: &CallRecord, at_key: Option<&CallEvent>) -> Option<String> {
    let call = event.call;
    match record.call.lead {
        None => return Some(format!("lead: call {call} has no lead")),
        Some(lead) if lead != event.lead => return Some(format!("lead: call {call} belongs to lead {lead}")),
        Some(_) => {}
    }
    let other = at_key.filter(|other| other.call != call)?;
    Some(format!("id: event {} belongs to call {}", event.id, other.call))
}
