//! Commits of transactions, repeated after conflicts and throttling.

use std::collections::BTreeMap;

use super::outcome::Attempt;
use super::{Change, CommitError, OPERATION, Transaction};
use crate::client::Table;
use crate::condition::Condition;
use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;
#[cfg(feature = "admin")]
use crate::pace::Pace;
use crate::retry::Policy;

/// Maximum attempts at a throttled transaction of bulk work.
#[cfg(feature = "admin")]
const MAX_PACED: u32 = 200;

/// Decides when attempts at transactions start.
trait Pacing: Sync {
    /// The policy for retries of throttled attempts.
    const THROTTLED: Policy;

    /// Waits until an attempt may start.
    fn turn(&self) -> impl Future<Output = ()> + Send;

    /// Records the end of an attempt.
    fn note(&self, throttled: bool);
}

/// Starts every attempt at once.
struct Unpaced;

impl Pacing for Unpaced {
    const THROTTLED: Policy = Policy::CONFLICT;

    async fn turn(&self) {}

    fn note(&self, _throttled: bool) {}
}

#[cfg(feature = "admin")]
impl Pacing for Pace {
    const THROTTLED: Policy = Policy::CONFLICT.attempts(MAX_PACED);

    async fn turn(&self) {
        self.wait().await;
    }

    fn note(&self, throttled: bool) {
        self.adapt(throttled);
    }
}

impl Table {
    /// Executes a transaction. Cost: two write units per started KB of each item.
    pub async fn commit(&self, transaction: Transaction) -> Result<(), CommitError> {
        self.commit_with(transaction, &Unpaced).await
    }

    /// Executes a transaction of bulk work at a pace, which throttling slows down. Makes up to [`MAX_PACED`] attempts
    /// while the transaction is throttled.
    #[cfg(feature = "admin")]
    pub async fn commit_at(&self, pace: &Pace, transaction: Transaction) -> Result<(), CommitError> {
        self.commit_with(transaction, pace).await
    }

    async fn commit_with<P: Pacing>(
        &self,
        mut transaction: Transaction,
        pacing: &P,
    ) -> Result<(), CommitError> {
        // Additions that cancel out need no write. An example is a lead that moves within its class.
        transaction.writes.retain(|_, (change, condition)| {
            !matches!(change, Change::Update { add, .. } if add.values().all(|by| *by == 0))
                || *condition != Condition::Always
        });
        if transaction.is_empty() {
            return Ok(());
        }
        let mut overlap = self.retry(Policy::OVERLAP, OPERATION);
        let mut throttled = self.retry(P::THROTTLED, OPERATION);
        loop {
            let placed = transaction.placed(|sum| self.contested.shard(sum, &self.reads().jitter));
            pacing.turn().await;
            let attempt = self.attempt(&placed).await?;
            pacing.note(matches!(attempt, Attempt::Throttled(_)));
            match attempt {
                Attempt::Done => return Ok(()),
                Attempt::Refused(items) => return Err(CommitError::Refused(items)),
                Attempt::Throttled(at) => {
                    self.note_contested(&placed, &at);
                    throttled.again().await?;
                }
                Attempt::Conflict(at) => {
                    self.note_contested(&placed, &at);
                    let taken = at.into_iter().filter(|key| transaction.numbered.contains(key));
                    let taken: BTreeMap<_, _> = taken.map(|key| (key, Item::new())).collect();
                    if !taken.is_empty() {
                        return Err(CommitError::Refused(taken));
                    }
                    overlap.again().await?;
                }
            }
        }
    }

    /// Remembers the sums among these items, so that further additions go to other shards.
    fn note_contested(&self, placed: &Transaction, at: &[Key]) {
        let sums = at.iter().filter(|key| placed.spreads(key));
        sums.for_each(|sum| self.contested.note(sum.clone()));
    }

    /// Like [`Self::commit`], without the refused items. Returns `false` if a condition failed and nothing was written.
    ///
    /// # Errors
    /// [`StoreError`] if the transaction failed, or its outcome is unknown.
    pub async fn try_commit(&self, transaction: Transaction) -> Result<bool, StoreError> {
        match self.commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
