//! Notifications on their way: each is delivered at least once, tried a few times, and then set aside.
//!
//! Before a delivery the notification is put off by longer than any takes, on condition that nobody else did so: of many
//! processes one delivers it, and where that one dies another goes on once the time is over. What is said is made of the
//! call and the lead as they are; where the lead is gone, or the automation no longer says so, nothing is.

use std::collections::BTreeMap;

use futures_util::future::{join_all, try_join_all};
use futures_util::stream::{self, StreamExt as _};
use serde_json::json;
use tokio::time::timeout;

use crate::automation::{Action, Hook, Secret};
use crate::courier::{Courier, Letter, Turn};
use crate::id::{AutomationId, CallId};
use crate::instance::InstanceName;
use crate::store::automations::Found;
use crate::store::background::{INSTANCES, Tally};
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n};
use crate::store::key::{self, Key};
use crate::store::table::{Page, Span, key_of};
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::store::{InstanceStore, Store, automations, calls, meter};
use crate::time::Timestamp;

/// How often a delivery is tried.
const TRIES: u64 = 6;
/// For how many seconds a notification is put off while it is delivered; a delivery takes up to 10.
const UNDER_WAY: u64 = 30;
/// For how many seconds it is put off after the first try that failed; each further one waits four times as long.
const BACKOFF: u64 = 10;

/// Receivers that are asked side by side, of all instances together, and of one.
const LANES: usize = 256;
const LANES_OF_ONE: usize = 16;
/// The most notifications of a lane that one run deals with.
const WAITING: usize = 100;
/// For how many seconds a run begins new deliveries.
const TIME: u32 = 40;

/// How often it was tried, and when it is due again, in Unix seconds.
const TRIED: &str = "tries";
const DUE: &str = "due";

/// Leaves a notification to be delivered.
pub fn put(transaction: &mut Transaction, key: Key) {
    let item = Item::from([("v".to_owned(), n(1))]);
    transaction.put(key, item, Condition::Always);
}

/// A notification that is under way.
struct Delivery {
    key: Key,
    call: CallId,
    automation: AutomationId,
    /// Which of the automation's actions says so.
    action: usize,
    /// Its version once it is put off.
    version: u64,
    /// Which try this is, from 1.
    tried: u64,
}

impl Delivery {
    /// The delivery of a notification in the outbox; `None` where it is not due.
    fn of(item: &Item, now: u64) -> Result<Option<Self>, StoreError> {
        let key = key_of(item)?;
        let number = |name| item::number("notification", item, name);
        let named = key::notified(&key.sk);
        let (call, automation, action) =
            named.ok_or_else(|| item::corrupt("notification", "its key names no action"))?;
        let delivery = Self {
            key,
            call,
            automation,
            action,
            version: number("v")? + 1,
            tried: number(TRIED)? + 1,
        };
        Ok((number(DUE)? <= now).then_some(delivery))
    }
}

/// The notifications of one receiver: of one action of an automation.
pub struct Lane {
    store: InstanceStore,
    name: String,
    waiting: Vec<Item>,
}

impl Store {
    /// Delivers the notifications of all instances that are due: the lanes side by side, so that a receiver that takes its
    /// time holds up nobody else's. Returns how many were tried.
    ///
    /// # Errors
    /// [`StoreError`] where the table fails; what is not done is done the next time.
    pub async fn deliver_notifications(&self, courier: &Courier) -> Result<u64, StoreError> {
        let instances = self.instances_in_turn().await?.into_iter();
        let waiting = instances.map(|name| InstanceStore::new(self.reader(name)).waiting());
        let mut waiting = stream::iter(waiting).buffer_unordered(INSTANCES);
        let (mut lanes, mut tally) = (Vec::new(), Tally::default());
        while let Some(found) = waiting.next().await {
            match found {
                Ok(mut found) => {
                    // Those that were slow go last, and of each instance there are no more at a time than it may have.
                    found.sort_by_key(|lane| courier.lanes().is_slow(&lane.name, lane.store.now()));
                    found.truncate(LANES_OF_ONE);
                    lanes.extend(found);
                }
                Err(cause) => tally.note(Err(cause)),
            }
        }
        let until = self.table.ambient.now().plus_seconds(TIME);
        let served = lanes.into_iter().map(|lane| lane.serve(courier, until));
        let mut served = stream::iter(served).buffer_unordered(LANES);
        while let Some(outcome) = served.next().await {
            tally.note(outcome);
        }
        tally.result()
    }

