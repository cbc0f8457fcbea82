//! Compares totals exactly during live writes: the number of records of each class, and the sums of their values.
//!
//! Counting takes time, and an unchanged total proves nothing, because one record may have entered the class while
//! another left it. But every write of a record that enters or leaves a class, or changes its share, raises the version
//! of the class's total by one in the same transaction. So a class is counted as follows:
//!
//! 1. Read the version `v0` of its total, and then the last number `L` that any record has.
//! 2. Count the records of the class up to `L`, then those after `L`: `k`.
//! 3. Read the total again: its version `v1`.
//!
//! A record after `L` was numbered after `v0` was read, so each of the `k` records entered the class since, and raised
//! the version. If `v1 - v0 = k`, no other write raised it: no record up to `L` entered, left or changed its share, and
//! no record after `L` left, changed its share or entered after it was counted. So at `v1` the class has exactly the
//! counted records with exactly the counted shares. If the difference is larger, the few records after `L` are counted
//! again, so that an instance with many new records does not delay the doctor. If that fails too, everything is counted
//! again.
//!
//! A repair puts the total on condition that its version is still `v1`. Then no share has changed since, so a repair
//! never makes a right total wrong. The repair raises the version, so that the count of another doctor notices it. The
//! total of an empty class is never deleted, because its version would start again.
//!
//! A total may have shards ([`table::shards`]). Its numbers and its version are then the sums of its items. The shards
//! are read at different moments, but each version only rises. So if the sum of the versions rose by `k`, no version
//! rose after the records were counted, and all items are consistent. A repair puts the total, deletes its shards, and
//! depends on the versions of all.
//!
//! The scan of the table finds the partitions of totals, because some may be of removed columns. A total that is
//! missing, or was created after the scan, belongs to one of the counted classes.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use super::kind::KindRef;
use super::resume::Position;
use super::tally::{Class, Recount, add_shard};
use super::{Doctor, Result};
use shared::store::unscoped::key::{self, Origin};
use table::item::{self, Item};
use table::{Condition, Key, KeyRange, Policy, StoreError, Transaction, key_of, shard_of, shards};

/// Full recounts of the records for classes that keep changing.
const COUNTS: Policy = Policy::CONFLICT.attempts(4);
/// Recounts of the newest records in each full recount.
const CATCH_UPS: u32 = 4;

