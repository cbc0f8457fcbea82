//! Notifications that are not delivered yet: those that wait and those that were set aside (C-102).

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use shared::ids::AutomationId;
use shared::store::unscoped::undelivered::{self, Undelivered};
use shared::time::Timestamp;
use table::StoreError;
use table::item::Item;

use crate::{Operator, OperatorError};

/// Maximum concurrent checks.
const CONCURRENCY: usize = 16;

/// A notification that is not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PendingDelivery {
    /// Its id, as receivers see it.
    pub delivery: String,
    /// The automation.
    pub automation: AutomationId,
    /// Index of the automation's action.
    pub action: usize,
    /// Number of attempts.
    pub tries: u64,
    /// Time of the last failed attempt; `None` before it.
    pub since: Option<Timestamp>,
    /// Time of the next attempt; `None` if it was set aside.
    pub next: Option<Timestamp>,
    /// Outcome of the last attempt; empty before it.
    pub reason: String,
}

impl Operator {
    /// The notifications that are not delivered yet: those that wait, then those that were set aside, each in the order of
    /// their keys. Drops those whose record is gone. A query for each MB of them, and for each the gets of its records.
    ///
    /// # Errors
    /// [`OperatorError`] if there is no such instance, or the table fails.
    pub async fn deliveries(&self) -> Result<Vec<PendingDelivery>, OperatorError> {
        let items = self.pending_items().await?;
        let pending = items.iter().map(|item| self.pending(item));
        Ok(pending.collect::<Result<_, _>>()?)
    }

    /// Makes all of them due, with no attempts yet, so that the next run of the background work sends them. Skips those that
    /// are being sent. Returns the scheduled ones as they were.
    ///
    /// # Errors
    /// As [`Self::deliveries`]. Those that were scheduled before the error remain so.
    pub async fn retry_deliveries(&self) -> Result<Vec<PendingDelivery>, OperatorError> {
        let now = u64::try_from(self.now().unix_seconds()).unwrap_or(0);
        let mut retried = Vec::new();
        for item in self.pending_items().await? {
            let Some(transaction) = undelivered::again(self.reader(), &item, now)? else {
                continue;
            };
            // A refused transaction means that it was sent, or that another operator has scheduled it.
            if self.table().try_commit(transaction).await? {
                retried.push(self.pending(&item)?);
            }
        }
        Ok(retried)
    }

    /// The items of notifications whose record exists. Deletes the others.
    async fn pending_items(&self) -> Result<Vec<Item>, OperatorError> {
        self.directory_head().await?;
        let items = self.reader().undelivered().await?;
        let checks = items.into_iter().map(async |item| {
            let cause = Undelivered::decode(&item)?.cause;
            if !self.reader().is_without_record(cause).await? {
                return Ok(Some(item));
            }
            self.table().try_commit(undelivered::dropped(&item)?).await?;
            Ok::<_, StoreError>(None)
        });
        let checked = stream::iter(checks).buffered(CONCURRENCY);
        let found: Vec<_> = checked.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    fn pending(&self, item: &Item) -> Result<PendingDelivery, StoreError> {
        let Undelivered {
            cause,
            automation,
            action,
            tries,
            since,
            next,
            reason,
        } = Undelivered::decode(item)?;
        Ok(PendingDelivery {
            delivery: format!("{}-{}-{automation}-{action}", self.instance(), cause.label()),
            automation,
            action,
            tries,
            since,
            next,
            reason,
        })
    }
}
