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
    pub judging: bool,
    /// Whether a transaction with these records was refused, so that they are decided again.
    pub again: bool,
    /// Maximum writes in a transaction without deletions.
    pub max_writes: usize,
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            overwrite: false,
            judging: false,
            again: false,
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
    deletes: bool,
    members: Vec<usize>,
}

impl Batch {
    fn takes(&self, change: &Transaction, max_writes: usize) -> bool {
        let max = if self.deletes || change.deletes() {
            MAX_WRITES
        } else {
            max_writes
        };
        self.transaction.len() + change.len() <= max && self.bytes + change.bytes() <= MAX_BYTES
    }

    fn add(&mut self, at: usize, change: Transaction) {
        self.bytes += change.bytes();
        self.deletes |= change.deletes();
        self.transaction.merge(change);
        self.members.push(at);
    }
}

impl Operator {
    /// Decides about records and writes them in their order, many in one transaction. A transaction is refused if the
    /// items that its decisions depend on have changed. Its records are then decided again in smaller groups, at last
    /// each record alone.
    pub(crate) async fn carry_out<L, F>(
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
        let again = async |members: &[usize]| {
            let mode = Mode { again: true, ..mode };
            let records: Vec<_> = members
                .iter()
                .filter_map(|at| records.get(*at).cloned())
                .collect();
            decide(&records, mode).await
        };
        let mut batch = Batch::default();
        for (at, decision) in decide(records, mode).await?.into_iter().enumerate() {
            match decision {
                Err(skip) => note(&mut outcomes, at, skip.outcome()?),
                Ok(_) if mode.judging => {}
                // The decision did not see the earlier change of the same item.
                Ok(change) if batch.transaction.collides(&change) => {
                    self.flush(std::mem::take(&mut batch), &mut outcomes, &again)
                        .await?;
                    let outcome = self.alone(at, &again).await?;
                    note(&mut outcomes, at, outcome);
                }
                Ok(change) => {
                    if !batch.takes(&change, mode.max_writes) {
                        self.flush(std::mem::take(&mut batch), &mut outcomes, &again)
                            .await?;
                    }
                    batch.add(at, change);
                }
            }
        }
        self.flush(batch, &mut outcomes, &again).await?;
        Ok(outcomes)
    }

    /// Writes a batch. The records of a refused batch are decided again in halves, down to single records.
    async fn flush<F>(&self, batch: Batch, outcomes: &mut [Outcome], again: &F) -> Result<(), OperatorError>
    where
        F: AsyncFn(&[usize]) -> Result<Vec<Decision>, OperatorError>,
    {
        let mut open = Vec::new();
        if !self.is_written(batch.transaction).await? {
            open.push(batch.members);
        }
        while let Some(members) = open.pop() {
            if let [at] = members[..] {
                let outcome = self.alone(at, again).await?;
                note(outcomes, at, outcome);
                continue;
            }
            let (first, second) = members.split_at(members.len() / 2);
            open.push(second.to_owned());
            open.extend(self.retried(first, outcomes, again).await?);
        }
        Ok(())
    }

    /// Decides records again and writes them together. Returns the records to split and decide once more: all of them
    /// if changes collide, else those of the transaction if it is refused too.
    async fn retried<F>(
        &self,
        members: &[usize],
        outcomes: &mut [Outcome],
        again: &F,
    ) -> Result<Option<Vec<usize>>, OperatorError>
    where
        F: AsyncFn(&[usize]) -> Result<Vec<Decision>, OperatorError>,
    {
        let mut batch = Batch::default();
        for (at, decision) in members.iter().zip(again(members).await?) {
            match decision {
                Err(skip) => note(outcomes, *at, skip.outcome()?),
                // One transaction cannot have both changes, and nothing is written yet.
                Ok(change) if batch.transaction.collides(&change) => return Ok(Some(members.to_owned())),
                Ok(change) => {
                    // An earlier attempt may have decided otherwise.
                    note(outcomes, *at, Outcome::Written);
                    batch.add(*at, change);
                }
            }
        }
        let is_written = self.is_written(batch.transaction).await?;
        Ok((!is_written).then_some(batch.members))
    }

    /// Writes a transaction. Returns `false` if it was refused, also because one of its changes is too large for
    /// DynamoDB.
    async fn is_written(&self, transaction: Transaction) -> Result<bool, OperatorError> {
        match self.table().commit_at(&self.2, transaction).await {
            Ok(()) => Ok(true),
            Err(
                CommitError::Refused(_)
                | CommitError::Store(StoreError::Contention(_) | StoreError::Refused { .. }),
            ) => Ok(false),
            Err(CommitError::Store(error)) => Err(error.into()),
        }
    }

    async fn alone<F>(&self, at: usize, again: &F) -> Result<Outcome, OperatorError>
    where
        F: AsyncFn(&[usize]) -> Result<Vec<Decision>, OperatorError>,
    {
        let mut retry = self.table().retry(Policy::CONFLICT, "an import");
        loop {
            let decision = again(&[at]).await?.pop();
            let change = match decision.unwrap_or(Err(Skip::Unchanged)) {
                Ok(change) => change,
                Err(skip) => return Ok(skip.outcome()?),
            };
            match self.table().commit_at(&self.2, change).await {
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

fn note(outcomes: &mut [Outcome], at: usize, outcome: Outcome) {
    if let Some(place) = outcomes.get_mut(at) {
        *place = outcome;
    }
}
