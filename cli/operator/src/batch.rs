//! Writes many small changes in few transactions. The change of each record is in one transaction.

use crate::{Operator, OperatorError, Outcome};
use table::StoreError;
use table::{CommitError, MAX_WRITES, Policy, Transaction};

/// Maximum bytes of one transaction, below DynamoDB's 4 MB.
const MAX_BYTES: usize = 3_000_000;

/// Mode of writing.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    /// Also replaces records that were changed through the API since they were imported.
    pub overwrite: bool,
    /// Decides without writing.
    pub is_check_only: bool,
    /// Whether a transaction with these records was refused, so that they are decided again.
    pub is_retry: bool,
    /// Maximum writes in a transaction without deletions.
    pub max_writes: usize,
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            overwrite: false,
            is_check_only: false,
            is_retry: false,
            max_writes: MAX_WRITES,
        }
    }
}

/// The writes of a record, or the reason for writing nothing.
pub type Decision = Result<Transaction, Skip>;

/// Why nothing is written for a record.
#[derive(Debug)]
pub enum Skip {
    /// The table already has the same record.
    Unchanged,
    /// The record is refused, with the reason for the import's report.
    Refused(String),
    /// The table failed, or a stored item cannot be read.
    Failed(StoreError),
}

impl From<StoreError> for Skip {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl Skip {
    /// The outcome of the record. An unreadable item refuses its record and does not stop the others.
    fn outcome(self) -> Result<Outcome, StoreError> {
        match self {
            Self::Unchanged => Ok(Outcome::Unchanged),
            Self::Refused(reason) => Ok(Outcome::Refused(reason)),
            Self::Failed(cause @ StoreError::Corrupt { .. }) => Ok(Outcome::Refused(cause.to_string())),
            Self::Failed(error) => Err(error),
        }
    }
}

/// Changes for one transaction, and the indices of their records.
#[derive(Debug, Default)]
struct Batch {
    transaction: Transaction,
    bytes: usize,
    has_deletion: bool,
    records: Vec<usize>,
}

impl Batch {
    /// Whether a change fits into the batch. `max_writes` applies to batches without deletions.
    fn has_room(&self, change: &Transaction, max_writes: usize) -> bool {
        let max = if self.has_deletion || change.deletes() {
            MAX_WRITES
        } else {
            max_writes
        };
        self.transaction.len() + change.len() <= max && self.bytes + change.bytes() <= MAX_BYTES
    }

    /// Adds the change of the record with this index.
    fn add(&mut self, record: usize, change: Transaction) {
        self.bytes += change.bytes();
        self.has_deletion |= change.deletes();
        self.transaction.merge(change);
        self.records.push(record);
    }
}

impl Operator {
    /// Decides about records and writes them in their order, many in one transaction. Returns the outcome of each
    /// record. A transaction is refused if the items that its decisions depend on have changed. Its records are then
    /// decided again in smaller groups, at last each record alone.
    pub(crate) async fn write_batches<L, F>(
        &self,
        records: &[L],
        mode: Mode,
        decide: F,
    ) -> Result<Vec<Outcome>, OperatorError>
    where
        L: Clone,
        F: AsyncFn(&[L], Mode) -> Result<Vec<Decision>, OperatorError>,
    {
        let mut outcomes = vec![Outcome::Written; records.len()];
        let decide_again = async |indices: &[usize]| {
            let mode = Mode {
                is_retry: true,
                ..mode
            };
            let records: Vec<_> = indices
                .iter()
                .filter_map(|index| records.get(*index).cloned())
                .collect();
            decide(&records, mode).await
        };
        let mut batch = Batch::default();
        for (index, decision) in decide(records, mode).await?.into_iter().enumerate() {
            match decision {
                Err(skip) => set_outcome(&mut outcomes, index, skip.outcome()?),
                Ok(_) if mode.is_check_only => {}
                // The decision did not see the change of the same item in the batch, so it is repeated after the batch.
                Ok(change) if batch.transaction.collides(&change) => {
                    self.write_batch(std::mem::take(&mut batch), &mut outcomes, &decide_again)
                        .await?;
                    let outcome = self.write_alone(index, &decide_again).await?;
                    set_outcome(&mut outcomes, index, outcome);
                }
                Ok(change) => {
                    if !batch.has_room(&change, mode.max_writes) {
                        self.write_batch(std::mem::take(&mut batch), &mut outcomes, &decide_again)
                            .await?;
                    }
                    batch.add(index, change);
                }
            }
        }
        self.write_batch(batch, &mut outcomes, &decide_again).await?;
        Ok(outcomes)
    }

