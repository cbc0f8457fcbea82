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
    fn wait_for_turn(&self) -> impl Future<Output = ()> + Send;

    /// Records the end of an attempt.
    fn note(&self, throttled: bool);
}

/// Starts every attempt at once.
struct Unpaced;

impl Pacing for Unpaced {
    const THROTTLED: Policy = Policy::CONFLICT;

    async fn wait_for_turn(&self) {}

    fn note(&self, _throttled: bool) {}
}

#[cfg(feature = "admin")]
impl Pacing for Pace {
    const THROTTLED: Policy = Policy::CONFLICT.attempts(MAX_PACED);

    async fn wait_for_turn(&self) {
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

    /// Makes attempts until one succeeds or is refused, or the retries for conflicts or throttling are used up. An
    /// attempt of unknown outcome is an error and not repeated.
    async fn commit_with<P: Pacing>(
        &self,
        mut transaction: Transaction,
        pacing: &P,
    ) -> Result<(), CommitError> {
        // Additions that cancel out need no write. An example is a lead that moves within its class.
        transaction.writes.retain(|_, (change, condition)| {
            let adds_nothing =
                matches!(change, Change::Update { add, .. } if add.values().all(|by| *by == 0));
            !adds_nothing || *condition != Condition::Always
        });
        if transaction.is_empty() {
            return Ok(());
        }
        let mut conflict_retry = self.retry(Policy::OVERLAP, OPERATION);
        let mut throttling_retry = self.retry(P::THROTTLED, OPERATION);
        loop {
            let sharded = transaction.sharded(|sum| self.contested.shard(sum, &self.reads().jitter));
            pacing.wait_for_turn().await;
            let attempt = self.attempt(&sharded).await?;
            pacing.note(matches!(attempt, Attempt::Throttled(_)));
            match attempt {
                Attempt::Done => return Ok(()),
                Attempt::Refused(items) => return Err(CommitError::Refused(items)),
                Attempt::Throttled(at) => {
                    self.note_contested(&sharded, &at);
                    throttling_retry.again().await?;
                }
                Attempt::Conflict(at) => {
                    self.note_contested(&sharded, &at);
                    // Another transaction takes these numbers, so a repetition would be refused.
                    let taken = at.into_iter().filter(|key| transaction.numbered.contains(key));
                    let taken: BTreeMap<_, _> = taken.map(|key| (key, Item::new())).collect();
                    if !taken.is_empty() {
                        return Err(CommitError::Refused(taken));
                    }
                    conflict_retry.again().await?;
                }
            }
        }
    }

    /// Remembers the sums among these items, so that further additions go to other shards.
    fn note_contested(&self, sharded: &Transaction, at: &[Key]) {
        let sums = at.iter().filter(|key| sharded.spreads(key));
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
