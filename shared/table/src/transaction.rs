//! Transactions: writes that all happen or none.
//!
//! A transaction puts, deletes and checks items, each with a condition, and adds to numbers. Additions to one
//! item are merged, because DynamoDB rejects two writes to one item. An attempt either succeeds, fails a
//! condition (the caller decides again), or has an unknown outcome, which is reported as an error and never
//! retried blindly. Conflicts with other writers are retried here, with additions to sums in other shards.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use crate::client::Table;
use crate::condition::{Condition, Expression};
use crate::error::StoreError;
use crate::item::{self, Item};
use crate::key::Key;
use crate::meter::{units, write};
use crate::retry::Policy;

/// DynamoDB's maximum of writes in one transaction.
pub const MAX_WRITES: usize = 100;

/// One write.
#[derive(Debug, Clone)]
enum Change {
    Put(Item),
    Delete,
    /// Only the condition.
    Check,
    /// Sets and removes attributes; others are unchanged.
    Set {
        set: Item,
        remove: Vec<String>,
    },
    /// Additions to numbers, and attributes to set.
    Update {
        add: BTreeMap<String, i64>,
        set: Item,
        /// Whether the item is a sum that may have shards.
        spread: bool,
    },
}

impl Change {
    /// Whether both can be merged into one write.
    fn goes_with(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Check, Self::Check) | (Self::Update { .. }, Self::Update { .. })
        )
    }
}

/// Writes that all happen or none.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    writes: BTreeMap<Key, (Change, Condition)>,
}

/// An error of a transaction.
#[derive(Debug)]
pub enum CommitError {
    /// Conditions failed; contains the current item of each. Nothing was written.
    Refused(BTreeMap<Key, Item>),
    /// It failed, or its outcome is unknown.
    Store(StoreError),
}

impl From<StoreError> for CommitError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Transaction {
    /// Puts an item.
    pub fn put(&mut self, key: Key, item: Item, condition: Condition) {
        self.writes.insert(key, (Change::Put(item), condition));
    }

    /// Sets attributes of an item and removes those of `may_lack` that it no longer has. Attributes of later
    /// builds are kept (C-88).
    pub fn set(&mut self, key: Key, item: Item, may_lack: &[&str], condition: Condition) {
        let gone = may_lack.iter().filter(|name| !item.contains_key(**name));
        let remove = gone.map(|name| (*name).to_owned()).collect();
        let change = if item.is_empty() {
            Change::Put(item)
        } else {
            Change::Set { set: item, remove }
        };
        self.writes.insert(key, (change, condition));
    }

    /// Deletes an item.
    pub fn delete(&mut self, key: Key, condition: Condition) {
        self.writes.insert(key, (Change::Delete, condition));
    }

    /// Checks a condition without writing the item.
    pub fn check(&mut self, key: Key, condition: Condition) {
        self.writes.insert(key, (Change::Check, condition));
    }

    /// Checks a condition, whether or not the transaction writes the item.
    pub fn require(&mut self, key: Key, condition: Condition) {
        let write = self.writes.entry(key);
        write.or_insert((Change::Check, Condition::Always)).1 = condition;
    }

    /// Adds to a number of an item and sets attributes; creates the item unless the condition forbids.
    /// Additions to one item are merged.
    pub fn update(&mut self, key: Key, name: &str, by: i64, set: Item, condition: Condition) {
        let write = self.writes.entry(key).or_insert_with(|| {
            (
                Change::Update {
                    add: BTreeMap::new(),
                    set: Item::new(),
                    spread: false,
                },
                Condition::Always,
            )
        });
        if let Change::Update { add, set: old, .. } = &mut write.0 {
            *add.entry(name.to_owned()).or_default() += by;
            old.extend(set);
        }
        if condition != Condition::Always {
            write.1 = condition;
        }
    }

    /// Lets the additions to an item go to one of its shards after a conflict. All readers have to add up the shards.
    pub fn spread(&mut self, sum: &Key) {
        if let Some((Change::Update { spread, .. }, Condition::Always)) = self.writes.get_mut(sum) {
            *spread = true;
        }
    }