    /// Writes a batch. The records of a refused batch are decided again in halves, down to single records.
    async fn write_batch<F>(
        &self,
        batch: Batch,
        outcomes: &mut [Outcome],
        decide_again: &F,
    ) -> Result<(), OperatorError>
    where
        F: AsyncFn(&[usize]) -> Result<Vec<Decision>, OperatorError>,
    {
        // A stack, so that the records are written in their order.
        let mut refused = Vec::new();
        if !self.try_write(batch.transaction).await? {
            refused.push(batch.records);
        }
        while let Some(records) = refused.pop() {
            if let [record] = records[..] {
                let outcome = self.write_alone(record, decide_again).await?;
                set_outcome(outcomes, record, outcome);
                continue;
            }
            let (first, second) = records.split_at(records.len() / 2);
            refused.push(second.to_owned());
            refused.extend(self.write_again(first, outcomes, decide_again).await?);
        }
        Ok(())
    }

    /// Decides records again and writes them together. Returns the records to split and decide once more: all of them
    /// if changes collide, else those of the transaction if it is refused too. `None` if all are done.
    async fn write_again<F>(
        &self,
        records: &[usize],
        outcomes: &mut [Outcome],
        decide_again: &F,
    ) -> Result<Option<Vec<usize>>, OperatorError>
    where
        F: AsyncFn(&[usize]) -> Result<Vec<Decision>, OperatorError>,
    {
        let mut batch = Batch::default();
        for (record, decision) in records.iter().zip(decide_again(records).await?) {
            match decision {
                Err(skip) => set_outcome(outcomes, *record, skip.outcome()?),
                // One transaction cannot have both changes, and nothing is written yet.
                Ok(change) if batch.transaction.collides(&change) => return Ok(Some(records.to_owned())),
                Ok(change) => {
                    // An earlier attempt may have decided otherwise.
                    set_outcome(outcomes, *record, Outcome::Written);
                    batch.add(*record, change);
                }
            }
        }
        let is_written = self.try_write(batch.transaction).await?;
        Ok((!is_written).then_some(batch.records))
    }

    /// Writes a transaction. Returns `false` if it was refused, also because one of its changes is too large for
    /// DynamoDB.
    async fn try_write(&self, transaction: Transaction) -> Result<bool, OperatorError> {
        match self.table().commit(transaction).await {
            Ok(()) => Ok(true),
            Err(
                CommitError::Refused(_)
                | CommitError::Store(StoreError::Contention(_) | StoreError::Refused { .. }),
            ) => Ok(false),
            Err(CommitError::Store(error)) => Err(error.into()),
        }
    }

    /// Decides one record again and writes it alone, until the transaction is not refused. A record that is too large
    /// for DynamoDB is refused.
    async fn write_alone<F>(&self, record: usize, decide_again: &F) -> Result<Outcome, OperatorError>
    where
        F: AsyncFn(&[usize]) -> Result<Vec<Decision>, OperatorError>,
    {
        let mut retry = self.table().retry(Policy::CONFLICT, "an import");
        loop {
            let decision = decide_again(&[record]).await?.pop();
            let change = match decision.unwrap_or(Err(Skip::Unchanged)) {
                Ok(change) => change,
                Err(skip) => return Ok(skip.outcome()?),
            };
            match self.table().commit(change).await {
                Ok(()) => return Ok(Outcome::Written),
                Err(CommitError::Refused(_)) => retry.again().await?,
                Err(CommitError::Store(StoreError::Refused { cause, .. })) => {
                    return Ok(Outcome::Refused(format!(
                        "cannot be stored, because an item has at most 400 KB and a transaction 4 MB: {cause}"
                    )));
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            };
        }
    }
}

fn set_outcome(outcomes: &mut [Outcome], record: usize, outcome: Outcome) {
    if let Some(place) = outcomes.get_mut(record) {
        *place = outcome;
    }
}
