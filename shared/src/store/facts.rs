//! Facts: the events that writes of leads, opportunities and meetings raise for automations (C-102).
//!
//! A write builds its transaction with [`Writer::put_record`], or [`Writer::add_lead`] for a new lead. Both put the
//! record, its derived items and, if an active automation has one of its events, an outbox entry. So a fact is raised
//! exactly once if its write succeeds. A new kind of write needs nothing else.
//!
//! The head of the directory, which every request reads, contains the events of active automations. So a fact without
//! an automation costs nothing. Writes of background work and of imports do not raise facts.
//!
//! An outbox entry contains ids, the time and the values that filters compare, but no name, address or number. Its key
//! contains the version of the written record, so every write has its own entry.

use serde::{Deserialize, Serialize};

use super::Writer;
use super::entity::{Entity, Stored};
use super::key::Cause;
use super::leads::{Details, LeadState};
use super::opportunities::OpportunitySnapshot;
use crate::automation::{Circumstances, Event, Moment, Trigger};
use crate::event::FormEvent;
use crate::lead::Lead;
use crate::meeting::{Meeting, MeetingStatus};
use crate::time::Timestamp;
use crate::traceparent::{self, Traceparent};
use table::item::{Item, n, s};
use table::{Condition, StoreError, Transaction};

/// The attribute of an outbox entry with its [`Raised`] fact as JSON.
pub const FACT: &str = "fact";

/// A fact in the outbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Raised {
    /// Time of the write.
    pub at: Timestamp,
    /// The events of the write for which an automation was active.
    pub events: Vec<String>,
    /// Whether `circumstances` has all values that filters compare. Otherwise those of other records are added before the
    /// first action.
    #[serde(rename = "settled", default)]
    pub is_settled: bool,
    /// The values that filters compare, after the write.
    #[serde(flatten)]
    pub circumstances: Circumstances,
}

/// A kind of record. Its writes are facts.
pub trait Factual: Entity {
    /// The trigger of its events.
    const TRIGGER: Trigger;
    /// Whether [`Self::circumstances`] has all values that filters compare.
    const IS_SETTLED: bool = true;

    /// The fact of the write that gave the record this version.
    fn cause(&self, version: u64) -> Cause;

    /// The kinds of change that a write makes, such as `Updated`. The write replaces `before` with `self`, or creates
    /// `self` if `before` is `None`.
    fn moments(&self, before: Option<&Self>) -> Vec<Moment>;

    /// The values that filters compare.
    fn circumstances(&self) -> Circumstances;
}

impl Writer {
    /// Returns the writes that replace `stored` with `record`, or add `record` if `stored` is `None`. They include the
    /// derived items of `record` and, if active automations watch events of this write, one outbox entry with these. The
    /// transaction requires that the stored version is unchanged, or that no record exists if `stored` is `None`.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if `record` cannot be encoded.
    pub fn put_record<E: Factual>(
        &self,
        record: &Stored<E>,
        stored: Option<&Stored<E>>,
    ) -> Result<Transaction, StoreError> {
        let mut transaction = record.put(self.keys(), stored)?;
        let moments = || record.value.moments(stored.map(|stored| &stored.value));
        let events = self.watched_events(E::TRIGGER, moments);
        let cause = record.value.cause(record.version);
        let circumstances = || record.value.circumstances();
        self.raise(&mut transaction, cause, (events, E::IS_SETTLED), circumstances);
        Ok(transaction)
    }

    /// Adds a submission of a form to the outbox, if an active automation waits for it.
    pub(crate) fn raise_form(&self, transaction: &mut Transaction, event: &FormEvent, lead: &Lead) {
        let events = self.watched_events(Trigger::Form, || vec![Moment::Received]);
        let circumstances = || Circumstances {
            form: Some(event.form),
            ..circumstances_of(lead)
        };
        let cause = Cause::Form(event.lead, event.id);
        self.raise(transaction, cause, (events, true), circumstances);
    }

    /// Adds an outbox entry with these events, if there are any.
    fn raise(
        &self,
        transaction: &mut Transaction,
        cause: Cause,
        (events, is_settled): (Vec<String>, bool),
        circumstances: impl FnOnce() -> Circumstances,
    ) {
        if events.is_empty() {
            return;
        }
        let fact = Raised {
            at: self.reader.environment.now(),
            events,
            is_settled,
            circumstances: circumstances(),
        };
        let text = serde_json::json!(fact).to_string();
        let mut item = Item::from([("v".to_owned(), n(1)), (FACT.to_owned(), s(text))]);
        item.extend(traceparent::attribute(Traceparent::current().as_ref()));
        transaction.put(self.keys().trigger(cause), item, Condition::Always);
    }

