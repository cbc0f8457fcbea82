//! Runs automations (C-76, C-102).
//!
//! A call, or another write with an event that triggers an automation, puts a *trigger* into the outbox, in its own
//! transaction ([`facts`](crate::store::facts)). The trigger records the progress of its automations. Each action is
//! one transaction that performs the action and advances the trigger, on condition that the trigger is unchanged. So
//! each action happens exactly once, even if several processes run a trigger or a process fails. The last action
//! deletes the trigger. Actions raise no facts, so automations trigger no others.
//!
//! A notification leaves the table, so it cannot be part of a transaction: its action adds a
//! [notification](deliveries) to the outbox, which is delivered at least once and does not delay later
//! actions.
//!
//! The outbox contains ids, times, traces and the values that filters compare, so no personal data. The current
//! automations apply (C-12): a trigger continues after the last completed action, by automation id and action index.
//! Calls of archived leads write no trigger (C-76). Archiving a lead later does not stop its triggers. Deleting it
//! does.
//!
//! Unreadable entries are [quarantined](crate::store::quarantine), so they fail once and not in every run.

mod actions;
mod deliveries;
mod request;
mod subject;

use futures_util::stream::{self, StreamExt as _};

use crate::automation::{Action, Automation, Circumstances, Event, Moment, Trigger as Kind};
use crate::directory::DirectoryHead;
use crate::ids::AutomationId;
use crate::instance::InstanceName;
use crate::jobs::counters;
use crate::jobs::instances::{INSTANCES, JobOutcome, log_failure};
use crate::store::facts::{FACT, Raised};
use crate::store::key::{self, Cause, Counter, Key};
use crate::store::{Store, Writer, directory};
use crate::time::Timestamp;
use crate::traceparent::Traceparent;
use table::Pages;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{CommitError, Condition, Policy, Transaction};

use subject::Subject;

/// Concurrent triggers of an instance.
const CONCURRENCY: usize = 16;
/// Seconds in which a run begins new triggers of one instance.
const INSTANCE_SECONDS: u32 = 60;

/// Progress of a trigger: id of the last automation, 0 before the first, and index of its next action.
const AUTOMATION: &str = "automation";
const ACTION: &str = "action";

/// A trigger as read.
#[derive(Debug)]
struct OutboxTrigger {
    key: Key,
    cause: Cause,
    /// The raised fact. The fact of a call is derived from its record.
    fact: Option<Raised>,
    trace: Option<Traceparent>,
    version: u64,
    automation: u64,
    action: u64,
}

/// The action that a trigger performs next.
#[derive(Debug)]
pub(crate) struct NextAction<'a> {
    automation: AutomationId,
    /// Index of the action in its automation.
    index: usize,
    action: &'a Action,
}

/// Data for a trigger's next action: the fact, the current records and the automations.
#[derive(Debug)]
pub(crate) struct ActionContext {
    cause: Cause,
    fact: Raised,
    trace: Option<Traceparent>,
    subject: Subject,
    directory: DirectoryHead,
    automations: Vec<Automation>,
}

impl ActionContext {
    /// Whether the fact has the event of an automation and passes its filters.
    fn triggers(&self, automation: &Automation) -> bool {
        self.fact.events.contains(&automation.trigger_event().to_string())
            && automation.filters.admits(&self.fact.circumstances)
    }
}

impl Store {
    /// Runs the automations left in all outboxes. Sends no notifications. Returns the number of triggers.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails. The next run does the rest.
    pub async fn run_triggers(&self) -> Result<u64, StoreError> {
        let instances = self.open_instances_in_turn().await?.into_iter();
        let runs = instances.map(async |name| {
            let store = Writer::of_job(self, name.clone());
            let outcome = store.run_outbox().await;
            outcome.inspect_err(|error| log_failure(&name, "automations", error))
        });
        let mut runs = stream::iter(runs).buffer_unordered(INSTANCES);
        let mut outcomes = JobOutcome::default();
        while let Some(outcome) = runs.next().await {
            outcomes.note(outcome);
        }
        outcomes.result()
    }

    /// Runs the automations of a fact, if not done already. Notifications remain in the outbox. Returns true, and
    /// changes nothing, if the instance is suspended.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails. The next run does the rest.
    pub async fn run_trigger(
        &self,
        instance: &InstanceName,
        cause: impl Into<Cause>,
    ) -> Result<bool, StoreError> {
        let store = Writer::of_job(self, instance.clone());
        store.run(cause.into()).await
    }
}

