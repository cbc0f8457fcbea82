//! Delivery of notifications: at least once, with attempts for a day, then [set aside](crate::store::undelivered).
//!
//! Before a delivery the notification is postponed by more than a delivery takes, on condition that no other process
//! did. So one process delivers the notification. If that process dies, another one delivers it after the delay. The
//! body is built from the current records. A notification is dropped if its record or its action no longer exists.

use std::collections::BTreeMap;

use futures_util::future::{join_all, try_join_all};
use futures_util::stream::{self, StreamExt as _};
use tokio::time::timeout;

use crate::ids::AutomationId;
use crate::instance::InstanceName;
use crate::jobs::counters;
use crate::jobs::instances::{INSTANCES, JobOutcome};
use crate::jobs::webhook_client::{Turn, WebhookClient};
use crate::store::key::{self, Cause, Key};
use crate::store::undelivered::{self, AT, CLAIMED, DUE, TRIED};
use crate::store::{Store, Writer};
use crate::time::Timestamp;
use crate::traceparent::{self, Traceparent};
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{Condition, Transaction};
use table::{KeyRange, Pages, key_of};

/// Seconds between the attempts. Their sum is a day.
const PAUSES: [u64; 9] = [10, 30, 90, 270, 810, 2_430, 7_290, 21_870, 53_600];
/// Maximum number of attempts.
const MAX_ATTEMPTS: u64 = PAUSES.len() as u64 + 1;
/// Seconds by which a notification is postponed during its delivery, which takes up to 10.
const CLAIM_SECONDS: u64 = 30;

/// Concurrent lanes of all instances, and maximum lanes of one instance in a run.
const MAX_LANES: usize = 256;
const MAX_LANES_PER_INSTANCE: usize = 16;
/// Maximum notifications of a lane in one run.
const MAX_PER_LANE: usize = 100;
/// Seconds in which a run begins new deliveries.
const RUN_SECONDS: u32 = 40;

/// Adds the notification of a fact at `at` to the outbox.
pub fn put(transaction: &mut Transaction, key: Key, at: Timestamp, trace: Option<&Traceparent>) {
    let mut item = Item::from([("v".to_owned(), n(1)), (AT.to_owned(), s(at.to_string()))]);
    item.extend(traceparent::attribute(trace));
    transaction.put(key, item, Condition::Always);
}

/// A notification to deliver.
pub struct Delivery {
    key: Key,
    pub cause: Cause,
    /// Time of the fact.
    pub at: Timestamp,
    /// The trace of the request that caused it.
    pub trace: Option<Traceparent>,
    pub automation: AutomationId,
    /// Index of the automation's action.
    pub action: usize,
    /// Version of the outbox entry after it is postponed for this try.
    version: u64,
    /// Number of this try, from 1.
    tried: u64,
}

impl Delivery {
    /// The next try of an outbox entry; `None` if it is not due at `now`, in Unix seconds.
    fn of(item: &Item, now: u64) -> Result<Option<Self>, StoreError> {
        let key = key_of(item)?;
        let number = |name| item::number("notification", item, name);
        let named = key::notified(&key.sk);
        let (cause, automation, action) =
            named.ok_or_else(|| item::corrupt("notification", "its key names no action"))?;
        let delivery = Self {
            key,
            cause,
            at: undelivered::time("notification", item, AT)?,
            trace: Traceparent::of_item(item),
            automation,
            action,
            version: number("v")? + 1,
            tried: number(TRIED)? + 1,
        };
        Ok((number(DUE)? <= now).then_some(delivery))
    }
}

/// The notifications of one receiver: of one action of an automation.
pub struct DeliveryLane {
    store: Writer,
    name: String,
    waiting: Vec<Item>,
}

impl Store {
    /// Delivers the due notifications of all instances, with lanes in parallel, so that a slow receiver
    /// delays only its own. Returns the number of tries.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails. The next run delivers the rest.
    pub async fn deliver_notifications(&self, webhook_client: &WebhookClient) -> Result<u64, StoreError> {
        let instances = self.open_instances_in_turn().await?.into_iter();
        let reads = instances.map(|name| Writer::of_job(self, name).due_lanes());
        let mut reads = stream::iter(reads).buffer_unordered(INSTANCES);
        let (mut lanes, mut outcomes) = (Vec::new(), JobOutcome::default());
        while let Some(found) = reads.next().await {
            match found {
                Ok(mut found) => {
                    // Slow lanes are last, so the limit omits them first.
                    found.sort_by_key(|lane| webhook_client.lanes().is_slow(&lane.name, lane.store.now()));
                    found.truncate(MAX_LANES_PER_INSTANCE);
                    lanes.extend(found);
                }
                Err(cause) => outcomes.note(Err(cause)),
            }
        }
        let until = self.environment.now().plus_seconds(RUN_SECONDS);
        let served = lanes.into_iter().map(|lane| lane.serve(webhook_client, until));
        let mut served = stream::iter(served).buffer_unordered(MAX_LANES);
        while let Some(outcome) = served.next().await {
            outcomes.note(outcome);
        }
        outcomes.result()
    }

