//! Totals: how many records of each class and what their values add up to, compared exactly while records come and go.
//!
//! A total cannot be compared with a count that took a while, and an unchanged total proves nothing, because one record
//! may have come while another went. But every record that enters or leaves a class, or changes what it contributes,
//! raises its total's version by one, in the transaction that writes it. So a class is counted like this:
//!
//! 1. Read the version `v0` of its total, and after it the last number `L` that any record has.
//! 2. Count the records of the class up to `L`, then those behind `L`: `k`.
//! 3. Read the total again: its version `v1`.
//!
//! A record behind `L` was numbered after `v0` was read, so each of the `k` entered the class since, and that raised the
//! version. Where `v1 - v0 = k` nothing else raised it: no record up to `L` came, went or changed its share, none behind
//! `L` left or changed its own, and none entered after they were counted. So at `v1` the class has exactly the records
//! that were counted, with just what they were counted with, and that holds of every number of the total. Where it is more,
//! those behind `L`, which are few, are counted again: an instance in which many call for the first time does not keep the
//! doctor waiting. Where that does not help, all is counted anew.
//!
//! A repair puts the total on condition that its version still is `v1`. Then no share has changed since, so a repair never
//! makes a right total wrong, and it raises the version, so that another doctor's count does not miss it. For the same
//! reason the total of a class that is empty is never deleted: its version would begin anew.
//!
//! Where totals lie no list of columns tells: some may count in columns that are gone. The walk through the table says
//! it, and a total that was not there yet, or is missing, is one of the classes that were counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Doctor;
use super::kind::Kind;
use super::records::is_foreign;
use super::tally::{Class, Tally};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{self, Key};
use crate::store::operator::OperatorError;
use crate::store::operator::export::Pages;
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{CommitError, Condition, Transaction};

/// How often all records are counted anew for classes that keep changing.
const ATTEMPTS: u32 = 4;
/// How often the newest are counted anew in each.
const CATCH_UPS: u32 = 4;

type Classes = BTreeMap<Key, Class>;

