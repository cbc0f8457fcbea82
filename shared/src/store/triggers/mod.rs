//! What automations still have to do, and doing it (C-76).
//!
//! A call that comes in leaves a *trigger* in the outbox, in its own transaction. The trigger holds how far its automations
//! got. Each action is one transaction that does the action and moves the trigger on, on condition that it stands where it
//! was read: so each happens exactly once, however often and by however many processes a trigger is run, and wherever one
//! of them dies. The last takes the trigger down.
//!
//! A notification leaves the table, so it cannot be part of a transaction: its action leaves a
//! [notification](deliveries) in the outbox, which is delivered at least once, and holds up nobody behind it.
//!
//! The outbox names calls and automations only, so nothing of a person is in it. Automations are those of now (C-12): a
//! trigger goes on behind the last action that it came past, by the automation's id and the action's place. A lead that is
//! archived raises no trigger, which the call's own write decides (C-76): what becomes of it later changes nothing, unless
//! it is deleted.
//!
//! What cannot be read is [set aside](super::quarantine), so that it fails once and not with every run.

mod actions;
mod deliveries;

use futures_util::stream::{self, StreamExt as _};

use super::background::{INSTANCES, Tally, log_failure};
use super::error::StoreError;
use super::item::{self, Item, n};
use super::key::{self, Counter, Key, Keys};
use super::leads::LeadRecord;
use super::table::{Page, Span, key_of};
use super::transaction::{CommitError, Condition, Transaction};
use super::{InstanceStore, Store, calls, directory, meter};
use crate::automation::{Action, Automation};
use crate::call::Call;
use crate::directory::Directory;
use crate::id::{AutomationId, CallId};
use crate::instance::InstanceName;
use crate::time::Timestamp;

/// How often one action is tried anew because others changed what it rests on: about 3 s of pauses in all.
const ATTEMPTS: u32 = 40;
/// From which attempt on pauses no longer grow.
const LONGEST_PAUSE: u32 = 3;
/// Triggers of an instance that are run side by side.
const TOGETHER: usize = 16;
/// For how many seconds a run begins new triggers of one instance.
const SHARE: u32 = 60;

/// How far the automations of a call got: the automation whose action was the last, 0 before the first, and the place of
/// the next one.
const AUTOMATION: &str = "automation";
const ACTION: &str = "action";

/// Leaves the automations a call to deal with.
pub fn raise(transaction: &mut Transaction, keys: Keys<'_>, call: CallId) {
    let item = Item::from([("v".to_owned(), n(1))]);
    transaction.put(keys.trigger(call), item, Condition::Always);
}

/// A trigger as it was read.
#[derive(Debug)]
struct Trigger {
    key: Key,
    version: u64,
    automation: u64,
    action: u64,
}

/// What the next action of a trigger rests on.
#[derive(Debug)]
struct Ground {
    call: Call,
    lead: LeadRecord,
    directory: Directory,
    automations: Vec<Automation>,
}

impl Store {
    /// Carries out what automations still have to do, in all instances: what nobody carried out when it came, or not to its
    /// end. No receiver is asked. Returns how many triggers were run.
    ///
    /// # Errors
    /// [`StoreError`] where the table fails; what is not done is done the next time.
    pub async fn run_triggers(&self) -> Result<u64, StoreError> {
        let instances = self.instances_in_turn().await?.into_iter();
        let runs = instances.map(async |name| {
            let store = InstanceStore::new(self.reader(name.clone()));
            let outcome = store.run_outbox().await;
            outcome.inspect_err(|error| log_failure(&name, "automations", error))
        });
        let mut runs = stream::iter(runs).buffer_unordered(INSTANCES);
        let mut tally = Tally::default();
        while let Some(outcome) = runs.next().await {
            tally.note(outcome);
        }
        tally.result()
    }

    /// Carries out what automations do for a call. Nothing where that is done already. Its notifications are left in the
    /// outbox.
    ///
    /// # Errors
    /// [`StoreError`] where the table fails; what is not done then is done the next time.
    pub async fn run_trigger(&self, instance: &InstanceName, call: CallId) -> Result<(), StoreError> {
        InstanceStore::new(self.reader(instance.clone())).run(call).await
    }
}

impl InstanceStore {
    /// Runs the triggers of the outbox a page at a time.
    async fn run_outbox(&self) -> Result<u64, StoreError> {
        let (until, mut tally) = (self.table.ambient.now().plus_seconds(SHARE), Tally::default());
        let mut span = Span::beginning(self.keys().outbox(), "call#".to_owned());
        loop {
            let Page { items, more } = self.table.query(span.clone()).await?;
            meter::note(|deeds| deeds.outbox += items.len() as u64);
            let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
            span.after = keys.last().map(|key| key.sk.clone());
            let runs = keys.into_iter().map(|key| self.run_in_time(key, until));
            let mut runs = stream::iter(runs).buffered(TOGETHER);
            while let Some(outcome) = runs.next().await {
                tally.note(outcome);
            }
            if !more {
                return tally.result();
            }
        }
    }

    /// Runs the trigger at a key, if it is not too late. Returns 1 where it was run.
    async fn run_in_time(&self, key: Key, until: Timestamp) -> Result<u64, StoreError> {
        match key::triggered(&key.sk) {
            _ if self.table.ambient.now() >= until => Ok(0),
            Some(call) => self.run(call).await.map(|()| 1),
            None => {
                let unnamed = item::corrupt("trigger", "its key names no call");
                self.or_set_aside(&key, Err(unnamed)).await
            }
        }
    }

    /// Carries out what is left of a trigger, and sets it aside where it cannot be read.
    async fn run(&self, call: CallId) -> Result<(), StoreError> {
        let outcome = self.carry_out(call).await;
        self.or_set_aside(&self.keys().trigger(call), outcome).await
    }

    /// Carries out the actions that are left of a trigger, one after the other.
    async fn carry_out(&self, call: CallId) -> Result<(), StoreError> {
        let (mut refusals, mut crowded) = (0, false);
        while let Some((trigger, ground)) = self.trigger(call).await? {
            let transaction = self.next_step(&trigger, ground, crowded).await?;
            match self.table.commit(transaction).await {
                Ok(()) => (refusals, crowded) = (0, false),
                Err(CommitError::Store(error)) => return Err(error),
                Err(CommitError::Refused(items)) => {
                    refusals += 1;
                    if refusals == ATTEMPTS {
                        return Err(StoreError::Contention("running an automation"));
                    }
                    // Another process that runs the same trigger is no reason to take a number for good.
                    let counter = self.keys().counter(Counter::Opportunity);
                    crowded = items.contains_key(&counter) && !items.contains_key(&trigger.key);
                    self.table.pause(LONGEST_PAUSE.min(refusals)).await;
                }
            }
        }
        meter::note(|deeds| deeds.triggers += 1);
        Ok(())
    }

    /// A trigger and what its next action rests on: nothing where the lead is gone. `None` where all is done. A batch of gets,
    /// then a get and a query side by side.
    async fn trigger(&self, call: CallId) -> Result<Option<(Trigger, Option<Ground>)>, StoreError> {
        let keys = self.keys();
        let (key, call, settings) = (keys.trigger(call), keys.call(call), keys.directory());
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

    /// The writes that do the next action and move the trigger on behind it, or take it down where there is none.
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
                meter::note(|deeds| deeds.actions_left_out += 1);
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

    /// The first action that it did not come past yet, of automations in the order of their ids.
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
