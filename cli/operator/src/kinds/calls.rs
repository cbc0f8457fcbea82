//! The call history: each call with its event on the lead's timeline.

use std::borrow::Borrow;

use shared::call::Call;
use shared::event::CallEvent;
use shared::ids::{CallId, EventId, LeadId};
use shared::store::unscoped::calls::{self, CallRecord};
use shared::store::unscoped::erasure::PendingErasures;
use shared::time::Timestamp;

use shared::store::unscoped::derived::Derived;

use crate::conditions::{record, same_event};
use crate::content;

use super::prelude::*;

/// The optional fields of a stored event.
const OPTIONAL_EVENT_ATTRIBUTES: [&str; 2] = ["phone", "callId"];
/// The calls.
#[derive(Debug)]
pub struct Calls;

/// A call of a line. Its time is `create_date`, not the call's own field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLine {
    /// Everything but the time.
    pub call: Call,
    /// The time of the call [default: the stored call's, or now].
    pub create_date: Option<Timestamp>,
    /// Whether the import contains a line of the call's event, so that none is created for it.
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

impl Borrow<Call> for CallLine {
    fn borrow(&self) -> &Call {
        &self.call
    }
}

impl LineOf<Call> for CallLine {
    fn dated(self, now: Timestamp) -> Self {
        self.onto(None, now).into()
    }
}

impl CallLine {
    /// Whether the call needs a new event.
    fn lacks_event(&self, stored: Option<&CallRecord>) -> bool {
        let has_event = stored.is_some_and(|stored| stored.event.is_some());
        self.call.lead.is_some() && !has_event && !self.with_event
    }

    /// The call to store in place of `stored`. A line without a time keeps the stored one.
    fn onto(&self, stored: Option<&CallRecord>, now: Timestamp) -> Call {
        let stored_date = stored.map(|stored| stored.call.create_date);
        Call {
            create_date: self.create_date.or(stored_date).unwrap_or(now),
            ..self.call.clone()
        }
    }
}

impl RecordKind for Calls {
    type Record = Call;
    type Line = CallLine;
    const KIND: Kind = Kind::Calls;
    /// The limits of C-71, without cutting, because an operator can correct a line and a telephony provider cannot.
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Id, "user").needed().refers(Kind::Users),
        field(Shape::Id, "lead").refers(Kind::Leads),
        field(Shape::Digits, "leadPhone")
            .up_to(64)
            .note("only its digits are kept"),
        field(Shape::Text, "service").needed().up_to(32),
        field(Shape::Text, "leadName userName callId").up_to(64),
        field(Shape::Text, "description").up_to(1000),
        field(Shape::OneOf("INCOMING OUTGOING"), "type").needed(),
        field(Shape::OneOf("COMPLETE INCOMPLETE"), "status").needed(),
        field(Shape::Integer, "duration").needed().note("seconds"),
        field(Shape::Flag, "record").needed(),
        field(Shape::Time, "createDate"),
    ];

    fn parse(mut fields: Fields) -> Result<CallLine, String> {
        let create_date = line::take_time(&mut fields, "createDate")?;
        Ok(CallLine {
            call: read(Self::FIELDS, fields)?,
            create_date,
            with_event: false,
        })
    }

    fn identity(call: &Call) -> u64 {
        call.id.get()
    }
}