impl Doctor<'_> {
    /// Compares the totals of a kind with a first count, and counts exactly where they differ.
    pub(super) async fn totals(
        &mut self,
        kind: &'static Kind,
        mut tally: Tally,
        partitions: &BTreeSet<String>,
    ) -> Result<(), OperatorError> {
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
            let Some(next) = Tally::behind(&tally) else {
                return Ok(());
            };
            tally = next;
            let all = Span::head((kind.records)(self.operator.keys()), PAGE);
            tally = self.count(kind, all, tally).await?;
        }
    }

    /// Totals that are not those of the first count. Beside live writes most of them are right.
    async fn suspects(
        &mut self,
        partitions: &BTreeSet<String>,
        tally: &mut Tally,
    ) -> Result<BTreeSet<Key>, OperatorError> {
        let mut suspects = BTreeSet::new();
        for partition in partitions {
            let mut pages = Pages::new(self.operator, Span::head(partition.clone(), PAGE), Ok);
            while let Some(page) = pages.next().await? {
                self.looked_at("totals", page.len());
                for total in page {
                    let key = key_of(&total)?;
                    let class = tally.classes.remove(&key).unwrap_or_default();
                    if tally.covers(&key) && class.fault(Some(&total)).is_some() {
                        suspects.insert(key);
                    }
                }
            }
        }
        suspects.extend(std::mem::take(&mut tally.classes).into_keys());
        Ok(suspects)
    }

    async fn recount(&mut self, kind: &Kind, mut open: BTreeSet<Key>) -> Result<(), OperatorError> {
        if open.is_empty() {
            return Ok(());
        }
        for attempt in 0..ATTEMPTS {
            let before = self.operator.table().get_many(open.iter().cloned()).await?;
            let last = self.last_number(kind).await?;
            let Some(old) = self.classes(kind, &open, None, Some(last)).await? else {
                self.uncountable(kind);
                return Ok(());
            };
            for _ in 0..CATCH_UPS {
                let Some(new) = self.classes(kind, &open, Some(last), None).await? else {
                    self.uncountable(kind);
                    return Ok(());
                };
                self.judge_all(&mut open, &before, &old, &new).await?;
                if open.is_empty() {
                    return Ok(());
                }
            }
            self.operator.table().pause(attempt).await;
        }
        for key in open {
            let reason = format!(
                "cannot be compared while so many {} change; run again",
                kind.plural
            );
            self.report(key.to_string(), reason, false);
        }
        Ok(())
    }

    /// Judges the totals whose classes were counted exactly, and keeps the others open.
    async fn judge_all(
        &mut self,
        open: &mut BTreeSet<Key>,
        before: &HashMap<Key, Item>,
        old: &Classes,
        new: &Classes,
    ) -> Result<(), OperatorError> {
        let now = self.operator.table().get_many(open.iter().cloned()).await?;
        for key in open.clone() {
            let (Ok(then), Ok(version)) = (version(before.get(&key)), version(now.get(&key))) else {
                self.report(key.to_string(), "has no readable version", false);
                open.remove(&key);
                continue;
            };
            let arrived = new.get(&key).map_or(0, |class| class.members);
            if version.checked_sub(then) == Some(arrived) {
                let mut class = Class::default();
                [old, new]
                    .into_iter()
                    .filter_map(|part| part.get(&key))
                    .for_each(|part| class.join(part));
                if self.judge(&key, &class, now.get(&key), version).await? {
                    open.remove(&key);
                }
            }
        }
        Ok(())
    }

    /// Whether the total is done with; else it changed before it could be repaired.
    async fn judge(
        &mut self,
        key: &Key,
        class: &Class,
        total: Option<&Item>,
        version: u64,
    ) -> Result<bool, OperatorError> {
        let Some(fault) = class.fault(total) else {
            return Ok(true);
        };
        if self.repair {
            let unchanged = Condition::Number {
                name: "v",
                value: version,
            };
            let mut transaction = Transaction::default();
            transaction.put(key.clone(), class.total(total, version + 1), unchanged);
            match self.operator.table().commit(transaction).await {
                Ok(()) => {}
                Err(CommitError::Refused(_)) => return Ok(false),
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        self.report(key.to_string(), fault, self.repair);
        Ok(true)
    }

    /// A number that every later record of the kind is above. The counter says it; where it is too low itself, the
    /// records that were seen do.
    async fn last_number(&self, kind: &Kind) -> Result<u64, StoreError> {
        let (counter, name) = kind.number;
        let key = self.operator.keys().counter(counter);
        let item = self.operator.table().get(&key).await?.unwrap_or_default();
        let seen = self.largest.get(&kind.number).copied().unwrap_or_default();
        Ok(item::number("counter", &item, name)?.max(seen))
    }

    /// Counts the records of some classes, those behind a number and up to a number; `None` where one cannot be read.
    async fn classes(
        &mut self,
        kind: &Kind,
        wanted: &BTreeSet<Key>,
        after: Option<u64>,
        through: Option<u64>,
    ) -> Result<Option<Classes>, OperatorError> {
        let span = Span {
            after: after.map(key::number),
            through: through.map(key::number),
            ..Span::head((kind.records)(self.operator.keys()), PAGE)
        };
        let tally = self.count(kind, span, Tally::of(wanted)).await?;
        Ok((!tally.unreadable).then_some(tally.classes))
    }

    async fn count(&mut self, kind: &Kind, span: Span, mut tally: Tally) -> Result<Tally, OperatorError> {
        let mut pages = Pages::new(self.operator, span, Ok);
        while let Some(page) = pages.next().await? {
            self.look_on(kind.plural, page.len());
            for record in page {
                if is_foreign(kind, &key_of(&record)?, &record).unwrap_or_default() {
                    continue;
                }
                match (kind.derived)(self.operator.keys(), record) {
                    Ok(derived) => tally.count(&derived),
                    Err(_) => tally.unreadable = true,
                }
            }
        }
        Ok(tally)
    }

    fn uncountable(&mut self, kind: &Kind) {
        let what = format!("totals of {}", kind.plural);
        let reason = format!("cannot be compared, because a {} cannot be read", kind.name);
        self.report(what, reason, false);
    }
}

fn version(total: Option<&Item>) -> Result<u64, StoreError> {
    total.map_or(Ok(0), |total| item::number("total", total, "v"))
}