    /// Delivers the notifications of some calls as far as their receivers take them at once. What is not delivered then,
    /// and what is for a receiver that was slow lately, is left in the outbox.
    pub async fn deliver_at_once(&self, calls: &[(InstanceName, CallId)], courier: &Courier) {
        let work = async {
            let mut lanes = BTreeMap::new();
            let found = calls
                .iter()
                .map(|(instance, call)| InstanceStore::new(self.reader(instance.clone())).left_by(*call));
            for (store, items) in try_join_all(found).await? {
                store.sort_into(&mut lanes, items).await?;
            }
            let now = self.table.ambient.now();
            lanes.retain(|name, _| !courier.lanes().is_slow(name, now));
            let until = now.plus_seconds(TIME);
            let served = lanes.into_values().map(|lane| lane.serve(courier, until));
            let mut tally = Tally::default();
            for outcome in join_all(served).await {
                tally.note(outcome);
            }
            tally.result()
        };
        match timeout(courier.batch_limit(), work).await {
            Ok(Ok(_)) => {}
            Ok(Err(cause)) => tracing::warn!(%cause, "notifications are left to maintenance"),
            Err(_) => tracing::info!("receivers that take their time are left to maintenance"),
        }
    }
}

impl Lane {
    /// Delivers what is due, some at a time, until a receiver is late or it is `until`. Returns how many were tried.
    async fn serve(self, courier: &Courier, until: Timestamp) -> Result<u64, StoreError> {
        let Some(turn) = courier.lanes().take(&self.name, self.store.now()) else {
            return Ok(0);
        };
        let (store, turn) = (&self.store, &turn);
        let runs = self.waiting.into_iter().map(|item| async move {
            if turn.is_over() || store.now() >= until {
                return Ok(0);
            }
            let outcome = store.deliver(&item, courier, turn).await;
            store.or_set_aside(&key_of(&item)?, outcome.map(u64::from)).await
        });
        let mut runs = stream::iter(runs).buffer_unordered(turn.at_once());
        let mut tally = Tally::default();
        while let Some(outcome) = runs.next().await {
            tally.note(outcome);
        }
        tally.result()
    }
}

impl InstanceStore {
    /// The notifications that the automations of a call left.
    async fn left_by(self, call: CallId) -> Result<(Self, Vec<Item>), StoreError> {
        let span = Span::beginning(self.keys().outbox(), key::notifications(call));
        let items = self.table.query_all(span).await?;
        Ok((self, items))
    }

    /// The notifications in the outbox that are due, by lane.
    async fn waiting(self) -> Result<Vec<Lane>, StoreError> {
        let mut lanes = BTreeMap::new();
        let mut span = Span::beginning(self.keys().outbox(), "notify#".to_owned());
        loop {
            let Page { items, more } = self.table.query(span.clone()).await?;
            span.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
            self.sort_into(&mut lanes, items).await?;
            if !more {
                return Ok(lanes.into_values().collect());
            }
        }
    }

    /// Sorts what is due into lanes. What cannot be read is set aside.
    async fn sort_into(
        &self,
        lanes: &mut BTreeMap<String, Lane>,
        items: Vec<Item>,
    ) -> Result<(), StoreError> {
        let now = self.now_seconds();
        for item in items {
            // What this run's own actions left is not counted as waiting.
            let waits = item.contains_key(TRIED);
            meter::note(|deeds| deeds.outbox += u64::from(waits));
            let delivery = match Delivery::of(&item, now) {
                Ok(Some(delivery)) => delivery,
                Ok(None) => continue,
                Err(cause) => {
                    self.or_set_aside(&key_of(&item)?, Err::<(), _>(cause)).await?;
                    continue;
                }
            };
            let Delivery {
                automation, action, ..
            } = delivery;
            let name = format!("{}-{automation}-{action}", self.instance());
            let lane = lanes.entry(name.clone()).or_insert_with(|| Lane {
                store: self.clone(),
                name,
                waiting: Vec::new(),
            });
            if lane.waiting.len() < WAITING {
                lane.waiting.push(item);
            }
        }
        Ok(())
    }

    /// Delivers a notification if it is due; whether it was tried.
    async fn deliver(&self, item: &Item, courier: &Courier, turn: &Turn) -> Result<bool, StoreError> {
        let now = self.now_seconds();
        let Some(delivery) = Delivery::of(item, now)? else {
            return Ok(false);
        };
        let due = now + UNDER_WAY;
        if !self.put_off(&delivery, delivery.version - 1, due).await? {
            return Ok(false);
        }
        let sent = match self.letter(&delivery).await? {
            Some(letter) if delivery.tried <= TRIES => {
                turn.begin();
                let sent = courier.try_to_deliver(&letter).await;
                turn.end(sent.as_ref().is_err_and(|missed| missed.late));
                sent.map_err(|missed| missed.reason)
            }
            Some(_) => Err("it was begun too often".to_owned()),
            None => Ok(()),
        };
        match sent {
            Ok(()) => {
                meter::note(|deeds| deeds.notifications += 1);
                self.take_down(&delivery).await?;
            }
            Err(reason) => self.missed(&delivery, &reason).await?,
        }
        Ok(true)
    }