    /// Delivers the notifications of some facts if their receivers respond promptly. The rest, and those of
    /// recently slow receivers, remain in the outbox for [`deliver_notifications`](Self::deliver_notifications).
    /// Failures are only logged.
    pub async fn deliver_at_once(&self, facts: &[(InstanceName, Cause)], webhook_client: &WebhookClient) {
        let work = async {
            let mut lanes = BTreeMap::new();
            let found = facts.iter().map(|(instance, cause)| {
                Writer::of_job(self, instance.clone()).with_notifications_of(*cause)
            });
            for (store, items) in try_join_all(found).await? {
                store.add_to_lanes(&mut lanes, items).await?;
            }
            let now = self.environment.now();
            lanes.retain(|name, _| !webhook_client.lanes().is_slow(name, now));
            let until = now.plus_seconds(RUN_SECONDS);
            let served = lanes.into_values().map(|lane| lane.serve(webhook_client, until));
            let mut outcomes = JobOutcome::default();
            for outcome in join_all(served).await {
                outcomes.note(outcome);
            }
            outcomes.result()
        };
        match timeout(webhook_client.batch_limit(), work).await {
            Ok(Ok(_)) => {}
            Ok(Err(cause)) => tracing::warn!(%cause, "notifications are left to maintenance"),
            Err(_) => tracing::info!("slow receivers are left to maintenance"),
        }
    }
}

impl DeliveryLane {
    /// Delivers the lane's notifications concurrently. Begins no further delivery after `until`, or after the receiver
    /// was late. Returns the number of tries; 0 if another task serves the lane.
    async fn serve(self, webhook_client: &WebhookClient, until: Timestamp) -> Result<u64, StoreError> {
        let Some(turn) = webhook_client.lanes().take(&self.name, self.store.now()) else {
            return Ok(0);
        };
        let (store, turn) = (&self.store, &turn);
        let runs = self.waiting.into_iter().map(|item| async move {
            if turn.is_over() || store.now() >= until {
                return Ok(0);
            }
            let outcome = store.deliver(&item, webhook_client, turn).await;
            store.or_quarantine(&key_of(&item)?, outcome.map(u64::from)).await
        });
        let mut runs = stream::iter(runs).buffer_unordered(turn.at_once());
        let mut outcomes = JobOutcome::default();
        while let Some(outcome) = runs.next().await {
            outcomes.note(outcome);
        }
        outcomes.result()
    }
}

impl Writer {
    /// The items of a fact's notifications, with this store.
    async fn with_notifications_of(self, cause: Cause) -> Result<(Self, Vec<Item>), StoreError> {
        let span = KeyRange::beginning(self.keys().outbox(), key::notifications(cause));
        let items = self.reader().table.query_all(span).await?;
        Ok((self, items))
    }

    /// The lanes of the due notifications in the outbox.
    async fn due_lanes(self) -> Result<Vec<DeliveryLane>, StoreError> {
        let mut lanes = BTreeMap::new();
        let mut pages = Pages::of(key::outbox_notifications(self.keys()));
        while let Some(items) = pages.next(&self.reader().table).await? {
            self.add_to_lanes(&mut lanes, items).await?;
        }
        Ok(lanes.into_values().collect())
    }

    /// Adds due notifications to their lanes, of at most [`MAX_PER_LANE`] each. Unreadable ones are quarantined.
    async fn add_to_lanes(
        &self,
        lanes: &mut BTreeMap<String, DeliveryLane>,
        items: Vec<Item>,
    ) -> Result<(), StoreError> {
        let now = self.now_seconds();
        for item in items {
            // Only notifications that were tried before count as waiting.
            let is_waiting = item.contains_key(TRIED);
            counters::count(|counters| counters.outbox += u64::from(is_waiting));
            let delivery = match Delivery::of(&item, now) {
                Ok(Some(delivery)) => delivery,
                Ok(None) => continue,
                Err(cause) => {
                    self.or_quarantine(&key_of(&item)?, Err::<(), _>(cause)).await?;
                    continue;
                }
            };
            let Delivery {
                automation, action, ..
            } = delivery;
            let name = format!("{}-{automation}-{action}", self.reader().instance());
            let lane = lanes.entry(name.clone()).or_insert_with(|| DeliveryLane {
                store: self.clone(),
                name,
                waiting: Vec::new(),
            });
            if lane.waiting.len() < MAX_PER_LANE {
                lane.waiting.push(item);
            }
        }
        Ok(())
    }