impl Writer {
    /// Runs the triggers of the outbox page by page. Returns their number.
    pub(super) async fn run_outbox(&self) -> Result<u64, StoreError> {
        let until = self.reader().environment.now().plus_seconds(INSTANCE_SECONDS);
        let mut outcomes = JobOutcome::default();
        let mut pages = Pages::of(key::outbox_triggers(self.keys()));
        while let Some(keys) = pages.next_keys(&self.reader().table).await? {
            counters::count(|counters| counters.outbox += keys.len() as u64);
            let runs = keys.into_iter().map(|key| self.run_in_time(key, until));
            let mut runs = stream::iter(runs).buffered(CONCURRENCY);
            while let Some(outcome) = runs.next().await {
                outcomes.note(outcome);
            }
        }
        outcomes.result()
    }

    /// Runs the trigger at a key, unless `until` has passed. Returns 1 if it ran, 0 if not or if the instance is
    /// suspended.
    async fn run_in_time(&self, key: Key, until: Timestamp) -> Result<u64, StoreError> {
        if self.reader().environment.now() >= until {
            return Ok(0);
        }
        let Some(cause) = key::triggered(&key.sk) else {
            let unnamed = item::corrupt("trigger", "its key names no fact");
            return self.or_quarantine(&key, Err(unnamed)).await;
        };
        self.run(cause).await.map(|suspended| u64::from(!suspended))
    }

    /// Runs the remaining actions of a trigger, or quarantines it if an item is unreadable. Returns whether the
    /// instance is suspended.
    async fn run(&self, cause: Cause) -> Result<bool, StoreError> {
        // On the heap, because it is large.
        let outcome = Box::pin(self.run_actions(cause)).await;
        self.or_quarantine(&self.keys().trigger(cause), outcome).await
    }

    /// Runs the remaining actions of a trigger in sequence, each with its own retries. Each step reads the trigger
    /// again, because a concurrent run may have advanced it. Returns true, without further actions, if the instance is
    /// suspended.
    async fn run_actions(&self, cause: Cause) -> Result<bool, StoreError> {
        let new_retry = || {
            self.reader()
                .table
                .retry(Policy::CONTESTED, "running an automation")
        };
        let (mut retry, mut reserves_id) = (new_retry(), false);
        while let Some((trigger, context)) = self.trigger(cause).await? {
            if context
                .as_ref()
                .is_some_and(|context| !context.directory.is_open())
            {
                return Ok(true);
            }
            let transaction = self.next_step(&trigger, context, reserves_id).await?;
            match self.table.commit(transaction).await {
                Ok(()) => (retry, reserves_id) = (new_retry(), false),
                Err(CommitError::Store(error)) => return Err(error),
                Err(CommitError::Refused(items)) => {
                    // If another writer took the next id, the next attempt reserves one. A concurrent run of the same
                    // trigger is no reason to reserve one.
                    let counter = self.keys().counter(Counter::Opportunity);
                    reserves_id = items.contains_key(&counter) && !items.contains_key(&trigger.key);
                    retry.again().await?;
                }
            }
        }
        counters::count(|counters| counters.triggers += 1);
        Ok(false)
    }

    /// A trigger and the context of its next action. The context is `None` if the fact's record is gone. `None` for
    /// both if the trigger is done. A batch of gets, then at most two gets and a query in parallel.
    async fn trigger(
        &self,
        cause: Cause,
    ) -> Result<Option<(OutboxTrigger, Option<ActionContext>)>, StoreError> {
        let keys = self.keys();
        let trigger_key = keys.trigger(cause);
        let directory_key = keys.directory();
        let record_key = subject::record_key(keys, cause);
        let wanted = [trigger_key.clone(), directory_key.clone(), record_key.clone()];
        let mut found = self.reader().table.get_many(wanted).await?;
        let Some(item) = found.remove(&trigger_key) else {
            return Ok(None);
        };
        let trigger = OutboxTrigger::decode(trigger_key, cause, &item)?;
        let head = found.get(&directory_key).map(directory::decode).transpose()?;
        let record = found.remove(&record_key);
        let (Some(record), Some(head)) = (record, head) else {
            return Ok(Some((trigger, None)));
        };
        let context = self.context(&trigger, record, head.directory).await?;
        Ok(Some((trigger, context)))
    }

