//! Notifications on their way: each is delivered at least once, tried a few times, and then set aside.
//!
//! Before a delivery the notification is put off by longer than any takes, on condition that nobody else did so: of many
//! processes one delivers it, and where that one dies another goes on once the time is over. What is said is made of the
//! call and the lead as they are; where the lead is gone, or the automation no longer says so, nothing is.

use futures_util::future::join_all;
use serde_json::json;

use super::{TOGETHER, Tally};
use crate::automation::{Action, Hook, Secret};
use crate::courier::{Courier, Letter};
use crate::id::{AutomationId, CallId};
use crate::store::automations::Found;
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n};
use crate::store::key::{self, Key};
use crate::store::table::key_of;
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::store::{InstanceStore, automations, calls, meter};

/// How often a delivery is tried.
const TRIES: u64 = 6;
/// For how many seconds a notification is put off while it is delivered; a delivery takes up to 10.
const UNDER_WAY: u64 = 30;
/// For how many seconds it is put off after the first try that failed; each further one waits four times as long.
const BACKOFF: u64 = 10;

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
    /// The delivery of an item of the outbox; `None` where it is no notification, or not due.
    fn of(item: &Item, now: u64) -> Result<Option<Self>, StoreError> {
        let key = key_of(item)?;
        let number = |name| item::number("notification", item, name);
        let Some((call, automation, action)) = key::notified(&key.sk) else {
            return Ok(None);
        };
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

impl InstanceStore {
    /// Delivers what is due of these items of the outbox, side by side; how many were tried. What cannot be read is set
    /// aside.
    pub(super) async fn deliver_all(&self, items: &[Item], courier: &Courier) -> Result<u64, StoreError> {
        let mut tally = Tally::default();
        for some in items.chunks(TOGETHER) {
            let runs = some.iter().map(async |item| {
                let outcome = self.deliver(item, courier).await;
                self.or_set_aside(&key_of(item)?, outcome).await
            });
            for outcome in join_all(runs).await {
                tally.note(outcome.map(u64::from));
            }
        }
        tally.result()
    }

    /// Delivers a notification if it is due; whether it was tried.
    async fn deliver(&self, item: &Item, courier: &Courier) -> Result<bool, StoreError> {
        let now = self.now_seconds();
        let Some(delivery) = Delivery::of(item, now)? else {
            return Ok(false);
        };
        let due = now + UNDER_WAY;
        if !self.put_off(&delivery, delivery.version - 1, due).await? {
            return Ok(false);
        }
        let sent = match self.letter(&delivery).await? {
            Some(letter) if delivery.tried <= TRIES => courier.deliver(&letter).await,
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

    fn now_seconds(&self) -> u64 {
        u64::try_from(self.table.ambient.now().unix_seconds()).unwrap_or(0)
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
    use crate::courier::MAX_DELIVERY;
    use crate::store::MAX_CALL;

    /// Otherwise another process would deliver what this one is delivering: it reads call and lead, then it delivers.
    #[test]
    fn a_notification_is_put_off_until_its_delivery_is_over() {
        assert!(Duration::from_secs(UNDER_WAY) > MAX_DELIVERY + 2 * MAX_CALL);
    }
}
