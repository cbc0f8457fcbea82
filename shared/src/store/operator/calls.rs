//! The call history as an import writes it (C-81): each call with its event on the lead's timeline.

use super::batch::Step;
use super::{Operator, OperatorError, Outcome};
use crate::call::Call;
use crate::id::EventId;
use crate::store::calls::{self, CallRecord};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::Counter;
use crate::store::transaction::{Condition, Transaction};
use crate::time::Timestamp;

/// What a stored event may lack.
const EVENT_MAY_LACK: [&str; 2] = ["phone", "callId"];

/// A call as an import brings it: the time of the call itself counts for nothing, because a line may leave it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLine {
    /// Everything but the time.
    pub call: Call,
    /// Where it is absent the stored call's stays, and a new call's is now.
    pub create_date: Option<Timestamp>,
    /// The import brings the call's event too, so none is made up for it.
    pub with_event: bool,
}

impl From<Call> for CallLine {
    fn from(call: Call) -> Self {
        Self {
            create_date: Some(call.create_date),
            with_event: false,
            call,
        }
    }
}

impl CallLine {
    /// Whether an event must be numbered for the call.
    fn lacks_event(&self, stored: Option<&CallRecord>) -> bool {
        let has = stored.is_some_and(|stored| stored.event.is_some());
        self.call.lead.is_some() && !has && !self.with_event
    }

    /// The call as it is to be stored.
    fn onto(&self, stored: Option<&CallRecord>, now: Timestamp) -> Call {
        let stored = stored.map(|stored| stored.call.create_date);
        Call {
            create_date: self.create_date.or(stored).unwrap_or(now),
            ..self.call.clone()
        }
    }
}

