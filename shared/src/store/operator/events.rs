//! Events of the timeline as an import writes them (C-81). An event belongs to a call, which knows its event.

use std::collections::HashMap;

use super::batch::Step;
use super::calls::{CallLine, record, same_event};
use super::{Operator, OperatorError, Outcome};
use crate::call::Event;
use crate::id::{CallId, EventId};
use crate::store::calls::CallRecord;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{Counter, Key};
use crate::store::transaction::{Condition, Transaction};
use crate::store::unknown::Raw;

impl Operator {
    /// Writes events, each replacing the event of its call. The event of a call that the webhook recorded is replaced
    /// only where `overwrite` says so. An event of a call that does not exist, or that belongs to another lead, is
    /// refused; the operator is the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_events(
        &self,
        events: &[Event],
        overwrite: bool,
    ) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = events.iter().map(|event| event.id).max() else {
            return Ok(Vec::new());
        };
        // Later events are numbered above imported ones (C-11).
        self.reserve_events(last).await?;
        let steps = self.event_steps(events, overwrite).await?;
        let again = async |at: usize| {
            let event = events.get(at..=at).unwrap_or_default();
            let step = self.event_steps(event, overwrite).await?.pop();
            Ok(step.unwrap_or(Step::Done(Outcome::Unchanged)))
        };
        self.carry_out(steps, again).await
    }

    /// Keeps the numbers up to `last` for events that an import brings.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails.
    pub async fn reserve_events(&self, last: EventId) -> Result<(), OperatorError> {
        let counter = self.keys().counter(Counter::Call);
        Ok(self.table().raise(&counter, "event", last.get()).await?)
    }

    /// Writes the events that these calls should have and do not, because the import that was to bring them brought
    /// none that could be used.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails.
    pub async fn complete_calls(&self, calls: &[CallId]) -> Result<(), OperatorError> {
        let keys = calls.iter().map(|call| self.keys().call(*call));
        let items = self.table().get_many(keys).await?;
        let records: Result<Vec<_>, _> = items.into_values().map(|item| record(Some(item))).collect();
        let lacking = records?.into_iter().flatten();
        let lacking = lacking.filter(|record| record.call.lead.is_some() && record.event.is_none());
        let lines = lacking.map(|record| CallLine::from(record.call)).collect();
        // The content is the stored one, so nothing is overwritten.
        self.import_calls(lines, true).await.map(drop)
    }

    async fn event_steps(&self, events: &[Event], overwrite: bool) -> Result<Vec<Step>, OperatorError> {
        let calls = events.iter().map(|event| self.keys().call(event.call));
        let calls = self.table().get_many(calls).await?;
        let call = |event: &Event| record(calls.get(&self.keys().call(event.call)).cloned());
        let mut keys = Vec::with_capacity(2 * events.len());
        for event in events {
            keys.push(self.keys().event(event.lead, event.id));
            keys.extend(call(event)?.and_then(|record| self.former(&record)));
        }
        let stored = self.table().get_many(keys).await?;
        let steps = events.iter().map(|event| match call(event)? {
            None => Ok(Step::refused(format!("call: call {} does not exist", event.call))),
            Some(record) => self.event_step(event, record, &stored, overwrite),
        });
        Ok(steps.collect::<Result<_, StoreError>>()?)
    }

    /// The key of the event that a call has.
    fn former(&self, record: &CallRecord) -> Option<Key> {
        Some(self.keys().event(record.call.lead?, record.event?))
    }

    fn event_step(
        &self,
        event: &Event,
        record: CallRecord,
        stored: &HashMap<Key, Item>,
        overwrite: bool,
    ) -> Result<Step, StoreError> {
        let key = self.keys().event(event.lead, event.id);
        let at_key = stored.get(&key).cloned();
        let at_key = at_key
            .map(|item| item::decode::<Event>("event", item))
            .transpose()?;
        if let Some(reason) = misplaced(event, &record, at_key.as_ref()) {
            return Ok(Step::refused(reason));
        }
        let former = self.former(&record);
        if former.as_ref() == Some(&key) && at_key.as_ref() == Some(event) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        if record.nonce.is_some() && !overwrite {
            return Ok(Step::refused(format!(
                "call {} was recorded by the webhook since; use --overwrite to replace its event",
                event.call
            )));
        }
        let free = if at_key.is_some() {
            Condition::Present
        } else {
            Condition::Absent
        };
        let before = stored.get(&key).map(Raw::of).unwrap_or_default();
        self.place_event(event, (record, before), former, free)
            .map(Step::Write)
    }

    /// Puts an event in the place of the one that its call had, where its own place is as it was seen.
    fn place_event(
        &self,
        event: &Event,
        (record, before): (CallRecord, Raw),
        former: Option<Key>,
        free: Condition,
    ) -> Result<Transaction, StoreError> {
        let key = self.keys().event(event.lead, event.id);
        let mut transaction = Transaction::default();
        if let Some(former) = former.filter(|former| *former != key) {
            transaction.delete(former, Condition::Always);
        }
        if record.event.is_none() {
            // The event leads to the call from now on.
            let link = self.keys().lead_call(event.lead, event.call);
            transaction.delete(link, Condition::Always);
        }
        transaction.put(key, before.carry_typed("event", event)?, free);
        let unmoved = same_event(&record);
        let record = CallRecord {
            event: Some(event.id),
            ..record
        };
        let call = self.keys().call(event.call);
        transaction.put(call, record.encode()?, unmoved);
        transaction.check(self.keys().lead(event.lead), Condition::Present);
        Ok(transaction)
    }
}

/// Why an event cannot stand on its lead's timeline, where `at_key` has its number by now.
fn misplaced(event: &Event, record: &CallRecord, at_key: Option<&Event>) -> Option<String> {
    let call = event.call;
    match record.call.lead {
        None => return Some(format!("lead: call {call} has no lead")),
        Some(lead) if lead != event.lead => return Some(format!("lead: call {call} belongs to lead {lead}")),
        Some(_) => {}
    }
    let other = at_key.filter(|other| other.call != call)?;
    Some(format!("id: event {} belongs to call {}", event.id, other.call))
}