    /// Adds the writes of another transaction.
    pub fn merge(&mut self, other: Self) {
        for (key, (change, condition)) in other.writes {
            match change {
                Change::Update { add, set, spread } => {
                    for (name, by) in add {
                        self.update(key.clone(), &name, by, set.clone(), condition.clone());
                    }
                    if spread {
                        self.spread(&key);
                    }
                }
                change => {
                    self.writes.insert(key, (change, condition));
                }
            }
        }
    }

    /// Whether both write one item in ways that cannot be merged.
    #[must_use]
    pub fn collides(&self, other: &Self) -> bool {
        let meet = |(key, (theirs, _)): (&Key, &(Change, Condition))| {
            self.writes
                .get(key)
                .is_some_and(|(own, _)| !own.goes_with(theirs))
        };
        other.writes.iter().any(meet)
    }

    /// Approximate size of its items in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let items = self.writes.values().map(|(change, _)| match change {
            Change::Put(item) | Change::Set { set: item, .. } | Change::Update { set: item, .. } => {
                item::bytes(item)
            }
            Change::Delete | Change::Check => 0,
        });
        items.sum()
    }

    /// Number of writes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    fn spreads(&self, sum: &Key) -> bool {
        let write = self.writes.get(sum);
        write.is_some_and(|(change, _)| matches!(change, Change::Update { spread: true, .. }))
    }

    /// The transaction with additions to sums in the shards that `shard` names.
    fn placed(&self, shard: impl Fn(&Key) -> Option<Key>) -> Cow<'_, Self> {
        let sums = self.writes.keys().filter(|key| self.spreads(key));
        let moved: Vec<_> = sums.filter_map(|sum| Some((sum, shard(sum)?))).collect();
        if moved.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut placed = self.clone();
        for (sum, shard) in moved {
            let write = placed.writes.remove(sum);
            placed.writes.extend(write.map(|write| (shard, write)));
        }
        Cow::Owned(placed)
    }

    /// Whether there are no writes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
}

