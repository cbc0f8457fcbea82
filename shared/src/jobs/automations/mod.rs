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
use table::item::{self, Item, n};
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

/// Preconditions of a trigger's next action.
#[derive(Debug)]
pub(crate) struct Ground {
    cause: Cause,
    fact: Raised,
    trace: Option<Traceparent>,
    subject: Subject,
    directory: DirectoryHead,
    automations: Vec<Automation>,
}

impl Ground {
    /// Whether the fact triggers an active automation.
    fn admits(&self, automation: &Automation) -> bool {
        let circumstances = self.subject.circumstances(&self.fact.circumstances);
        self.fact.events.contains(&automation.what().to_string())
            && automation.filters.admit(&circumstances, self.subject.source())
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
        let mut tally = JobOutcome::default();
        while let Some(outcome) = runs.next().await {
            tally.note(outcome);
        }
        tally.result()
    }

    /// Runs the automations of a fact, if not done already. Notifications remain in the outbox. Returns whether the
    /// instance is suspended. Its outbox then remains unchanged.
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
    /// Runs the triggers of the outbox page by page.
    async fn run_outbox(&self) -> Result<u64, StoreError> {
        let (until, mut tally) = (
            self.reader().environment.now().plus_seconds(INSTANCE_SECONDS),
            JobOutcome::default(),
        );
        let mut pages = Pages::of(key::outbox_triggers(self.keys()));
        while let Some(keys) = pages.next_keys(&self.reader().table).await? {
            counters::count(|counters| counters.outbox += keys.len() as u64);
            let runs = keys.into_iter().map(|key| self.run_in_time(key, until));
            let mut runs = stream::iter(runs).buffered(CONCURRENCY);
            while let Some(outcome) = runs.next().await {
                tally.note(outcome);
            }
        }
        tally.result()
    }

    /// Runs the trigger at a key, unless time is up. Returns 1 if it ran.
    async fn run_in_time(&self, key: Key, until: Timestamp) -> Result<u64, StoreError> {
        match key::triggered(&key.sk) {
            _ if self.reader().environment.now() >= until => Ok(0),
            Some(cause) => self.run(cause).await.map(|suspended| u64::from(!suspended)),
            None => {
                let unnamed = item::corrupt("trigger", "its key names no fact");
                self.or_set_aside(&key, Err(unnamed)).await
            }
        }
    }

    /// Runs the rest of a trigger. Quarantines an unreadable trigger.
    async fn run(&self, cause: Cause) -> Result<bool, StoreError> {
        // On the heap, because it is large.
        let outcome = Box::pin(self.carry_out(cause)).await;
        self.or_set_aside(&self.keys().trigger(cause), outcome).await
    }

    /// Runs the remaining actions of a trigger in sequence. Returns whether the instance is suspended.
    async fn carry_out(&self, cause: Cause) -> Result<bool, StoreError> {
        let anew = || {
            self.reader()
                .table
                .retry(Policy::CONTESTED, "running an automation")
        };
        let (mut retry, mut crowded) = (anew(), false);
        while let Some((trigger, ground)) = self.trigger(cause).await? {
            if ground.as_ref().is_some_and(|ground| !ground.directory.is_open()) {
                return Ok(true);
            }
            let transaction = self.next_step(&trigger, ground, crowded).await?;
            match self.table.commit(transaction).await {
                Ok(()) => (retry, crowded) = (anew(), false),
                Err(CommitError::Store(error)) => return Err(error),
                Err(CommitError::Refused(items)) => {
                    // A concurrent run of the same trigger does not justify reserving an id.
                    let counter = self.keys().counter(Counter::Opportunity);
                    crowded = items.contains_key(&counter) && !items.contains_key(&trigger.key);
                    retry.again().await?;
                }
            }
        }
        counters::count(|counters| counters.triggers += 1);
        Ok(false)
    }

