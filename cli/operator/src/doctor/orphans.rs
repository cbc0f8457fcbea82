//! Checks that each derived item has a record that derives it.
//!
//! No record leads to the partition of some orphans, such as a look-up of an unused number, the list of a removed owner
//! or the total of a removed column. So this check scans the whole table. It also finds the partitions of totals, which
//! are compared separately, and checks that each item by which requests find a credential has an entry in the list of
//! credentials.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join;

use super::check::Check;
use super::kind::KindRef;
use super::kinds::{DerivedFrom, origin};
use super::resume::{self, Position};
use super::{Doctor, Result};
use crate::Operator;
use shared::store::unscoped::key;
use table::item::Item;
use table::{Condition, Key, Scanned, Transaction, key_of};

/// Items with records that are read together, in one batch of gets.
const BATCH: usize = 100;

/// The partitions of totals by the name of their kind. Their number grows with columns, not with records.
pub type TotalPartitions = BTreeMap<&'static str, BTreeSet<String>>;

/// A derived item, and the record from which it should be derived.
struct Derivation {
    /// The kind of the record.
    kind: KindRef,
    /// The key of the derived item.
    item: Key,
    /// The keys at which the record may be; none if no record can have such an item.
    records: Vec<Key>,
}

impl Doctor<'_> {
    /// Checks every derived item of the instance, and collects the partitions of totals.
    pub(super) async fn check_orphans(&mut self, after: Option<Key>) -> Result<()> {
        let operator = self.operator;
        let wanted = key::everything(operator.instance());
        let expected = self.diagnosis.checked.values().sum::<u64>();
        self.known.sort();
        let mut page = Some(operator.table().scan(&wanted, after.as_ref()).await?);
        while let Some(Scanned { items, next }) = page {
            self.extent.scan(items.len(), expected);
            self.count_checked("items", items.len());
            // The next page is read while this one is checked.
            let read = async {
                match &next {
                    Some(after) => operator.table().scan(&wanted, Some(after)).await.map(Some),
                    None => Ok(None),
                }
            };
            let (read, checked) = join(read, self.check_scanned(items)).await;
            checked?;
            if let Some(next) = &next {
                self.advance_to(Position::Scan(Some(resume::parts(next))))?;
            }
            page = read?;
        }
        Ok(())
    }

    /// Checks the items of a page: finds derived items that no record derives, checks credentials, and moves or accepts
    /// totals in a former form. Collects the partitions of the other totals, which are compared later.
    async fn check_scanned(&mut self, items: Vec<Item>) -> Result<()> {
        let operator = self.operator;
        let mut derivations = Vec::new();
        for item in items {
            let key = key_of(&item)?;
            if key.pk.starts_with(key::CREDENTIAL_PREFIX) {
                self.check_credential(&key, &item).await?;
                continue;
            }
            match origin(operator.keys(), &key, &item) {
                // The item is not derived.
                None => {}
                Some(DerivedFrom::One(kind, records)) => {
                    if let Some(known) = self.known.find(&key) {
                        // A record that was already checked derives the item, so it is no orphan. Items that are
                        // missing from the scan or have other content stay unmarked; `check_unseen` later checks their
                        // records.
                        known.mark_if_equal(kind.content_digest(&item));
                    } else {
                        let item = key;
                        derivations.push(Derivation { kind, item, records });
                    }
                }
                Some(DerivedFrom::Many(kind)) if operator.keys().is_former_total(&key) => {
                    self.move_or_accept_former_total(kind, &key).await?;
                }
                Some(DerivedFrom::Many(kind)) => {
                    self.total_partitions
                        .entry(kind.name())
                        .or_default()
                        .insert(key.pk);
                }
            }
        }
        for derivations in derivations.chunks(BATCH) {
            self.check_derivations(derivations).await?;
        }
        Ok(())
    }

    /// A repair moves the counts of a total in a former form. A check accepts the form, and the totals of its
    /// kind are not compared, because a class may be counted in both forms.
    async fn move_or_accept_former_total(&mut self, kind: KindRef, key: &Key) -> Result<()> {
        self.count_checked("former totals", 1);
        if !self.repair {
            self.kinds_with_former_totals.insert(kind.name());
            return Ok(());
        }
        self.operator.move_former_total(key).await?;
        self.report(key, "has a former form", true);
        Ok(())
    }

    /// Checks whether the records of these items derive them.
    async fn check_derivations(&mut self, derivations: &[Derivation]) -> Result<()> {
        let operator = self.operator;
        let keys = derivations
            .iter()
            .flat_map(|derivation| derivation.records.clone());
        let found = operator.reads().get_many(keys).await?;
        for Derivation { kind, item, records } in derivations {
            let record = records.iter().find_map(|key| found.get(key));
            // An unreadable record was reported itself, and may derive anything.
            let is_derived = |record| {
                let derived = kind.derived(operator.keys(), record);
                derived.map_or(true, |derived| derived.items.contains_key(item))
            };
            // A difference between a record and this item was reported with the record.
            if !record.is_some_and(is_derived) && !self.is_reported(item) {
                self.recheck(item, item, async |stored| check(operator, item, stored).await)
                    .await?;
            }
        }
        Ok(())
    }
}

/// Compares an item with the record that should derive it. The record is read twice around the comparison. The deletion
/// of an orphan depends on the record being unchanged, or still absent.
async fn check(operator: &Operator, key: &Key, item: &Item) -> Result<Check> {
    let Some(DerivedFrom::One(kind, places)) = origin(operator.keys(), key, item) else {
        return Ok(Check::Fine);
    };
    let mut fix = Transaction::default();
    fix.delete(key.clone(), Condition::Always);
    let Some(first) = places.first() else {
        return Ok(Check::wrong(
            key,
            format!("no {} can have such an item", kind.name()),
            fix,
        ));
    };
    let records = operator.reads().get_many(places.clone()).await?;
    for record in records.values() {
        if kind.derived(operator.keys(), record)?.items.contains_key(key) {
            return Ok(Check::Fine);
        }
    }
    if operator.reads().get_many(places.clone()).await? != records {
        return Ok(Check::Changing);
    }
    let fault = if records.is_empty() {
        "does not exist"
    } else {
        "does not have it"
    };
    let reason = format!("{} {fault}", kind.label(first));
    for at in places {
        let record = records.get(&at).map(|record| kind.unchanged(record));
        fix.check(at, record.unwrap_or(Ok(Condition::Absent))?);
    }
    Ok(Check::wrong(key, reason, fix))
}