    /// Delivers a notification if it is still due. Before, postpones it, so that no other process delivers it
    /// concurrently. Returns whether it was tried.
    async fn deliver(
        &self,
        item: &Item,
        webhook_client: &WebhookClient,
        turn: &Turn,
    ) -> Result<bool, StoreError> {
        let now = self.now_seconds();
        let Some(delivery) = Delivery::of(item, now)? else {
            return Ok(false);
        };
        let claim = Item::from([(TRIED.to_owned(), n(delivery.tried)), (CLAIMED.to_owned(), n(1))]);
        let read = delivery.version - 1;
        if !self.postpone(&delivery, read, now + CLAIM_SECONDS, claim).await? {
            return Ok(false);
        }
        let sent = match self.webhook_request(&delivery).await? {
            // No later attempt can succeed.
            Some(Err(reason)) => {
                let delivery = Delivery {
                    tried: MAX_ATTEMPTS.max(delivery.tried),
                    ..delivery
                };
                self.retry_or_set_aside(&delivery, reason).await?;
                return Ok(true);
            }
            Some(Ok(request)) if delivery.tried <= MAX_ATTEMPTS => {
                turn.begin();
                let sent = webhook_client.try_to_deliver(&request).await;
                turn.end(sent.as_ref().is_err_and(|failure| failure.is_late));
                sent.map_err(|failure| failure.reason)
            }
            // The last try was postponed but not recorded as failed, so its process died.
            Some(_) => Err("it was interrupted in every attempt".to_owned()),
            // Its record or action is gone, so it is dropped.
            None => Ok(()),
        };
        match sent {
            Ok(()) => {
                counters::count(|counters| counters.notifications += 1);
                self.delete_notification(&delivery).await?;
            }
            Err(reason) => self.retry_or_set_aside(&delivery, &reason).await?,
        }
        Ok(true)
    }

    /// Postpones a notification after a failed try, or sets it aside after the last.
    async fn retry_or_set_aside(&self, delivery: &Delivery, reason: &str) -> Result<(), StoreError> {
        let (name, tried) = (self.delivery_id(delivery), delivery.tried);
        let mut failure = undelivered::failure(self.now(), tried, reason);
        if tried >= MAX_ATTEMPTS {
            tracing::warn!(name, tried, reason, "a notification is set aside");
            counters::count(|counters| counters.notifications_given_up += 1);
            let mut transaction = Transaction::default();
            let entry = (&delivery.key, delivery.version);
            let origin = (delivery.at, delivery.trace.as_ref());
            undelivered::set_aside(&mut transaction, self.reader(), entry, origin, failure);
            return self.table.try_commit(transaction).await.map(drop);
        }
        tracing::info!(name, tried, reason, "a notification is tried again");
        counters::count(|counters| counters.notifications_put_off += 1);
        let pause = usize::try_from(tried - 1)
            .ok()
            .and_then(|index| PAUSES.get(index));
        let due = self.now_seconds() + pause.copied().unwrap_or_default();
        failure.insert(CLAIMED.to_owned(), n(0));
        let postponed = self.postpone(delivery, delivery.version, due, failure);
        postponed.await.map(drop)
    }

    /// The id of a notification that the receiver gets, the same for every try.
    pub(super) fn delivery_id(&self, delivery: &Delivery) -> String {
        let Delivery {
            cause,
            automation,
            action,
            ..
        } = delivery;
        format!(
            "{}-{}-{automation}-{action}",
            self.reader().instance(),
            cause.label()
        )
    }

    /// Sets the next due time, in Unix seconds, and attributes of this try, on condition that the outbox entry has this
    /// version. Returns false if another process changed it.
    async fn postpone(
        &self,
        delivery: &Delivery,
        version: u64,
        due: u64,
        mut next_try: Item,
    ) -> Result<bool, StoreError> {
        next_try.insert(DUE.to_owned(), n(due));
        let mut transaction = Transaction::default();
        transaction.update(
            delivery.key.clone(),
            "v",
            1,
            next_try,
            Condition::Version(version),
        );
        self.table.try_commit(transaction).await
    }

    /// Deletes a notification that was delivered or is obsolete, unless another process changed it.
    async fn delete_notification(&self, delivery: &Delivery) -> Result<(), StoreError> {
        let mut transaction = Transaction::default();
        transaction.delete(delivery.key.clone(), Condition::Version(delivery.version));
        self.table.try_commit(transaction).await.map(drop)
    }

    fn now(&self) -> Timestamp {
        self.reader().environment.now()
    }

    fn now_seconds(&self) -> u64 {
        u64::try_from(self.now().unix_seconds()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CLAIM_SECONDS, PAUSES};
    use crate::jobs::webhook_client::LIMITS;
    use crate::store::MAX_CALL;

    /// The delay is longer than two reads and a delivery, so no second process delivers the notification.
    #[test]
    fn notifications_are_postponed_during_delivery() {
        assert!(Duration::from_secs(CLAIM_SECONDS) > LIMITS.whole + 2 * MAX_CALL);
    }

    /// C-102: growing pauses, for 24 hours.
    #[test]
    fn pauses_grow_for_a_day() {
        assert!(PAUSES.is_sorted_by(|one, next| one < next));
        assert_eq!(PAUSES.iter().sum::<u64>(), 24 * 3600);
    }
}
