//! Transactions: writes that all happen or none.
//!
//! A transaction puts, deletes and checks items and sets their attributes, each with a condition, and adds to numbers.
//! Additions to one item are merged, because DynamoDB rejects two writes to one item. A transaction either succeeds,
//! fails a condition (the caller decides again), or has an unknown outcome, which is an error.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::condition::Condition;
use crate::error::StoreError;
use crate::item::{self, Item};
use crate::key::Key;

/// DynamoDB's maximum number of writes in one transaction.
pub const MAX_WRITES: usize = 100;

/// A change of one item.
#[derive(Debug, Clone)]
pub enum Change {
    /// Replaces the item.
    Put(Item),
    /// Deletes the item.
    Delete,
    /// Only checks the condition.
    Check,
    /// Sets and removes attributes; others are unchanged.
    Set {
        /// The attributes to set.
        set: Item,
        /// Names of the attributes to remove.
        remove: Vec<String>,
    },
    /// Additions to numbers, and attributes to set.
    Update {
        /// The summands by attribute.
        add: BTreeMap<String, i64>,
        /// The attributes to set.
        set: Item,
        /// Whether the item is a sum that may have shards.
        spread: bool,
    },
}

impl Change {
    /// Whether both can be merged into one write.
    fn merges_with(&self, other: &Self) -> bool {
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
    /// Items whose conflicts refuse the transaction; see [`Self::take_number`].
    numbered: BTreeSet<Key>,
}

/// An error of a transaction.
#[derive(Debug)]
pub enum CommitError {
    /// Conditions failed and nothing was written. Contains the current item of each failed condition, or an empty item
    /// for a number that another transaction is taking.
    Refused(BTreeMap<Key, Item>),
    /// The transaction failed, or its outcome is unknown.
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

    /// Sets the attributes in `set`, and removes those named in `remove_unless_set` that it does not contain. All
    /// others stay, so attributes of later builds survive (C-88). Creates the item unless the condition forbids it.
    /// With an empty `set` the item is replaced by one with only its key, because an update sets at least one attribute.
    pub fn set(&mut self, key: Key, set: Item, remove_unless_set: &[&str], condition: Condition) {
        let gone = remove_unless_set.iter().filter(|name| !set.contains_key(**name));
        let remove = gone.map(|name| (*name).to_owned()).collect();
        let change = if set.is_empty() {
            Change::Put(set)
        } else {
            Change::Set { set, remove }
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

    /// Sets the condition on an item. If the transaction does not write the item, it checks the condition.
    pub fn require(&mut self, key: Key, condition: Condition) {
        let write = self.writes.entry(key);
        let (_, stored_condition) = write.or_insert((Change::Check, Condition::Always));
        *stored_condition = condition;
    }

    /// Adds to a number of an item and sets attributes. Creates the item unless the condition forbids it. Merges
    /// additions to one item; of several conditions, the last one other than `Always` applies.
    pub fn update(&mut self, key: Key, name: &str, by: i64, set: Item, condition: Condition) {
        let (change, stored_condition) = self.writes.entry(key).or_insert_with(|| {
            (
                Change::Update {
                    add: BTreeMap::new(),
                    set: Item::new(),
                    spread: false,
                },
                Condition::Always,
            )
        });
        if let Change::Update {
            add, set: stored_set, ..
        } = change
        {
            *add.entry(name.to_owned()).or_default() += by;
            stored_set.extend(set);
        }
        if condition != Condition::Always {
            *stored_condition = condition;
        }
    }

    /// Lets the additions to an item go to one of its shards after a conflict. All readers must then include the shards
    /// in the sum.
    pub fn spread(&mut self, sum: &Key) {
        if let Some((Change::Update { spread, .. }, Condition::Always)) = self.writes.get_mut(sum) {
            *spread = true;
        }
    }

    /// Adds 1 to a number of an item, on condition that the number is `last`. A conflict at the item refuses the
    /// transaction at once, because the other transaction is taking the number.
    pub fn take_number(&mut self, key: Key, name: &'static str, last: u64) {
        let last = Condition::Number { name, value: last };
        self.update(key.clone(), name, 1, Item::new(), last);
        self.numbered.insert(key);
    }

    /// Adds 1 to each of two numbers of an item, on condition that they are `last`. Otherwise like
    /// [`take_number`](Self::take_number).
    pub fn take_numbers(&mut self, key: Key, last: [(&'static str, u64); 2]) {
        // The item of a counter lacks a number that was never taken.
        let (taken, new): (Vec<_>, Vec<_>) = last.into_iter().partition(|(_, last)| *last > 0);
        let has = taken
            .into_iter()
            .map(|(name, last)| (name.to_owned(), item::n(last)));
        let unchanged = Condition::Exactly {
            has: has.collect(),
            lacks: new.into_iter().map(|(name, _)| name).collect(),
        };
        for (name, _) in last {
            self.update(key.clone(), name, 1, Item::new(), unchanged.clone());
        }
        self.numbered.insert(key);
    }

    /// Adds the writes of another transaction. Additions to one item are merged; another write replaces the own one of
    /// the item, so callers check [`collides`](Self::collides) first if both may write it.
    pub fn merge(&mut self, other: Self) {
        self.numbered.extend(other.numbered);
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

    /// Whether both transactions write the same item in ways that cannot be merged.
    #[must_use]
    pub fn collides(&self, other: &Self) -> bool {
        let collides = |(key, (theirs, _)): (&Key, &(Change, Condition))| {
            self.writes
                .get(key)
                .is_some_and(|(own, _)| !own.merges_with(theirs))
        };
        other.writes.iter().any(collides)
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

    /// Whether it deletes items.
    #[must_use]
    pub fn deletes(&self) -> bool {
        let mut changes = self.writes.values();
        changes.any(|(change, _)| matches!(change, Change::Delete))
    }

    /// Number of writes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether the transaction adds to a sum that may have shards.
    pub(crate) fn spreads(&self, sum: &Key) -> bool {
        let write = self.writes.get(sum);
        write.is_some_and(|(change, _)| matches!(change, Change::Update { spread: true, .. }))
    }

    /// The transaction with the additions to each sum moved to the shard that `shard` returns; those without one stay.
    pub(crate) fn sharded(&self, shard: impl Fn(&Key) -> Option<Key>) -> Cow<'_, Self> {
        let sums = self.writes.keys().filter(|key| self.spreads(key));
        let moved: Vec<_> = sums.filter_map(|sum| Some((sum, shard(sum)?))).collect();
        if moved.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut sharded = self.clone();
        for (sum, shard) in moved {
            let write = sharded.writes.remove(sum);
            sharded.writes.extend(write.map(|write| (shard, write)));
        }
        Cow::Owned(sharded)
    }

    /// Whether there are no writes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// The writes, in the order of their keys.
    #[must_use]
    pub fn writes(&self) -> impl ExactSizeIterator<Item = (&Key, &Change, &Condition)> {
        let writes = self.writes.iter();
        writes.map(|(key, (change, condition))| (key, change, condition))
    }

    /// Removes additions that cancel out. An example is a lead that moves within its class.
    pub(crate) fn remove_idle_additions(&mut self) {
        self.writes.retain(|_, (change, condition)| {
            let adds_nothing =
                matches!(change, Change::Update { add, .. } if add.values().all(|by| *by == 0));
            !adds_nothing || *condition != Condition::Always
        });
    }

    /// Whether a conflict at an item refuses the transaction; see [`Self::take_number`].
    pub(crate) fn takes_number(&self, key: &Key) -> bool {
        self.numbered.contains(key)
    }
}