    /// Puts off a notification that was not received, or sets it aside after the last try.
    async fn missed(&self, delivery: &Delivery, reason: &str) -> Result<(), StoreError> {
        let (name, tried) = (self.name(delivery), delivery.tried);
        if tried >= TRIES {
            tracing::warn!(name, tried, reason, "a notification is set aside");
            meter::note(|deeds| deeds.notifications_given_up += 1);
            return self.take_down(delivery).await;
        }
        tracing::info!(name, tried, reason, "a notification is tried again");
        meter::note(|deeds| deeds.notifications_put_off += 1);
        let due = self.now_seconds() + (BACKOFF << (2 * (tried - 1)));
        self.put_off(delivery, delivery.version, due).await.map(drop)
    }

    /// What a notification is called: the same for every try.
    fn name(&self, delivery: &Delivery) -> String {
        let Delivery {
            call,
            automation,
            action,
            ..
        } = delivery;
        format!("{}-{call}-{automation}-{action}", self.instance())
    }

    /// Says when a notification is due again; whether nobody else did meanwhile.
    async fn put_off(&self, delivery: &Delivery, version: u64, due: u64) -> Result<bool, StoreError> {
        let later = Item::from([(TRIED.to_owned(), n(delivery.tried)), (DUE.to_owned(), n(due))]);
        let mut transaction = Transaction::default();
        transaction.update(delivery.key.clone(), "v", 1, later, Condition::Version(version));
        self.unless_refused(transaction).await
    }

    async fn take_down(&self, delivery: &Delivery) -> Result<(), StoreError> {
        let mut transaction = Transaction::default();
        transaction.delete(delivery.key.clone(), Condition::Version(delivery.version));
        self.unless_refused(transaction).await.map(drop)
    }

    async fn unless_refused(&self, transaction: Transaction) -> Result<bool, StoreError> {
        match self.table.commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// What is to be said, and to whom; `None` where nothing is any more.
    async fn letter(&self, delivery: &Delivery) -> Result<Option<Letter>, StoreError> {
        let (call_key, automation_key) = (
            self.keys().call(delivery.call),
            self.keys().automation(delivery.automation),
        );
        let mut found = self
            .table
            .get_many([call_key.clone(), automation_key.clone()])
            .await?;
        let record = found.remove(&call_key).map(calls::decode).transpose()?;
        let (Some(record), Some(item)) = (record, found.remove(&automation_key)) else {
            return Ok(None);
        };
        let Found::Known(said) = automations::decode(&item)? else {
            return Err(item::corrupt("automation", "a later version wrote it"));
        };
        let Some((url, secret)) = said
            .actions
            .get(delivery.action)
            .and_then(receiver)
            .filter(|_| said.active)
        else {
            return Ok(None);
        };
        let Some(lead) = record.lead else { return Ok(None) };
        let lead = self.lead(lead).await?;
        Ok(lead.map(|lead| Letter {
            delivery: self.name(delivery),
            url: url.clone(),
            secret: secret.clone(),
            at: self.table.ambient.now(),
            body: json!({
                "event": "leadPhoneCall.received",
                "instance": self.instance().as_str(),
                "automation": delivery.automation,
                "call": record,
                "lead": { "id": lead.id, "fullname": lead.fullname(), "email": lead.email, "phone": lead.phone },
            })
            .to_string(),
        }))
    }

    fn now(&self) -> Timestamp {
        self.table.ambient.now()
    }

    fn now_seconds(&self) -> u64 {
        u64::try_from(self.now().unix_seconds()).unwrap_or(0)
    }
}

fn receiver(action: &Action) -> Option<(&Hook, &Secret)> {
    match action {
        Action::Notify { url, secret } => Some((url, secret)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::UNDER_WAY;
    use crate::courier::LIMITS;
    use crate::store::MAX_CALL;

    /// Otherwise another process would deliver what this one is delivering: it reads call and lead, then it delivers.
    #[test]
    fn a_notification_is_put_off_until_its_delivery_is_over() {
        assert!(Duration::from_secs(UNDER_WAY) > LIMITS.whole + 2 * MAX_CALL);
    }
}
