//! Runs automations (C-76).
//!
//! A call writes a *trigger* into the outbox, in its own transaction. The trigger records the progress of its
//! automations. Each action is one transaction that performs the action and advances the trigger, on
//! condition that the trigger is unchanged; so each action happens exactly once, however many processes run a
//! trigger and wherever they die. The last action deletes the trigger.
//!
//! A notification leaves the table, so it cannot be part of a transaction: its action adds a
//! [notification](deliveries) to the outbox, which is delivered at least once and does not delay later
//! actions.
//!
//! The outbox contains ids of calls and automations only, so no personal data. The current automations apply
//! (C-12): a trigger continues after the last completed action, by automation id and action index. Calls of
//! archived leads write no trigger (C-76); archiving a lead later has no effect on its triggers, deleting it
//! has.
//!
//! Unreadable entries are [quarantined](crate::store::quarantine), so they fail once and not in every run.

mod actions;
mod deliveries;

use futures_util::stream::{self, StreamExt as _};

use crate::automation::{Action, Automation};
use crate::call::Call;
use crate::directory::Directory;
use crate::ids::{AutomationId, CallId};
use crate::instance::InstanceName;
use crate::jobs::counters;
use crate::jobs::instances::{INSTANCES, JobOutcome, log_failure};
use crate::store::key::{self, Cause, Counter, Key};
use crate::store::leads::LeadRecord;
use crate::store::{InstanceStore, Store, calls, directory};
use crate::time::Timestamp;
use table::Pages;
use table::StoreError;
use table::item::{self, Item, n};
use table::{CommitError, Condition, Policy, Transaction};

/// Concurrent triggers of an instance.
const CONCURRENCY: usize = 16;
/// Seconds in which a run begins new triggers of one instance.
const SHARE: u32 = 60;

/// Progress of a trigger: id of the last automation, 0 before the first, and index of its next action.
const AUTOMATION: &str = "automation";
const ACTION: &str = "action";

/// A trigger as read.
#[derive(Debug)]
struct Trigger {
    key: Key,
    version: u64,
    automation: u64,
    action: u64,
}

/// Preconditions of a trigger's next action.
#[derive(Debug)]
pub(crate) struct Ground {
    call: Call,
    lead: LeadRecord,
    directory: Directory,
    automations: Vec<Automation>,
}

impl Store {
    /// Runs the automations left in all outboxes. Sends no notifications. Returns the number of triggers.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails; the rest is done by the next run.
    pub async fn run_triggers(&self) -> Result<u64, StoreError> {
        let instances = self.instances_in_turn().await?.into_iter();
        let runs = instances.map(async |name| {
            let store = InstanceStore::of_job(self.reader(name.clone()));
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

    /// Runs the automations of a call, if not done already. Notifications remain in the outbox.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails; the rest is done by the next run.
    pub async fn run_trigger(&self, instance: &InstanceName, call: CallId) -> Result<(), StoreError> {
        InstanceStore::of_job(self.reader(instance.clone()))
            .run(call)
            .await
    }
}

impl InstanceStore {
    /// Runs the triggers of the outbox page by page.
    async fn run_outbox(&self) -> Result<u64, StoreError> {
        let (until, mut tally) = (self.environment.now().plus_seconds(SHARE), JobOutcome::default());
        let mut pages = Pages::of(key::outbox_triggers(self.keys()));
        while let Some(keys) = pages.next_keys(&self.table).await? {
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
            _ if self.environment.now() >= until => Ok(0),
            Some(Cause::Call(call)) => self.run(call).await.map(|()| 1),
            Some(_) => Ok(0),
            None => {
                let unnamed = item::corrupt("trigger", "its key names no call");
                self.or_set_aside(&key, Err(unnamed)).await
            }
        }
    }

    /// Runs the rest of a trigger; quarantines it if it cannot be read.
    async fn run(&self, call: CallId) -> Result<(), StoreError> {
        let outcome = self.carry_out(call).await;
        self.or_set_aside(&self.keys().trigger(call.into()), outcome)
            .await
    }

    /// Runs the remaining actions of a trigger in sequence.
    async fn carry_out(&self, call: CallId) -> Result<(), StoreError> {
        let anew = || self.table.retry(Policy::CONTESTED, "running an automation");
        let (mut retry, mut crowded) = (anew(), false);
        while let Some((trigger, ground)) = self.trigger(call).await? {
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
        Ok(())
    }

    /// A trigger and the preconditions of its next action, which are absent if the lead is gone. `None` if
    /// all is done. A batch of gets, then a get and a query in parallel.
    async fn trigger(&self, call: CallId) -> Result<Option<(Trigger, Option<Ground>)>, StoreError> {
        let keys = self.keys();
        let (key, call, settings) = (keys.trigger(call.into()), keys.call(call), keys.directory());
        let wanted = [key.clone(), call.clone(), settings.clone()];
        let mut found = self.table.get_many(wanted).await?;
        let Some(item) = found.remove(&key) else {
            return Ok(None);
        };
        let trigger = Trigger::decode(key, &item)?;
        let call = found.remove(&call).map(calls::decode).transpose()?;
        let settings = found.get(&settings).map(directory::decode).transpose()?;
        let (Some(call), Some(settings)) = (call, settings) else {
            return Ok(Some((trigger, None)));
        };
        let ground = self.ground(call, settings.directory).await?;
        Ok(Some((trigger, ground)))
    }

    async fn ground(&self, call: Call, directory: Directory) -> Result<Option<Ground>, StoreError> {
        let Some(lead) = call.lead else { return Ok(None) };
        let (lead, automations) = tokio::try_join!(self.lead_record(lead), self.automations())?;
        Ok(lead.map(|lead| Ground {
            call,
            lead,
            directory,
            automations,
        }))
    }

    /// The writes that perform the next action and advance the trigger, or delete it at the end.
    async fn next_step(
        &self,
        trigger: &Trigger,
        ground: Option<Ground>,
        crowded: bool,
    ) -> Result<Transaction, StoreError> {
        let next = ground.as_ref().and_then(|ground| {
            let (automation, at, action) = trigger.next(&ground.automations)?;
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
                let (instance, call) = (self.instance().as_str(), ground.call.id.get());
                let automation = automation.get();
                tracing::warn!(
                    instance,
                    call,
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

impl Trigger {
    fn decode(key: Key, item: &Item) -> Result<Self, StoreError> {
        let number = |name| item::number("trigger", item, name);
        Ok(Self {
            version: number("v")?,
            automation: number(AUTOMATION)?,
            action: number(ACTION)?,
            key,
        })
    }

    /// The first action after the trigger's progress, of automations ordered by id.
    fn next<'a>(&self, automations: &'a [Automation]) -> Option<(AutomationId, usize, &'a Action)> {
        let begun = |automation: &Automation| automation.id.get() == self.automation;
        let left = automations
            .iter()
            .filter(|automation| automation.active && automation.id.get() >= self.automation);
        let actions = left.flat_map(|automation| {
            let actions = automation.actions.iter().enumerate();
            let skip = if begun(automation) { self.action } else { 0 };
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            actions.skip(skip).map(|(at, action)| (automation.id, at, action))
        });
        actions.into_iter().next()
    }
}
