//! Transactions by the SDK, repeated after conflicts and throttling. Additions to contested sums then go to shards.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsOutput;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use super::busy::{self, Busy, Patience};
use super::outcome::{Attempt, OPERATION, outcome_of};
use super::write_request::request_of;
use super::{DynamoDb, Units, metered, units};
use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;
use crate::retry::{Policy, Retry};
use crate::transaction::{CommitError, Transaction};

impl DynamoDb {
    /// Makes attempts until one succeeds or is refused, or the retries for conflicts or throttling are used up.
    pub(super) async fn commit(&self, transaction: Transaction) -> Result<(), CommitError> {
        let mut conflict_retry = Retry::new(&self.jitter, Policy::OVERLAP, OPERATION);
        let mut patience = self.patience(OPERATION);
        loop {
            let sharded = transaction.sharded(|sum| self.contested.shard(sum, &self.jitter));
            match self.attempt(&sharded, &mut patience).await? {
                Attempt::Done => return Ok(()),
                Attempt::Refused(items) => return Err(CommitError::Refused(items)),
                Attempt::Throttled(at) => {
                    self.note_contested(&sharded, &at);
                    patience.again(Busy::Throttled).await?;
                }
                Attempt::Conflict(at) => {
                    self.note_contested(&sharded, &at);
                    // Another transaction takes these numbers, so a repetition would be refused.
                    let taken = at.into_iter().filter(|key| transaction.takes_number(key));
                    let taken: BTreeMap<_, _> = taken.map(|key| (key, Item::new())).collect();
                    if !taken.is_empty() {
                        return Err(CommitError::Refused(taken));
                    }
                    conflict_retry.again().await?;
                }
            }
        }
    }

    /// Makes one attempt. All calls of an attempt have the same token, so that none repeats a committed transaction,
    /// also where an earlier call that seemed to fail is still in progress.
    async fn attempt(
        &self,
        transaction: &Transaction,
        patience: &mut Patience<'_>,
    ) -> Result<Attempt, StoreError> {
        let writes: Result<Vec<_>, _> = transaction
            .writes()
            .map(|write| request_of(&self.name, write))
            .collect();
        let writes = writes.map_err(|cause| StoreError::incomplete(OPERATION, &cause))?;
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(writes))
            .client_request_token(self.token())
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let units_of = |output: &TransactWriteItemsOutput| Units::Write(units(output.consumed_capacity()));
        loop {
            if let Some(pace) = &self.pace {
                pace.wait().await;
            }
            let Err(error) = metered(OPERATION, request.clone().send(), units_of).await else {
                self.adapt_pace(false);
                return Ok(Attempt::Done);
            };
            let Some(reason) = busy::reason(&error) else {
                let outcome = outcome_of(transaction, &error);
                self.adapt_pace(matches!(outcome, Ok(Attempt::Throttled(_))));
                return outcome;
            };
            self.adapt_pace(reason == Busy::Throttled);
            patience.again(reason).await?;
        }
    }

    /// A token that no other attempt has.
    fn token(&self) -> String {
        let random = || self.jitter.below(u64::MAX);
        format!("{:016x}{:016x}", random(), random())
    }

    /// Adapts the pace of bulk work after an attempt.
    fn adapt_pace(&self, throttled: bool) {
        if let Some(pace) = &self.pace {
            pace.adapt(throttled);
        }
    }

    /// Remembers the sums among these items, so that further additions go to other shards.
    fn note_contested(&self, sharded: &Transaction, at: &[Key]) {
        let sums = at.iter().filter(|key| sharded.spreads(key));
        sums.for_each(|sum| self.contested.note(sum.clone()));
    }
}