/// Completes the builder of a write. The SDK has a separate type for each, all with these methods.
macro_rules! conditioned {
    ($write:expr, $table:expr, $condition:expr) => {
        $write
            .table_name(&$table.name)
            .set_expression_attribute_names(some($condition.names))
            .set_expression_attribute_values(some($condition.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
    };
}

impl Table {
    /// Executes a transaction. Units: two write units per started KB of every item.
    pub async fn commit(&self, mut transaction: Transaction) -> Result<(), CommitError> {
        // Additions that cancel out, such as of a lead moved within its class, need no write.
        transaction.writes.retain(|_, (change, condition)| {
            !matches!(change, Change::Update { add, .. } if add.values().all(|by| *by == 0))
                || *condition != Condition::Always
        });
        if transaction.is_empty() {
            return Ok(());
        }
        let mut retry = self.retry(Policy::CONFLICT, OPERATION);
        loop {
            let placed = transaction.placed(|sum| self.contested.shard(sum, &self.jitter));
            match self.attempt(&placed).await? {
                Attempt::Done => return Ok(()),
                Attempt::Refused(items) => return Err(CommitError::Refused(items)),
                Attempt::Conflict(contested) => {
                    let sums = contested.into_iter().filter(|key| placed.spreads(key));
                    sums.for_each(|sum| self.contested.note(sum));
                    retry.again().await?;
                }
            }
        }
    }

    /// Like [`Self::commit`], without the refused items: `false` if a condition failed and nothing was
    /// written.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or its outcome is unknown.
    pub async fn try_commit(&self, transaction: Transaction) -> Result<bool, StoreError> {
        match self.commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    async fn attempt(&self, transaction: &Transaction) -> Result<Attempt, StoreError> {
        let writes: Result<Vec<_>, _> = transaction
            .writes
            .iter()
            .map(|(key, (change, condition))| self.request(key, change, condition))
            .collect();
        // The SDK sends one client token with all retries of a call, so a retry after a timeout does not
        // repeat a committed transaction.
        let send = self
            .client
            .transact_write_items()
            .set_transact_items(Some(writes?))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send();
        let output = write(OPERATION, send, |output| units(output.consumed_capacity())).await;
        match output {
            Ok(_) => Ok(Attempt::Done),
            Err(error) => judge(transaction, &error),
        }
    }

    fn request(
        &self,
        key: &Key,
        change: &Change,
        condition: &Condition,
    ) -> Result<TransactWriteItem, StoreError> {
        let incomplete = |cause| StoreError::incomplete(OPERATION, &cause);
        let condition = Expression::of(condition);
        let request = TransactWriteItem::builder();
        let request = match change {
            Change::Put(item) => {
                let put = Put::builder().set_item(Some(key.complete(item.clone())));
                let put = put.set_condition_expression(condition.text.clone());
                request.put(conditioned!(put, self, condition).map_err(incomplete)?)
            }
            Change::Delete => {
                let delete = Delete::builder().set_key(Some(key.attributes()));
                let delete = delete.set_condition_expression(condition.text.clone());
                request.delete(conditioned!(delete, self, condition).map_err(incomplete)?)
            }
            Change::Check => {
                let check = ConditionCheck::builder().set_key(Some(key.attributes()));
                let check = check.set_condition_expression(condition.text.clone());
                request.condition_check(conditioned!(check, self, condition).map_err(incomplete)?)
            }
            Change::Set { set, remove } => {
                let (expression, condition) = condition.setting(set, remove);
                let update = Update::builder().set_key(Some(key.attributes()));
                let update = update.update_expression(expression);
                let update = update.set_condition_expression(condition.text.clone());
                request.update(conditioned!(update, self, condition).map_err(incomplete)?)
            }
            Change::Update { add, set, .. } => {
                let (expression, condition) = condition.updating(add, set);
                let update = Update::builder().set_key(Some(key.attributes()));
                let update = update.update_expression(expression);
                let update = update.set_condition_expression(condition.text.clone());
                request.update(conditioned!(update, self, condition).map_err(incomplete)?)
            }
        };
        Ok(request.build())
    }
}

const OPERATION: &str = "TransactWriteItems";

enum Attempt {
    Done,
    Refused(BTreeMap<Key, Item>),
    Conflict(Vec<Key>),
}

/// DynamoDB rejects empty maps of names and values.
fn some<T>(map: HashMap<String, T>) -> Option<HashMap<String, T>> {
    (!map.is_empty()).then_some(map)
}

/// Maps the error of an attempt.
fn judge<R: std::fmt::Debug>(
    transaction: &Transaction,
    error: &SdkError<TransactWriteItemsError, R>,
) -> Result<Attempt, StoreError> {
    let unavailable = || StoreError::unavailable(OPERATION, error);
    let refused = |cause: Option<&str>| StoreError::Refused {
        operation: OPERATION,
        cause: cause.unwrap_or("no reason given").to_owned(),
    };
    let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = error.as_service_error()
    else {
        let service = error.as_service_error();
        return Err(
            match service.filter(|error| error.code() == Some("ValidationException")) {
                Some(error) => refused(error.message()),
                None => unavailable(),
            },
        );
    };
    let reasons = canceled.cancellation_reasons();
    let is = |code: &'static str| move |reason: &CancellationReason| reason.code() == Some(code);
    let unmet: BTreeMap<_, _> = transaction
        .writes
        .keys()
        .zip(reasons)
        .filter(|(_, reason)| is("ConditionalCheckFailed")(reason))
        .map(|(key, reason)| (key.clone(), reason.item().cloned().unwrap_or_default()))
        .collect();
    if !unmet.is_empty() {
        return Ok(Attempt::Refused(unmet));
    }
    let passing = [
        "TransactionConflict",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
    ];
    let contested = transaction.writes.keys().zip(reasons);
    let contested = contested.filter(|(_, reason)| passing.into_iter().any(|code| is(code)(reason)));
    let contested: Vec<_> = contested.map(|(key, _)| key.clone()).collect();
    if !contested.is_empty() {
        return Ok(Attempt::Conflict(contested));
    }
    // For example an item over 400 KB.
    match reasons.iter().find(|reason| is("ValidationError")(reason)) {
        Some(reason) => Err(refused(reason.message())),
        None => Err(unavailable()),
    }
}

#[cfg(test)]
mod tests;