impl StoredKind for Calls {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Call, "call")),
        further_numbers: |call| {
            Ok(vec![(
                (Counter::Call, "event"),
                item::number("call", call, "event")?,
            )])
        },
        unchanged: |call| {
            let lacks = OPTIONAL.into_iter().filter(|name| !call.contains_key(*name));
            Ok(Condition::Exactly {
                has: call.clone(),
                lacks: lacks.collect(),
            })
        },
        required_lead: |call| Ok(calls::decode_record(call.clone())?.call.lead),
        agrees: |derived, stored| {
            let is_linked = LINKS.iter().all(|name| derived.get(*name) == stored.get(*name));
            is_linked && is_event(stored)
        },
        content_digest: |item| {
            let links = item.iter().filter(|(name, _)| LINKS.contains(&name.as_str()));
            is_event(item).then(|| content::content_digest(links))
        },
        flaw: |call| {
            let stored = calls::decode_record(call.clone())?;
            let is_flawed = stored.call.lead.is_some() && stored.event.is_none();
            Ok(is_flawed.then_some("has a lead and no event"))
        },
        copy: Some(LEAD_OF_EVENT),
        ..Storage::of(
            ["call", "calls"],
            partitions,
            |keys, id| Some(keys.call(CallId::parse(id)?)),
            derived,
        )
    };
    const DECODE: fn(Item) -> Result<Call, StoreError> =
        |item| calls::decode_record(item).map(|record| record.call);
    const STOPS_AT: Option<&'static str> = Some("call");
    const WITHOUT: Option<fn(Call, &PendingErasures) -> Call> = Some(|call, erasures| erasures.call(call));

    fn with_events(line: &mut CallLine, has_event: impl Fn(CallId) -> bool) {
        line.with_event = has_event(line.call.id);
    }

    /// Writes calls, and the event of each call with a lead unless the event has its own line. A call recorded by the
    /// webhook is replaced only with `overwrite`. Leads' `lastActive` stays.
    async fn write(operator: &Operator, lines: &[&CallLine], mode: Mode) -> Written {
        operator.raise_ids::<Self>(lines).await?;
        let decide = async |lines: &[&CallLine], mode| operator.decide_calls(lines, mode).await;
        operator.write_batches(lines, mode, decide).await
    }
}

/// The attributes of an event that are derived. Its own line may have contained more than its call (C-81).
const LINKS: [&str; 3] = ["id", "lead", "call"];
/// Attributes that a stored call may lack. A call has no version, so its whole content is compared.
const OPTIONAL: [&str; 8] = [
    "lead",
    "event",
    "nonce",
    "leadPhone",
    "leadName",
    "userName",
    "callId",
    "description",
];

fn partitions(keys: Keys<'_>) -> Vec<String> {
    keys.calls()
}

/// The event that is derived from a call.
fn derived(keys: Keys<'_>, call: &Item) -> Result<Derived, StoreError> {
    let stored = calls::decode_record(call.clone())?;
    let mut derived = Derived::default();
    if let Some(event) = stored.event.and_then(|id| stored.call.event(id)) {
        derived
            .items
            .insert(keys.event(event.lead, event.id), item::encode("event", &event)?);
    }
    Ok(derived)
}

fn is_event(item: &Item) -> bool {
    item::decode::<CallEvent>("event", item.clone()).is_ok()
}

/// A call and the event of a form contain data of their lead, so the lead must exist, or its erasure be under way.
pub const LEAD_OF_EVENT: CopyRule = CopyRule {
    markers: |keys, record, _| {
        let lead = lead_of_event(record)?;
        Ok(lead.map(|lead| keys.tombstone(lead)).into_iter().collect())
    },
    ..CopyRule::of(
        "lead",
        |keys, record| Ok(lead_of_event(record)?.map(|lead| keys.lead(lead))),
        |_, _| Ok(None),
    )
};

fn lead_of_event(record: &Item) -> Result<Option<LeadId>, StoreError> {
    item::number("event", record, "lead").map(LeadId::new)
}

impl Operator {
    /// Creates the missing events of those of these calls that have a lead. An import calls this if the events' own
    /// lines are refused.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails.
    pub async fn complete_calls(&self, calls: &[CallId]) -> Result<(), OperatorError> {
        let keys = calls.iter().map(|call| self.keys().call(*call));
        let items = self.reads().get_many(keys).await?;
        let records: Result<Vec<_>, _> = items.into_values().map(calls::decode_record).collect();
        let lacking = records?.into_iter();
        let lacking = lacking.filter(|record| record.call.lead.is_some() && record.event.is_none());
        let lines: Vec<_> = lacking.map(|record| CallLine::from(record.call)).collect();
        // The content is the stored one, so nothing is overwritten.
        self.import::<Calls>(&lines, true).await.map(drop)
    }