    /// The context of a trigger's next action, given its record's item. `None` if a record that it needs is gone.
    async fn context(
        &self,
        trigger: &OutboxTrigger,
        record: Item,
        directory: DirectoryHead,
    ) -> Result<Option<ActionContext>, StoreError> {
        let cause = trigger.cause;
        let (subject, automations) = tokio::try_join!(
            self.reader().subject(cause, Some(record)),
            self.reader().automations()
        )?;
        let context = subject.and_then(|subject| {
            let fact = trigger.fact.clone().or_else(|| fact_of_call(&subject))?;
            Some(ActionContext {
                cause,
                fact: subject.settled(fact),
                trace: trigger.trace.clone(),
                subject,
                directory,
                automations,
            })
        });
        Ok(context)
    }

    /// The writes that perform the next action and advance the trigger. An action that can never be performed is logged
    /// and skipped. Without a next action or without the record, the writes delete the trigger.
    async fn next_step(
        &self,
        trigger: &OutboxTrigger,
        context: Option<ActionContext>,
        reserves_id: bool,
    ) -> Result<Transaction, StoreError> {
        let next = context
            .as_ref()
            .and_then(|context| Some((context, trigger.next_action(context)?)));
        let Some((context, next)) = next else {
            let mut transaction = Transaction::default();
            transaction.delete(trigger.key.clone(), Condition::Version(trigger.version));
            return Ok(transaction);
        };
        let mut transaction = match self.writes_of(context, &next, reserves_id).await? {
            Ok(transaction) => transaction,
            Err(reason) => {
                let (instance, fact) = (self.reader().instance().as_str(), context.cause.label());
                let automation = next.automation.get();
                tracing::warn!(
                    instance,
                    fact,
                    automation,
                    action = next.index,
                    reason,
                    "an action is left out"
                );
                counters::count(|counters| counters.actions_left_out += 1);
                Transaction::default()
            }
        };
        let mut progress = Item::from([
            (AUTOMATION.to_owned(), n(next.automation)),
            (ACTION.to_owned(), n(next.index + 1)),
        ]);
        // The filters of later automations compare these values, not those that an action changes.
        if !trigger.fact.as_ref().is_some_and(|fact| fact.is_settled) {
            progress.insert(FACT.to_owned(), s(serde_json::json!(context.fact).to_string()));
        }
        let if_unchanged = Condition::Version(trigger.version);
        transaction.update(trigger.key.clone(), "v", 1, progress, if_unchanged);
        Ok(transaction)
    }
}

/// The fact that a received call raises; `None` if the subject is no call.
fn fact_of_call(subject: &Subject) -> Option<Raised> {
    let event = Event {
        trigger: Kind::LeadPhoneCall,
        moment: Moment::Received,
    };
    Some(Raised {
        at: subject.call.as_ref()?.create_date,
        events: vec![event.to_string()],
        is_settled: false,
        circumstances: Circumstances::default(),
    })
}

impl OutboxTrigger {
    fn decode(key: Key, cause: Cause, item: &Item) -> Result<Self, StoreError> {
        let number = |name| item::number("trigger", item, name);
        let fact = match cause {
            // The trigger of a call has no fact before its first action.
            Cause::Call(_) if !item.contains_key(FACT) => None,
            _ => Some(item::need_json("trigger", item, FACT)?),
        };
        Ok(Self {
            version: number("v")?,
            automation: number(AUTOMATION)?,
            action: number(ACTION)?,
            key,
            cause,
            fact,
            trace: Traceparent::of_item(item),
        })
    }

    /// The first action after the trigger's progress. Automations run in order of their ids, each with its actions in
    /// sequence. `None` if all are done.
    fn next_action<'a>(&self, context: &'a ActionContext) -> Option<NextAction<'a>> {
        for automation in context.automations.iter().filter(|automation| automation.active) {
            let id = automation.id.get();
            let is_begun = id == self.automation;
            // A begun automation continues even if its own actions changed the values that its filters compare.
            let runs = is_begun || (id > self.automation && context.triggers(automation));
            if !runs {
                continue;
            }
            let done = if is_begun { self.action } else { 0 };
            let index = usize::try_from(done).unwrap_or(usize::MAX);
            if let Some(action) = automation.actions.get(index) {
                return Some(NextAction {
                    automation: automation.id,
                    index,
                    action,
                });
            }
        }
        None
    }
}