    /// Adds the writes of a new lead, with the outbox entry of its facts, to a transaction. The caller takes the lead's
    /// id at the counter.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if it cannot be encoded.
    pub fn add_lead(&self, transaction: &mut Transaction, lead: Lead) -> Result<(), StoreError> {
        let state = LeadState {
            lead,
            company: None,
            unlinked: true,
            details: Details::default(),
        };
        let record = Stored::made(state, None);
        transaction.merge(self.put_record(&record, None)?);
        Ok(())
    }

    /// Whether an active automation waits for calls, so that they need an outbox entry (C-76).
    pub(crate) fn has_call_automation(&self) -> bool {
        self.directory
            .as_ref()
            .is_some_and(|directory| directory.triggers)
    }

    /// The events of these moments for which an automation is active; none in background work. `moments` is called only
    /// if any automation is active.
    fn watched_events(&self, trigger: Trigger, moments: impl FnOnce() -> Vec<Moment>) -> Vec<String> {
        // A writer of background work has no directory.
        let Some(directory) = &self.directory else {
            return Vec::new();
        };
        if directory.events.is_empty() {
            return Vec::new();
        }
        let moments = moments().into_iter();
        let events = moments.map(|moment| Event { trigger, moment }.to_string());
        events.filter(|event| directory.events.contains(event)).collect()
    }
}

/// The moments of a change: `Updated` if anything changed, and those of `more` whose condition holds.
fn moments_of_change<const N: usize>(is_changed: bool, more: [(bool, Moment); N]) -> Vec<Moment> {
    let all = [(is_changed, Moment::Updated)].into_iter().chain(more);
    all.filter(|(applies, _)| *applies)
        .map(|(_, moment)| moment)
        .collect()
}

/// Whether a change of a lead is more than that of `lastActive`, which raises nothing (C-73).
pub fn differs(old: &Lead, new: &Lead) -> bool {
    let last_active = old.last_active;
    *old != Lead {
        last_active,
        ..new.clone()
    }
}

fn circumstances_of(lead: &Lead) -> Circumstances {
    Circumstances {
        owner: lead.owner,
        source: lead.acquisition_channel.clone(),
        ..Circumstances::default()
    }
}

impl Factual for LeadState {
    const TRIGGER: Trigger = Trigger::Lead;

    fn cause(&self, version: u64) -> Cause {
        Cause::Lead(self.lead.id, version)
    }

    fn moments(&self, before: Option<&Self>) -> Vec<Moment> {
        let Some(before) = before else {
            return vec![Moment::Created];
        };
        let (old, new) = (&before.lead, &self.lead);
        moments_of_change(
            differs(old, new),
            [
                (old.owner != new.owner, Moment::OwnerChanged),
                (!old.archived && new.archived, Moment::Archived),
            ],
        )
    }

    fn circumstances(&self) -> Circumstances {
        circumstances_of(&self.lead)
    }
}

impl Factual for OpportunitySnapshot {
    const TRIGGER: Trigger = Trigger::Opportunity;

    fn cause(&self, version: u64) -> Cause {
        Cause::Opportunity(self.opportunity.id, version)
    }

    fn moments(&self, before: Option<&Self>) -> Vec<Moment> {
        let Some(before) = before else {
            return vec![Moment::Created];
        };
        let (old, new) = (&before.opportunity, &self.opportunity);
        moments_of_change(
            old != new,
            [
                (old.crm_column != new.crm_column, Moment::ColumnChanged),
                (old.status != new.status, Moment::StatusChanged),
            ],
        )
    }

    fn circumstances(&self) -> Circumstances {
        let lead = self.lead.as_ref();
        Circumstances {
            source: lead.and_then(|lead| lead.acquisition_channel.clone()),
            ..Circumstances::of(&self.opportunity)
        }
    }
}

impl Factual for Meeting {
    const TRIGGER: Trigger = Trigger::Meeting;
    const IS_SETTLED: bool = false;

    fn cause(&self, version: u64) -> Cause {
        Cause::Meeting(self.id, version)
    }

    fn moments(&self, before: Option<&Self>) -> Vec<Moment> {
        match before {
            None => vec![Moment::Booked],
            Some(_) if self.status == MeetingStatus::Canceled => vec![Moment::Canceled],
            Some(_) => vec![Moment::Moved],
        }
    }

    fn circumstances(&self) -> Circumstances {
        Circumstances {
            owner: self.user_id,
            ..Circumstances::default()
        }
    }
}
