//! Transactions with more writes than DynamoDB accepts, for the embedded engine.

use crate::client::Table;
use crate::condition::Condition;
use crate::error::StoreError;
use crate::key::Key;
use crate::transaction::{MAX_WRITES, Transaction};

/// Maximum number of writes in one transaction of the embedded engine.
pub const MAX_EMBEDDED_WRITES: usize = 5000;

impl Table {
    /// The maximum number of writes in one transaction without deletions: [`MAX_EMBEDDED_WRITES`] on the embedded
    /// engine, or else the maximum of DynamoDB. Finds this out with a transaction that contains only checks.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails.
    pub async fn max_writes(&self) -> Result<usize, StoreError> {
        let mut checks = Transaction::default();
        for number in 0..=MAX_WRITES {
            checks.check(Key::new("#none", number.to_string()), Condition::Absent);
        }
        match self.try_commit(checks).await {
            Ok(true) => Ok(MAX_EMBEDDED_WRITES),
            Ok(false) | Err(StoreError::Refused { .. }) => Ok(MAX_WRITES),
            Err(error) => Err(error),
        }
    }
}