    /// Decides calls, with new ids for the events that are created.
    async fn decide_calls(&self, lines: &[&CallLine], mode: Mode) -> Result<Vec<Decision>, OperatorError> {
        let keys = self.keys();
        let leads = lines.iter().filter_map(|line| line.call.lead);
        // Before the first decision the import has checked the leads. A retry checks whether they were deleted since.
        let leads = leads.filter(|_| mode.is_retry).map(|lead| keys.lead(lead));
        let calls = lines.iter().map(|line| keys.call(line.call.id));
        let found = FoundItems::from(self.reads().get_many(calls.chain(leads)).await?);
        let stored = |line: &&CallLine| record(found.get(&keys.call(line.call.id)).cloned());
        let records: Vec<_> = lines.iter().map(stored).collect::<Result<_, StoreError>>()?;
        let missing_lead = |line: &CallLine| {
            let lead = line.call.lead.filter(|_| mode.is_retry)?;
            found.need(&keys.lead(lead), "lead", Kind::Leads, lead).err()
        };
        let needs_event = |line: &CallLine, stored: &Option<CallRecord>| {
            line.lacks_event(stored.as_ref()) && missing_lead(line).is_none()
        };
        let pairs = || lines.iter().zip(&records);
        let lacking = pairs().filter(|(line, stored)| needs_event(line, stored));
        let mut new_ids = self.take_event_ids(lacking.count()).await?;
        let decisions = pairs().map(|(line, stored)| {
            if let Some(skip) = missing_lead(line) {
                return Err(skip);
            }
            let new_id = needs_event(line, stored).then(|| new_ids.pop()).flatten();
            self.decide_call(line, stored.as_ref(), new_id, mode)
        });
        Ok(decisions.collect())
    }

    /// New ids for events, the lowest last.
    async fn take_event_ids(&self, count: usize) -> Result<Vec<EventId>, StoreError> {
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

    /// Decides a call. `stored` is the call's record, and `new_id` the id of an event that is created.
    fn decide_call(
        &self,
        line: &CallLine,
        stored: Option<&CallRecord>,
        new_id: Option<EventId>,
        mode: Mode,
    ) -> Decision {
        let call = line.onto(stored, self.now());
        let is_same = stored.is_some_and(|stored| stored.call == call);
        if is_same && new_id.is_none() {
            return Err(Skip::Unchanged);
        }
        // Only the webhook gives a call a nonce.
        let is_of_webhook = stored.is_some_and(|stored| stored.nonce.is_some());
        if !is_same && !mode.overwrite && is_of_webhook {
            return Err(Skip::Refused(format!(
                "call {} was recorded by the webhook since; use --overwrite to replace it",
                call.id
            )));
        }
        Ok(self.replace_call(call, stored, new_id, line.with_event)?)
    }

    /// The writes that replace a call and its event. The event keeps its id, or gets `new_id`. With
    /// `has_event_line` an event that keeps its key is left to its own line.
    fn replace_call(
        &self,
        call: Call,
        stored: Option<&CallRecord>,
        new_id: Option<EventId>,
        has_event_line: bool,
    ) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        let old_event = stored.and_then(|stored| Some(self.keys().event(stored.call.lead?, stored.event?)));
        let id = stored.and_then(|stored| stored.event).or(new_id);
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
        let is_left_to_line = has_event_line && old_event == new_event;
        if let (Some(event_key), Some(event), false) = (new_event, event, is_left_to_line) {
            let item = item::encode("event", &event)?;
            transaction.set(event_key, item, &OPTIONAL_EVENT_ATTRIBUTES, Condition::Always);
        }
        if let Some(lead) = record.call.lead {
            // A transaction that links a lead checks that it exists (C-24).
            transaction.check(self.keys().lead(lead), Condition::Present);
        }
        let condition = stored.map_or(Condition::Absent, same_event);
        let item = record.encode()?;
        transaction.put(self.keys().call(record.call.id), item, condition);
        Ok(transaction)
    }

    /// Replaces the link from a call's lead, through which an erasure finds a call without an event (C-24).
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