impl Operator {
    /// Writes calls, each replacing the one of its id, and for each with a lead its event, where it has none that stays.
    /// A call that the webhook recorded is replaced only where `overwrite` says so. Leads' `lastActive` stays.
    ///
    /// The user is the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_calls(
        &self,
        lines: Vec<CallLine>,
        overwrite: bool,
    ) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = lines.iter().map(|line| line.call.id.get()).max() else {
            return Ok(Vec::new());
        };
        // Raised first, so that the webhook takes none of these numbers (C-11).
        let counter = self.keys().counter(Counter::Call);
        self.table().raise(&counter, "call", last).await?;
        let keys = lines.iter().map(|line| self.keys().call(line.call.id));
        let mut items = self.table().get_many(keys).await?;
        let records = lines
            .iter()
            .map(|line| record(items.remove(&self.keys().call(line.call.id))));
        let records: Vec<_> = records.collect::<Result<_, _>>()?;
        let pairs = || lines.iter().zip(&records);
        let lacking = pairs().filter(|(line, stored)| line.lacks_event(stored.as_ref()));
        let mut numbers = self.take_event_numbers(lacking.count()).await?;
        let steps = pairs().map(|(line, stored)| {
            let lacks = line.lacks_event(stored.as_ref());
            let number = if lacks { numbers.pop() } else { None };
            self.call_step(line, stored.as_ref(), number, overwrite)
        });
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| match lines.get(at) {
            Some(line) => self.decide_call(line, overwrite).await,
            None => Ok(Step::Done(Outcome::Unchanged)),
        };
        self.carry_out(steps, again).await
    }

    /// New numbers for events, the lowest last.
    async fn take_event_numbers(&self, count: usize) -> Result<Vec<EventId>, StoreError> {
        let count = count as u64;
        if count == 0 {
            return Ok(Vec::new());
        }
        let counter = self.keys().counter(Counter::Call);
        let taken = self.table().add(&counter, &["event"], count).await?;
        let last = taken.first().copied().unwrap_or_default();
        let numbers = (0..count).map(|back| EventId::new(last.saturating_sub(back)));
        numbers
            .collect::<Option<_>>()
            .ok_or(StoreError::Contention("numbering"))
    }

    async fn decide_call(&self, line: &CallLine, overwrite: bool) -> Result<Step, OperatorError> {
        let stored = record(self.table().get(&self.keys().call(line.call.id)).await?)?;
        if let Some(lead) = line.call.lead
            && self.existing_leads([lead]).await?.is_empty()
        {
            return Ok(Step::refused(format!("lead: lead {lead} does not exist")));
        }
        let lacking = usize::from(line.lacks_event(stored.as_ref()));
        let number = self.take_event_numbers(lacking).await?.pop();
        Ok(self.call_step(line, stored.as_ref(), number, overwrite)?)
    }

    fn call_step(
        &self,
        line: &CallLine,
        stored: Option<&CallRecord>,
        number: Option<EventId>,
        overwrite: bool,
    ) -> Result<Step, StoreError> {
        let call = line.onto(stored, self.now());
        let same = stored.is_some_and(|stored| stored.call == call);
        if same && number.is_none() {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        if !same && !overwrite && stored.is_some_and(|stored| stored.nonce.is_some()) {
            return Ok(Step::refused(format!(
                "call {} was recorded by the webhook since; use --overwrite to replace it",
                call.id
            )));
        }
        Ok(Step::Write(self.replace_call(
            call,
            stored,
            number,
            line.with_event,
        )?))
    }

    /// Puts a call and its event in the place of what is stored of them.
    fn replace_call(
        &self,
        call: Call,
        stored: Option<&CallRecord>,
        number: Option<EventId>,
        with_event: bool,
    ) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        let old_event = stored.and_then(|stored| Some(self.keys().event(stored.call.lead?, stored.event?)));
        let id = stored.and_then(|stored| stored.event).or(number);
        let event = id.and_then(|id| call.event(id));
        let new_event = event
            .as_ref()
            .map(|event| self.keys().event(event.lead, event.id));
        if let Some(old) = old_event.as_ref().filter(|old| new_event.as_ref() != Some(old)) {
            transaction.delete(old.clone(), Condition::Always);
        }
        let record = CallRecord {
            event: event.as_ref().map(|event| event.id),
            nonce: None,
            raw: stored.map(|stored| stored.raw.clone()).unwrap_or_default(),
            call,
        };
        self.link_call(&mut transaction, stored, &record);
        // An event that has its own line and stays where it is comes with that line.
        let stays = with_event && old_event == new_event;
        if let (Some(key), Some(event), false) = (new_event, event, stays) {
            let item = item::encode("event", &event)?;
            transaction.set(key, item, &EVENT_MAY_LACK, Condition::Always);
        }
        if let Some(lead) = record.call.lead {
            // C-24: what links a lead checks in its own transaction that it exists.
            transaction.check(self.keys().lead(lead), Condition::Present);
        }
        let condition = stored.map_or(Condition::Absent, same_event);
        let item = record.encode()?;
        transaction.put(self.keys().call(record.call.id), item, condition);
        Ok(transaction)
    }
}

impl Operator {
    /// A call whose event comes later is found through a link meanwhile, so that the person can be taken out of it (C-24).
    fn link_call(&self, transaction: &mut Transaction, stored: Option<&CallRecord>, record: &CallRecord) {
        let link = |record: &CallRecord| {
            let lead = record.call.lead.filter(|_| record.event.is_none())?;
            Some(self.keys().lead_call(lead, record.call.id))
        };
        let (old, new) = (stored.and_then(link), link(record));
        if let Some(old) = old.filter(|old| new.as_ref() != Some(old)) {
            transaction.delete(old, Condition::Always);
        }
        if let Some(new) = new {
            transaction.put(new, Item::new(), Condition::Always);
        }
    }
}

/// The record that an item holds, if any.
pub(super) fn record(item: Option<Item>) -> Result<Option<CallRecord>, StoreError> {
    item.map(calls::decode_record).transpose()
}

/// That a stored call still has the event it had: calls are never deleted, and have no version of their own.
pub(super) fn same_event(stored: &CallRecord) -> Condition {
    Condition::Number {
        name: "event",
        value: stored.event.map_or(0, EventId::get),
    }
}
