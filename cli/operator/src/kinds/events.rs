//! Events of timelines. An event belongs to a call, and the call contains the event's id; or it is a submission of a form.

use shared::event::{CallEvent, FormEvent, TimelineEvent};
use shared::ids::{CallId, EventId};
use shared::store::unscoped::calls::CallRecord;
use shared::store::unscoped::events;
use table::item;
use table::unknown::Raw;

use crate::conditions::{record, same_event};

use super::calls::LEAD_OF_EVENT;
use super::prelude::*;

/// The name of the event of a form.
const FORM_RECEIVED: &str = "form.received";
/// Distinguishes identities of events of forms from those of calls.
const OF_FORMS: u64 = 1 << 63;

/// The events of timelines.
#[derive(Debug)]
pub struct Events;

impl RecordKind for Events {
    type Record = TimelineEvent;
    type Line = TimelineEvent;
    const KIND: Kind = Kind::Events;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Id, "lead").needed().refers(Kind::Leads),
        field(
            Shape::OneOf("voip.call_incoming voip.call_outgoing form.received"),
            "name",
        )
        .needed(),
        field(Shape::Id, "operator").needed().refers(Kind::Users),
        field(Shape::Id, "call").needed().decided(Kind::Calls),
        field(Shape::Digits, "phone")
            .up_to(64)
            .note("only its digits are kept"),
        field(Shape::Text, "service").needed().up_to(32),
        field(Shape::Text, "callId").up_to(64),
        field(Shape::OneOf("COMPLETE INCOMPLETE"), "status").needed(),
        field(Shape::Integer, "duration").needed().note("seconds"),
        field(Shape::Time, "createDate").needed(),
        field(Shape::Id, "form")
            .refers(Kind::Hooks)
            .note("of `form.received`"),
        field(Shape::Object, "values").note("of `form.received`"),
    ];

    fn parse(fields: Fields) -> Result<TimelineEvent, String> {
        if fields.get("name") == Some(&FORM_RECEIVED.into()) {
            return read(Self::FIELDS, fields).map(TimelineEvent::Form);
        }
        read(Self::FIELDS, fields).map(TimelineEvent::Call)
    }

    /// The id of the call, because a call has one event. Of the event of a form its own id, apart from calls.
    fn identity(event: &TimelineEvent) -> u64 {
        match event {
            TimelineEvent::Call(event) => event.call.get(),
            TimelineEvent::Form(event) => OF_FORMS | event.id.get(),
        }
    }

    fn event(event: &TimelineEvent) -> Option<(EventId, CallId)> {
        match event {
            TimelineEvent::Call(event) => Some((event.id, event.call)),
            TimelineEvent::Form(_) => None,
        }
    }
}

/// The records are those of forms. The event of a call is derived from the call.
impl StoredKind for Events {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Call, "event")),
        copy: Some(LEAD_OF_EVENT),
        ..Storage::of(
            ["event", "events"],
            |keys| vec![keys.form_events()],
            |_, _| None,
            |_, event| nothing(events::decode(event)),
        )
    };
    const DECODE: fn(Item) -> Result<TimelineEvent, StoreError> =
        |item| events::decode(&item).map(TimelineEvent::Form);

    fn number(event: &TimelineEvent) -> u64 {
        event.id().get()
    }

    /// Writes events, each in place of the event of its call. The event of a call recorded by the webhook is replaced
    /// only with `overwrite`.
    async fn write(operator: &Operator, events: &[&TimelineEvent], mode: Mode) -> Written {
        operator.write_each::<Self>(events, mode).await
    }
}

impl Decide for Events {
    fn reads(keys: Keys<'_>, event: &TimelineEvent, _mode: Mode) -> Vec<Key> {
        match event {
            TimelineEvent::Call(event) => vec![keys.call(event.call)],
            TimelineEvent::Form(event) => vec![keys.form_event(event.lead, event.id)],
        }
    }

    /// The keys of the event, and of the event that the call has.
    fn follow(keys: Keys<'_>, event: &TimelineEvent, found: &FoundItems) -> Result<Vec<Key>, StoreError> {
        let TimelineEvent::Call(event) = event else {
            return Ok(Vec::new());
        };
        let mut further = vec![keys.event(event.lead, event.id)];
        let record = call_of(keys, event, found)?;
        further.extend(record.and_then(|record| former_key(keys, &record)));
        Ok(further)
    }

    fn decide(operator: &Operator, event: &TimelineEvent, found: &FoundItems, mode: Mode) -> Decision {
        match event {
            TimelineEvent::Call(event) => decide_call(operator, event, found, mode),
            TimelineEvent::Form(event) => decide_form(operator.keys(), event, found),
        }
    }
}

fn decide_form(keys: Keys<'_>, event: &FormEvent, found: &FoundItems) -> Decision {
    let key = keys.form_event(event.lead, event.id);
    let stored = found.get(&key).map(events::decode).transpose()?;
    if stored.as_ref() == Some(event) {
        return Err(Skip::Unchanged);
    }
    let mut transaction = Transaction::default();
    transaction.put(key, events::encode(event), Condition::Always);
    transaction.check(keys.lead(event.lead), Condition::Present);
    Ok(transaction)
}

fn decide_call(operator: &Operator, event: &CallEvent, found: &FoundItems, mode: Mode) -> Decision {
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