    /// A trigger and the preconditions of its next action, which are absent if its record is gone. `None` if all is
    /// done. A batch of gets, then at most two gets and a query in parallel.
    async fn trigger(&self, cause: Cause) -> Result<Option<(OutboxTrigger, Option<Ground>)>, StoreError> {
        let keys = self.keys();
        let (key, places, settings) = (
            keys.trigger(cause),
            subject::places(keys, cause),
            keys.directory(),
        );
        let wanted = [key.clone(), settings.clone()];
        let wanted = wanted.into_iter().chain(places.iter().cloned());
        let mut found = self.reader().table.get_many(wanted).await?;
        let Some(item) = found.remove(&key) else {
            return Ok(None);
        };
        let trigger = OutboxTrigger::decode(key, cause, &item)?;
        let settings = found.get(&settings).map(directory::decode).transpose()?;
        let record = places.iter().find_map(|place| found.remove(place));
        let (Some(record), Some(settings)) = (record, settings) else {
            return Ok(Some((trigger, None)));
        };
        let ground = self.ground(&trigger, record, settings.directory).await?;
        Ok(Some((trigger, ground)))
    }

    async fn ground(
        &self,
        trigger: &OutboxTrigger,
        record: Item,
        directory: DirectoryHead,
    ) -> Result<Option<Ground>, StoreError> {
        let cause = trigger.cause;
        let (subject, automations) = tokio::try_join!(
            self.reader().subject(cause, Some(record)),
            self.reader().automations()
        )?;
        let ground = subject.and_then(|subject| {
            Some(Ground {
                cause,
                fact: trigger.fact.clone().or_else(|| received(&subject))?,
                trace: trigger.trace.clone(),
                subject,
                directory,
                automations,
            })
        });
        Ok(ground)
    }

    /// The writes that perform the next action and advance the trigger, or delete it at the end.
    async fn next_step(
        &self,
        trigger: &OutboxTrigger,
        ground: Option<Ground>,
        crowded: bool,
    ) -> Result<Transaction, StoreError> {
        let next = ground.as_ref().and_then(|ground| {
            let (automation, at, action) = trigger.next(ground)?;
            Some((ground, automation, at, action))
        });
        let Some((ground, automation, at, action)) = next else {
            let mut transaction = Transaction::default();
            transaction.delete(trigger.key.clone(), Condition::Version(trigger.version));
            return Ok(transaction);
        };
        let mut transaction = match self.act(ground, (automation, at, action), crowded).await? {
            Ok(transaction) => transaction,
            Err(reason) => {
                let (instance, fact) = (self.reader().instance().as_str(), ground.cause.label());
                let automation = automation.get();
                tracing::warn!(
                    instance,
                    fact,
                    automation,
                    action = at,
                    reason,
                    "an action is left out"
                );
                counters::count(|counters| counters.actions_left_out += 1);
                Transaction::default()
            }
        };
        let moved = Item::from([
            (AUTOMATION.to_owned(), n(automation)),
            (ACTION.to_owned(), n(at + 1)),
        ]);
        let unmoved = Condition::Version(trigger.version);
        transaction.update(trigger.key.clone(), "v", 1, moved, unmoved);
        Ok(transaction)
    }
}

/// The fact that a call raises.
fn received(subject: &Subject) -> Option<Raised> {
    let event = Event {
        trigger: Kind::LeadPhoneCall,
        moment: Moment::Received,
    };
    Some(Raised {
        at: subject.call.as_ref()?.create_date,
        events: vec![event.to_string()],
        circumstances: Circumstances::default(),
    })
}

impl OutboxTrigger {
    fn decode(key: Key, cause: Cause, item: &Item) -> Result<Self, StoreError> {
        let number = |name| item::number("trigger", item, name);
        let fact = match cause {
            Cause::Call(_) => None,
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

    /// The first action after the trigger's progress, of automations ordered by id.
    fn next<'a>(&self, ground: &'a Ground) -> Option<(AutomationId, usize, &'a Action)> {
        let is_current = |automation: &Automation| automation.id.get() == self.automation;
        // Changes by an automation's own actions do not stop it.
        let runs = |automation: &&Automation| is_current(automation) || ground.admits(automation);
        let active = ground.automations.iter().filter(|automation| automation.active);
        let remaining = active
            .filter(|automation| automation.id.get() >= self.automation)
            .filter(runs);
        let actions = remaining.flat_map(|automation| {
            let actions = automation.actions.iter().enumerate();
            let skip = if is_current(automation) { self.action } else { 0 };
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            actions.skip(skip).map(|(at, action)| (automation.id, at, action))
        });
        actions.into_iter().next()
    }
}
