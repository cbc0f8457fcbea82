//! Many small changes in few transactions: each record's change is whole in one of them.

use super::{Operator, OperatorError, Outcome};
use crate::store::error::StoreError;
use crate::store::transaction::{CommitError, MOST_WRITES, Transaction};

/// The most bytes of one transaction, below DynamoDB's 4 MB.
const MOST_BYTES: usize = 3_000_000;
/// How often a record's change is decided anew because others changed what it rests on.
const ATTEMPTS: u32 = 8;

/// What is to be done about a record.
#[derive(Debug)]
pub enum Step {
    /// Nothing; this is what became of it.
    Done(Outcome),
    /// These writes.
    Write(Transaction),
}

impl Step {
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Done(Outcome::Refused(reason.into()))
    }

    /// A step that was decided on what is stored. Where that cannot be read the line is refused, and the others go on.
    pub fn decided(step: Result<Self, StoreError>) -> Result<Self, StoreError> {
        match step {
            Err(cause @ StoreError::Corrupt { .. }) => Ok(Self::refused(cause.to_string())),
            step => step,
        }
    }
}

/// Changes that go into one transaction, and whose they are.
#[derive(Debug, Default)]
struct Batch {
    transaction: Transaction,
    bytes: usize,
    members: Vec<usize>,
}

impl Batch {
    fn takes(&self, change: &Transaction) -> bool {
        self.transaction.len() + change.len() <= MOST_WRITES && self.bytes + change.bytes() <= MOST_BYTES
    }

    fn add(&mut self, at: usize, change: Transaction) {
        self.bytes += change.bytes();
        self.transaction.merge(change);
        self.members.push(at);
    }
}

impl Operator {
    /// Carries out steps in their order. Where others changed what they rest on, `again` reads and decides anew about
    /// the record at that place, each then in a transaction of its own.
    pub(super) async fn carry_out<F>(&self, steps: Vec<Step>, again: F) -> Result<Vec<Outcome>, OperatorError>
    where
        F: AsyncFn(usize) -> Result<Step, OperatorError>,
    {
        if self.1.judging {
            let judged = steps.into_iter().map(|step| match step {
                Step::Done(outcome) => outcome,
                Step::Write(_) => Outcome::Written,
            });
            return Ok(judged.collect());
        }
        let mut outcomes = vec![Outcome::Written; steps.len()];
        let mut batch = Batch::default();
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Done(outcome) => note(&mut outcomes, at, outcome),
                // It was decided without the one before it in view.
                Step::Write(change) if batch.transaction.collides(&change) => {
                    self.flush(std::mem::take(&mut batch), &mut outcomes, &again)
                        .await?;
                    let outcome = self.alone(at, &again).await?;
                    note(&mut outcomes, at, outcome);
                }
                Step::Write(change) => {
                    if !batch.takes(&change) {
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

    async fn flush<F>(&self, batch: Batch, outcomes: &mut [Outcome], again: &F) -> Result<(), OperatorError>
    where
        F: AsyncFn(usize) -> Result<Step, OperatorError>,
    {
        match self.table().commit(batch.transaction).await {
            Ok(()) => return Ok(()),
            // Nothing was written, so deciding anew does nothing twice. What DynamoDB never takes may be due to one of them.
            Err(
                CommitError::Refused(_)
                | CommitError::Store(StoreError::Contention(_) | StoreError::Refused { .. }),
            ) => {}
            Err(CommitError::Store(error)) => return Err(error.into()),
        }
        for at in batch.members {
            let outcome = self.alone(at, again).await?;
            note(outcomes, at, outcome);
        }
        Ok(())
    }

    async fn alone<F>(&self, at: usize, again: &F) -> Result<Outcome, OperatorError>
    where
        F: AsyncFn(usize) -> Result<Step, OperatorError>,
    {
        for attempt in 0..ATTEMPTS {
            let change = match again(at).await? {
                Step::Done(outcome) => return Ok(outcome),
                Step::Write(change) => change,
            };
            match self.table().commit(change).await {
                Ok(()) => return Ok(Outcome::Written),
                Err(CommitError::Refused(_)) => self.table().pause(attempt).await,
                Err(CommitError::Store(StoreError::Refused { cause, .. })) => {
                    return Ok(Outcome::Refused(format!(
                        "cannot be stored, because an item has at most 400 KB and a transaction 4 MB: {cause}"
                    )));
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(StoreError::Contention("an import").into())
    }
}

fn note(outcomes: &mut [Outcome], at: usize, outcome: Outcome) {
    if let Some(place) = outcomes.get_mut(at) {
        *place = outcome;
    }
}
