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

use super::tally::{Class, Recount, add_shard};
use super::{Doctor, Result};
use crate::kinds::Storage;
use shared::store::unscoped::key::{self, Origin};
use table::item::{self, Item};
use table::{Condition, Key, KeyRange, Policy, StoreError, Transaction, key_of, shard_of, shards};

/// Full recounts of the records for classes that keep changing.
const FULL_COUNTS: Policy = Policy::CONFLICT.attempts(4);
/// Recounts of the newest records in each full recount.
const CATCH_UPS: u32 = 4;

impl Doctor<'_> {
    /// Compares the totals of a kind with a first count, and counts the differing ones exactly.
    pub(super) async fn check_totals(
        &mut self,
        kind: &Storage,
        partitions: &BTreeSet<String>,
        mut tally: Recount,
    ) -> Result<()> {
        loop {
            if tally.unreadable {
                // A kind without totals needs no count.
                if !(partitions.is_empty() && tally.classes.is_empty()) {
                    self.report_uncountable(kind);
                }
                return Ok(());
            }
            let suspects = self.suspects(partitions, &mut tally).await?;
            self.compare_exactly(kind, suspects).await?;
            let Some(next) = tally.next_pass() else {
                return Ok(());
            };
            tally = self.count_records(kind, None, None, next).await?;
        }
    }

    /// The keys of the totals that differ from the count, or that it has and the table lacks. During live writes most
    /// of them are right. Takes the classes out of the count.
    async fn suspects(
        &mut self,
        partitions: &BTreeSet<String>,
        tally: &mut Recount,
    ) -> Result<BTreeSet<Key>> {
        let mut suspects = BTreeMap::new();
        // The sums of the shards of each total.
        let mut shard_sums = BTreeMap::<_, Item>::new();
        for partition in partitions {
            let mut pages = self.pages(partition.clone());
            while let Some(page) = pages.next().await? {
                self.count_checked("totals", page.len());
                for total in page {
                    let key = key_of(&total)?;
                    if let Some(whole) = shard_of(&key) {
                        add_shard(shard_sums.entry(whole).or_default(), total);
                        continue;
                    }
                    let class = tally.classes.remove(&key).unwrap_or_default();
                    if tally.covers(&key) && class.fault(Some(&total)).is_some() {
                        suspects.insert(key, (class, total));
                    }
                }
            }
        }
        shard_sums.retain(|whole, _| tally.covers(whole));
        for (whole, shards) in shard_sums {
            // A total that is no suspect is right without its shards, which must add up to zero, or it has only shards.
            let (class, mut total) = suspects
                .remove(&whole)
                .unwrap_or_else(|| (tally.classes.remove(&whole).unwrap_or_default(), Item::new()));
            add_shard(&mut total, shards);
            if class.fault(Some(&total)).is_some() {
                suspects.insert(whole, (class, total));
            }
        }
        let missing = std::mem::take(&mut tally.classes).into_keys();
        Ok(suspects.into_keys().chain(missing).collect())
    }

    /// Counts the classes of the totals `open` as the module's comment describes, and reports or repairs the totals
    /// that differ. Reports the totals that keep changing.
    async fn compare_exactly(&mut self, kind: &Storage, mut open: BTreeSet<Key>) -> Result<()> {
        if open.is_empty() {
            return Ok(());
        }
        let operator = self.operator;
        let mut retry = operator.table().retry(FULL_COUNTS, "a count");
        loop {
            let before = self.stored_totals(&open).await?;
            let last = key::number(self.last_number(kind).await?);
            let old = self
                .count_records(kind, None, Some(&last), Recount::of(&open))
                .await?;
            for _ in 0..CATCH_UPS {
                let new = self
                    .count_records(kind, Some(&last), None, Recount::of(&open))
                    .await?;
                if old.unreadable || new.unreadable {
                    self.report_uncountable(kind);
                    return Ok(());
                }
                self.close_counted(&mut open, &before, [&old, &new]).await?;
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
                kind.plural
            );
            self.report(key, reason, false);
        }
        Ok(())
    }

    /// Compares the totals whose classes (the records that share in a total) were counted exactly, and removes them
    /// from `open`. The others stay for another count. `before` are the totals as read before the count, `old` the
    /// records up to the last number at that time, and `new` those after it. The module's comment has the proof.
    async fn close_counted(
        &mut self,
        open: &mut BTreeSet<Key>,
        before: &BTreeMap<Key, StoredTotal>,
        [old, new]: [&Recount; 2],
    ) -> Result<()> {
        for (key, now) in self.stored_totals(open).await? {
            let earlier = before.get(&key).and_then(|total| total.whole.as_ref());
            let (Ok(v0), Ok(v1)) = (version(earlier), version(now.whole.as_ref())) else {
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
            let is_exact = v1.checked_sub(v0) == Some(arrived);
            // A total that changes again before its repair stays open.
            if is_exact && self.report_or_repair(&key, &class, &now, v1).await? {
                open.remove(&key);
            }
        }
        Ok(())
    }

    /// Reports or repairs a total if it differs from its class. Returns `false` if the total changed before the repair.
    /// A repair writes all numbers to the total's own item, with a version above `sum_of_versions`, and deletes the
    /// shards.
    async fn report_or_repair(
        &mut self,
        key: &Key,
        class: &Class,
        total: &StoredTotal,
        sum_of_versions: u64,
    ) -> Result<bool> {
        let whole = total.whole.as_ref();
        let Some(fault) = class.fault(whole) else {
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
                    _ if at == key => transaction.put(
                        at.clone(),
                        class.corrected_total(whole, sum_of_versions + 1),
                        unchanged,
                    ),
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

    /// The totals of these keys with their shards, stored or not.
    async fn stored_totals(&self, open: &BTreeSet<Key>) -> Result<BTreeMap<Key, StoredTotal>> {
        let keys = self.operator.keys();
        let parts = |total: &Key| {
            let has_shards = matches!(keys.origin(total), Origin::OpportunityTotal | Origin::LeadTotal);
            let shards = has_shards.then(|| shards(total).collect::<Vec<_>>());
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
    async fn last_number(&self, kind: &Storage) -> Result<u64, StoreError> {
        let Some(number) = kind.sequence else {
            return Ok(0);
        };
        let seen = self.largest_numbers.get(&number).copied().unwrap_or_default();
        Ok(self.last_taken(number).await?.max(seen))
    }

    /// Adds the records with sort keys above `after` and up to `through` to a count. `None` is no limit.
    async fn count_records(
        &mut self,
        kind: &Storage,
        after: Option<&String>,
        through: Option<&String>,
        mut tally: Recount,
    ) -> Result<Recount> {
        let ranges = KeyRange::of_each((kind.partitions)(self.operator.keys()), after, through);
        let mut pages = self.pages_of(ranges);
        while let Some(page) = pages.next().await? {
            self.report_progress(kind.plural);
            for record in page {
                if kind.is_misplaced(&key_of(&record)?, &record).unwrap_or_default() {
                    continue;
                }
                match (kind.derived)(self.operator.keys(), &record) {
                    Ok(derived) => tally.count(&derived),
                    Err(_) => tally.unreadable = true,
                }
            }
        }
        Ok(tally)
    }

    /// Reports that the totals of a kind cannot be compared.
    fn report_uncountable(&mut self, kind: &Storage) {
        let what = format!("totals of {}", kind.plural);
        let reason = format!("cannot be compared, because a {} cannot be read", kind.name);
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
    /// Adds up the items that exist.
    fn of(items: Vec<(Key, Option<Item>)>) -> Self {
        let stored = items.iter().filter_map(|(_, item)| item.clone());
        let whole = stored.reduce(|mut whole, shard| {
            add_shard(&mut whole, shard);
            whole
        });
        Self { whole, items }
    }
}

/// The version of a total; 0 if it does not exist.
fn version(total: Option<&Item>) -> Result<u64, StoreError> {
    total.map_or(Ok(0), |total| item::number("total", total, "v"))
}
