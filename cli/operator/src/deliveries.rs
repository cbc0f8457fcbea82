//! Notifications that were given up after a day of attempts (C-102).

use serde::Serialize;
use shared::ids::AutomationId;
use shared::store::unscoped::undelivered::{self, Undelivered};
use shared::time::Timestamp;

use crate::{Operator, OperatorError};

/// A notification that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedDelivery {
    /// Its id, as receivers see it.
    pub delivery: String,
    /// The automation.
    pub automation: AutomationId,
    /// Index of the automation's action.
    pub action: usize,
    /// Number of attempts.
    pub tries: u64,
    /// Time of the last attempt.
    pub since: Timestamp,
    /// Outcome of the last attempt.
    pub reason: String,
}

impl Operator {
    /// The notifications that were given up, in the order of their keys. One query for each MB of them.
    ///
    /// # Errors
    /// [`OperatorError`] if there is no such instance, or the table fails.
    pub async fn failed_deliveries(&self) -> Result<Vec<FailedDelivery>, OperatorError> {
        self.directory_head().await?;
        let items = self.reader().undelivered().await?;
        let found = items
            .iter()
            .map(|item| Ok(self.failed(Undelivered::decode(item)?)));
        found.collect()
    }

    /// Moves the notifications that were given up back to the outbox, so that the next run of the background work sends
    /// them. Returns them.
    ///
    /// # Errors
    /// As [`Self::failed_deliveries`]. Notifications that were moved before the error stay in the outbox.
    pub async fn retry_deliveries(&self) -> Result<Vec<FailedDelivery>, OperatorError> {
        self.directory_head().await?;
        let mut retried = Vec::new();
        for item in self.reader().undelivered().await? {
            let transaction = undelivered::back(self.reader(), &item)?;
            // A refused transaction means that another operator has moved it.
            if self.table().try_commit(transaction).await? {
                retried.push(self.failed(Undelivered::decode(&item)?));
            }
        }
        Ok(retried)
    }

    fn failed(&self, found: Undelivered) -> FailedDelivery {
        let Undelivered {
            cause,
            automation,
            action,
            tries,
            since,
            reason,
        } = found;
        FailedDelivery {
            delivery: format!("{}-{}-{automation}-{action}", self.instance(), cause.label()),
            automation,
            action,
            tries,
            since,
            reason,
        }
    }
}