impl Doctor<'_> {
    /// Compares the totals of a kind with a first count, and counts the differing ones exactly.
    pub(super) async fn totals(
        &mut self,
        (number, kind): (usize, KindRef),
        partitions: &BTreeSet<String>,
    ) -> Result<()> {
        let mut tally = self
            .counted
            .get_mut(number)
            .map(std::mem::take)
            .unwrap_or_default();
        loop {
            if tally.unreadable {
                // Not every kind has totals.
                if !(partitions.is_empty() && tally.classes.is_empty()) {
                    self.uncountable(kind);
                }
                return Ok(());
            }
            let suspects = self.suspects(partitions, &mut tally).await?;
            self.recount(kind, suspects).await?;
            let Some(next) = tally.next() else {
                return Ok(());
            };
            tally = self.count(kind, (None, None), next).await?;
            tally = self.passed(number, tally)?;
        }
    }

    /// Notes that the totals before those of a count are compared.
    fn passed(&mut self, number: usize, tally: Recount) -> Result<Recount> {
        let Some(place) = self.counted.get_mut(number) else {
            return Ok(tally);
        };
        *place = tally;
        self.reached(Position::Totals(number))?;
        Ok(self
            .counted
            .get_mut(number)
            .map(std::mem::take)
            .unwrap_or_default())
    }

    /// The totals that differ from the first count. During live writes most of them are right.
    async fn suspects(
        &mut self,
        partitions: &BTreeSet<String>,
        tally: &mut Recount,
    ) -> Result<BTreeSet<Key>> {
        let (mut suspects, mut spread) = (BTreeMap::new(), BTreeMap::<_, Item>::new());
        for partition in partitions {
            let mut pages = self.pages(partition.clone());
            while let Some(page) = pages.next().await? {
                self.checked("totals", page.len());
                for total in page {
                    let key = key_of(&total)?;
                    if let Some(sum) = shard_of(&key) {
                        add_shard(spread.entry(sum).or_default(), total);
                        continue;
                    }
                    let class = tally.classes.remove(&key).unwrap_or_default();
                    if tally.covers(&key) && self.fault(&key, &class, Some(&total)).is_some() {
                        suspects.insert(key, (class, total));
                    }
                }
            }
        }
        spread.retain(|sum, _| tally.covers(sum));
        for (sum, shards) in spread {
            // A total that is right without its shards must have shards that add up to zero.
            let (class, mut total) = suspects
                .remove(&sum)
                .unwrap_or_else(|| (tally.classes.remove(&sum).unwrap_or_default(), Item::new()));
            add_shard(&mut total, shards);
            if self.fault(&sum, &class, Some(&total)).is_some() {
                suspects.insert(sum, (class, total));
            }
        }
        let missing = std::mem::take(&mut tally.classes).into_keys();
        Ok(suspects.into_keys().chain(missing).collect())
    }

    /// The difference of a total from its class. Daily counts may lack cents until a migration is complete.
    fn fault(&self, key: &Key, class: &Class, total: Option<&Item>) -> Option<String> {
        if !self.has_day_values && self.operator.keys().is_day_count(key) {
            return class.miscounted(total);
        }
        class.fault(total)
    }

    async fn recount(&mut self, kind: KindRef, mut open: BTreeSet<Key>) -> Result<()> {
        if open.is_empty() {
            return Ok(());
        }
        let operator = self.operator;
        let mut retry = operator.table().retry(COUNTS, "a count");
        loop {
            let before = self.stored_totals(&open).await?;
            let last = key::number(self.last_number(kind).await?);
            let old = self.count(kind, (None, Some(&last)), Recount::of(&open)).await?;
            for _ in 0..CATCH_UPS {
                let new = self.count(kind, (Some(&last), None), Recount::of(&open)).await?;
                if old.unreadable || new.unreadable {
                    self.uncountable(kind);
                    return Ok(());
                }
                self.judge_all(&mut open, &before, [&old, &new]).await?;
                if open.is_empty() {
                    return Ok(());
                }
            }
            if retry.again().await.is_err() {
                break;
            }
        }
        for key in open {
            let reason = format!(
                "cannot be compared while so many {} change; run again",
                kind.plural()
            );
            self.report(key, reason, false);
        }
        Ok(())
    }

    /// Judges the totals whose classes (the records that share in a total) were counted exactly, and keeps the others
    /// open for another count. `before` are the totals as read before the count, `old` the records up to the last
    /// number at that time, and `new` those after it. The module's comment has the proof.
    async fn judge_all(
        &mut self,
        open: &mut BTreeSet<Key>,
        before: &BTreeMap<Key, StoredTotal>,
        [old, new]: [&Recount; 2],
    ) -> Result<()> {
        for (key, now) in self.stored_totals(open).await? {
            let then = before.get(&key).and_then(|total| total.whole.as_ref());
            let (Ok(v0), Ok(v1)) = (version(then), version(now.whole.as_ref())) else {
                self.report(&key, "has no readable version", false);
                open.remove(&key);
                continue;
            };
            let mut class = Class::default();
            for part in [old, new].into_iter().filter_map(|count| count.classes.get(&key)) {
                class.join(part);
            }
            let arrived = new.classes.get(&key).map_or(0, |class| class.members);
            // Each write to a class raises its version by one. If only the new records raised it, the count is exact.
            // A total that changes again before its repair stays open.
            if v1.checked_sub(v0) == Some(arrived) && self.judge(&key, &class, &now, v1).await? {
                open.remove(&key);
            }
        }
        Ok(())
    }

    /// Reports or repairs a total. Returns `false` if it changed before the repair.
    async fn judge(&mut self, key: &Key, class: &Class, total: &StoredTotal, value: u64) -> Result<bool> {
        let whole = total.whole.as_ref();
        let Some(fault) = self.fault(key, class, whole) else {
            return Ok(true);
        };
        if self.repair {
            let mut transaction = Transaction::default();
            for (at, item) in &total.items {
                let unchanged = Condition::Number {
                    name: "v",
                    value: version(item.as_ref())?,
                };
                match item {
                    _ if at == key => transaction.put(at.clone(), class.total(whole, value + 1), unchanged),
                    Some(_) => transaction.delete(at.clone(), unchanged),
                    None => transaction.check(at.clone(), unchanged),
                }
            }
            if !self.operator.table().try_commit(transaction).await? {
                return Ok(false);
            }
        }
        self.report(key, fault, self.repair);
        Ok(true)
    }

    /// Totals with their shards.
    async fn stored_totals(&self, open: &BTreeSet<Key>) -> Result<BTreeMap<Key, StoredTotal>> {
        let keys = self.operator.keys();
        let parts = |total: &Key| {
            let is_spread = matches!(keys.origin(total), Origin::OpportunityTotal | Origin::LeadTotal);
            let shards = is_spread.then(|| shards(total).collect::<Vec<_>>());
            iter::once(total.clone()).chain(shards.into_iter().flatten())
        };
        let mut found = self
            .operator
            .reads()
            .get_many(open.iter().flat_map(parts))
            .await?;
        let stored = open.iter().map(|total| {
            let items = parts(total).map(|key| (key.clone(), found.remove(&key)));
            (total.clone(), StoredTotal::of(items.collect()))
        });
        Ok(stored.collect())
    }

    /// A number that every later record of the kind exceeds: the last one of the counter, or the largest one of the
    /// read records if the counter is too low.
    async fn last_number(&self, kind: KindRef) -> Result<u64, StoreError> {
        let Some(counter) = kind.about().counter else {
            return Ok(0);
        };
        let number = (counter, kind.name());
        let seen = self.largest.get(&number).copied().unwrap_or_default();
        Ok(self.last_taken(number).await?.max(seen))
    }

    /// Counts the records between two sort keys.
    async fn count(
        &mut self,
        kind: KindRef,
        (after, through): (Option<&String>, Option<&String>),
        mut tally: Recount,
    ) -> Result<Recount> {
        let ranges = KeyRange::of_each(kind.records(self.operator.keys()), after, through);
        let mut pages = self.pages_of(ranges);
        while let Some(page) = pages.next().await? {
            self.progress(kind.plural());
            for record in page {
                if kind.is_misplaced(&key_of(&record)?, &record).unwrap_or_default() {
                    continue;
                }
                match kind.derived(self.operator.keys(), &record) {
                    Ok(derived) => tally.count(&derived),
                    Err(_) => tally.unreadable = true,
                }
            }
        }
        Ok(tally)
    }

    fn uncountable(&mut self, kind: KindRef) {
        let what = format!("totals of {}", kind.plural());
        let reason = format!("cannot be compared, because a {} cannot be read", kind.name());
        self.report(what, reason, false);
    }
}

/// A total as it is stored.
#[derive(Default)]
struct StoredTotal {
    /// The sum of its items.
    whole: Option<Item>,
    /// Its own item, and its shards.
    items: Vec<(Key, Option<Item>)>,
}

impl StoredTotal {
    fn of(items: Vec<(Key, Option<Item>)>) -> Self {
        let there = items.iter().filter_map(|(_, item)| item.clone());
        let whole = there.reduce(|mut whole, shard| {
            add_shard(&mut whole, shard);
            whole
        });
        Self { whole, items }
    }
}

fn version(total: Option<&Item>) -> Result<u64, StoreError> {
    total.map_or(Ok(0), |total| item::number("total", total, "v"))
}
